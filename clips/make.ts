/**
 * Makes the clips anew: `node clips/make.ts`. Needs espeak-ng and ffmpeg, which nobody else does.
 *
 * Every utterance is spoken without a pause, so that nobody who listens takes a comma for the end.
 * Where speech begins and ends is read from what the packets decode to, not guessed by a detector.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDecoder, levelDb, readOgg } from '../src/voice/opus/index.ts';

const texts = {
  user: {
    'where-is-my-order': 'Hello where is my order please',
    'return-shoes': 'I would like to return a pair of shoes',
    'cancel-order': 'Can you cancel my last order for me',
    'opening-hours': 'When are you open on the weekend',
    'thank-you': 'Thank you that is all I wanted to know',
  },
  agent: {
    'how-can-i-help': 'Hello how can I help you today',
    'order-is-shipped': 'Your order has shipped and will arrive tomorrow',
    'return-is-easy': 'You can return them to us within thirty days',
    'order-is-cancelled': 'I have cancelled your order for you',
    'let-me-look': 'One moment while I look that up for you',
    goodbye: 'You are welcome have a lovely day',
  },
};
const voices = { user: 'en-us', agent: 'en-gb' };

/** Below this a window of 10 ms is silence. */
const silenceDb = -50;
const windowTicks = 480;

/** Longer silence inside an utterance might be taken for its end. */
const pauseMsMax = 100;

const folder = new URL('.', import.meta.url).pathname;
const work = mkdtempSync(join(tmpdir(), 'clips-'));
const facts = [];
for (const speaker of ['user', 'agent'] as const) {
  for (const [id, text] of Object.entries(texts[speaker])) {
    const wav = join(work, `${id}.wav`);
    const file = join(folder, `${id}.opus`);
    execFileSync('espeak-ng', ['-v', voices[speaker], '-s', '170', '-w', wav, text]);
    // A frame of silence before and three behind, so that the codec has settled.
    const filter =
      'silenceremove=start_periods=1:start_threshold=-55dB,areverse,' +
      'silenceremove=start_periods=1:start_threshold=-55dB,areverse,adelay=20,apad=pad_dur=0.06';
    const encode = '-ar 48000 -ac 1 -c:a libopus -b:a 24k -frame_duration 20 -application voip';
    const quiet = ['-loglevel', 'error', '-y', '-bitexact'];
    execFileSync('ffmpeg', [...quiet, '-i', wav, '-af', filter, ...encode.split(' '), file]);
    facts.push({ id, speaker, text, ...(await speechOf(file)) });
  }
}
rmSync(work, { recursive: true });
writeFileSync(join(folder, 'clips.json'), `${JSON.stringify(facts, null, 2)}\n`);

async function speechOf(file: string) {
  const decoder = await createDecoder();
  const loud: number[] = [];
  let ticks = 0;
  for (const packet of readOgg(readFileSync(file))) {
    const samples = decoder.decode(packet);
    if (!samples) throw new Error(`${file} does not decode`);
    for (let at = 0; at < samples.length; at += windowTicks) {
      if (levelDb(samples, at, at + windowTicks) > silenceDb) loud.push(ticks + at);
    }
    ticks += samples.length;
  }
  decoder.free();
  const pauses = loud.slice(1).map((at, index) => (at - (loud[index] ?? at)) / 48);
  const pauseMs = Math.max(...pauses) - 10;
  if (pauseMs > pauseMsMax) throw new Error(`${file} pauses for ${pauseMs} ms`);
  return {
    speechStartTicks: loud[0] ?? 0,
    speechEndTicks: (loud.at(-1) ?? 0) + windowTicks,
  };
}
