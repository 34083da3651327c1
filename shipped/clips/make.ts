/**
 * Recreates the recorded clips: `node clips/make.ts`. Needs espeak-ng and ffmpeg, which nothing else in
 * the project needs.
 *
 * Each utterance is spoken without a pause, so that no listener takes a comma for the end of the turn.
 * The start and end of speech are measured on the decoded packets.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measurePackets, SPEECH_LEVEL_DB } from '../../src/voice/activity/index.ts';
import { readOgg, FRAME_MS, TICKS_PER_MS } from '../../src/voice/opus/index.ts';

const texts = {
  user: {
    'where-is-my-order': 'Hello where is my order please',
    'return-shoes': 'I would like to return a pair of shoes',
    'cancel-order': 'Can you cancel my last order for me',
    'opening-hours': 'When are you open on the weekend',
    'open-now': 'Are you open now',
    'thank-you': 'Thank you that is all I wanted to know',
  },
  agent: {
    'how-can-i-help': 'Hello how can I help you today',
    'order-is-shipped': 'Your order has shipped and will arrive tomorrow',
    'return-is-easy': 'You can return them to us within thirty days',
    'order-is-canceled': 'I have canceled your order for you',
    'let-me-look': 'One moment while I look that up for you',
    'yes-we-are': 'Yes we are',
    goodbye: 'You are welcome have a lovely day',
  },
};
const VOICES = { user: 'en-us', agent: 'en-gb' };

/** Longer silence inside an utterance might be taken for its end. */
const PAUSE_MS_MAX = 100;

const FOLDER = new URL('.', import.meta.url).pathname;
const WORK = mkdtempSync(join(tmpdir(), 'clips-'));
const facts = [];
for (const speaker of ['user', 'agent'] as const) {
  for (const [id, text] of Object.entries(texts[speaker])) {
    const wav = join(WORK, `${id}.wav`);
    const file = join(FOLDER, `${id}.opus`);
    execFileSync('espeak-ng', ['-v', VOICES[speaker], '-s', '170', '-w', wav, text]);
    // One frame of silence before and three after, so that the codec settles.
    const filter =
      'silenceremove=start_periods=1:start_threshold=-55dB,areverse,' +
      'silenceremove=start_periods=1:start_threshold=-55dB,areverse,adelay=20,apad=pad_dur=0.06';
    const encode = '-ar 48000 -ac 1 -c:a libopus -b:a 24k -frame_duration 20 -application voip';
    const quiet = ['-loglevel', 'error', '-y', '-bitexact'];
    execFileSync('ffmpeg', [...quiet, '-i', wav, '-af', filter, ...encode.split(' '), file]);
    facts.push({ id, speaker, text, ...(await findSpeech(file)) });
  }
}
rmSync(WORK, { recursive: true });
writeFileSync(join(FOLDER, 'clips.json'), `${JSON.stringify(facts, null, 2)}\n`);

async function findSpeech(file: string) {
  const packets = readOgg(readFileSync(file)).map((payload, nth) => ({
    payload,
    arrivedAtMs: nth * FRAME_MS,
  }));
  const speech = (await measurePackets(packets)).filter(({ levelDb }) => levelDb > SPEECH_LEVEL_DB);
  const pauses = speech.slice(1).map(({ atMs }, nth) => {
    const before = speech[nth];
    return before ? atMs - before.atMs - before.ms : 0;
  });
  const pauseMs = Math.max(...pauses);
  if (pauseMs > PAUSE_MS_MAX) throw new Error(`${file} contains a pause of ${pauseMs} ms`);
  const [first, last] = [speech[0], speech.at(-1)];
  if (!first || !last) throw new Error(`${file} contains no speech`);
  return {
    speechStartTicks: first.atMs * TICKS_PER_MS,
    speechEndTicks: (last.atMs + last.ms) * TICKS_PER_MS,
  };
}
