/** Noise has the stated level below that of speech, and the same seed gives the same packets. */
import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import t from 'tap';
import { measureLevelDb, measurePackets } from '../../../src/voice/activity/index.ts';
import { findPercentile } from '../../../src/platform/percentile.ts';
import { createNoise } from '../../../src/voice/line-impairment/background-noise.ts';
import {
  createLineImpairment,
  type ImpairedPacket,
  type LineConditions,
} from '../../../src/voice/line-impairment/index.ts';
import { createDecoder, silentFrame } from '../../../src/voice/opus/index.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { createSpeechSynthesizer } from '../../../src/voice/speech/index.ts';

const voice = createSpeechSynthesizer({ speaker: 'user' });
t.teardown(() => voice.close());

const LINES = [
  'Where is my order? It should have been here on Monday.',
  'I would like to return my shoes, please.',
  'No, that is the wrong address.',
];

const silence = (frames: number): Buffer[] => Array.from({ length: frames }, () => silentFrame);

/** Sends frames over a line in sections. */
async function impair(
  conditions: LineConditions,
  sections: readonly (readonly Buffer[])[],
  seed = 'test',
): Promise<ImpairedPacket[][]> {
  const line = await createLineImpairment(conditions, seed);
  if (!line) throw new Error('The line is perfect.');
  const packets: ImpairedPacket[][] = [];
  for (const [nth, frames] of sections.entries()) {
    if (nth > 0) line.beginSection();
    packets.push(frames.map((frame) => line.impair(frame)));
    await turnOfEventLoop();
  }
  line.close();
  return packets;
}

/** Returns the level of decoded packets in dB. */
async function measureDb(packets: readonly Buffer[]): Promise<number> {
  const decoder = await createDecoder();
  // The codec adapts during the first frames.
  const parts = packets.map((packet) => decoder.decode(packet)).slice(5);
  decoder.free();
  const samples = Float32Array.from(parts.flatMap((part) => [...(part ?? [])]));
  return measureLevelDb(samples);
}

void t.test('each kind of noise has a mean square of 1', (t) => {
  for (const kind of ['street', 'cafe', 'line_hum'] as const) {
    const nextSample = createNoise(kind, seededRandom('another seed'));
    let sum = 0;
    for (let nth = 0; nth < 480_000; nth += 1) sum += nextSample() ** 2;
    const db = 10 * Math.log10(sum / 480_000);
    t.ok(Math.abs(db) < 0.7, `${kind}: ${db.toFixed(2)} dB`);
  }
  t.end();
});

void t.test('a receiver measures the stated signal-to-noise ratio within 1 dB', async (t) => {
  const clips = await Promise.all(LINES.map((line) => voice.speak(line)));
  // Speech is measured in its louder parts, as its level is set.
  const speechDb = await Promise.all(
    clips.map(async ({ packets }) => {
      const windows = await measurePackets(
        packets.map((payload, nth) => ({ payload, arrivedAtMs: nth * 20 })),
      );
      const levels = windows.flatMap(({ levelDb }) => (levelDb > -70 ? levelDb : []));
      return findPercentile(levels, 75) ?? NaN;
    }),
  );
  for (const kind of ['street', 'cafe', 'line_hum'] as const) {
    for (const snr_db of [5, 15, 30]) {
      const [packets = []] = await impair({ noise: { kind, snr_db } }, [silence(400)]);
      const noiseDb = await measureDb(packets.map(({ payload }) => payload));
      for (const db of speechDb) {
        const ratio = db - noiseDb;
        t.ok(Math.abs(ratio - snr_db) <= 1, `${kind}, ${snr_db} dB: ${ratio.toFixed(2)} dB`);
      }
    }
  }
});

void t.test('noise is added to speech, which keeps its level', async (t) => {
  const { packets } = await voice.speak(LINES[0] ?? '');
  const [before, [noisy = []]] = [
    await measureDb(packets),
    await impair({ noise: { kind: 'cafe', snr_db: 20 } }, [packets]),
  ];
  const after = await measureDb(noisy.map(({ payload }) => payload));
  t.ok(Math.abs(after - before) < 0.6, `${before.toFixed(2)} dB, then ${after.toFixed(2)} dB`);
});

void t.test('the same seed gives the same packets in each section', async (t) => {
  const conditions: LineConditions = {
    noise: { kind: 'street', snr_db: 12 },
    network: { loss_pct: 10, burst: 3, jitter_ms: 60, bandwidth_kbps: 60 },
  };
  const { packets } = await voice.speak(LINES[1] ?? '');
  const first = await impair(conditions, [silence(40), packets, silence(30), packets]);
  // The silences are longer, because the agent took longer to reply.
  const second = await impair(conditions, [silence(55), packets, silence(31), packets]);
  t.same(second[1], first[1]);
  t.same(second[3], first[3]);
  t.same(second[0]?.slice(0, 40), first[0]);
  t.notSame(first[1], first[3], 'two utterances have different noise');
  const [, other] = await impair(conditions, [silence(40), packets], 'another seed');
  t.notSame(other, first[1]);
});

void t.test('a line without noise and with a perfect network changes nothing', async (t) => {
  t.equal(await createLineImpairment({}, 'test'), undefined);
  t.equal(await createLineImpairment({ noise: { kind: 'quiet' } }, 'test'), undefined);
});

void t.test('a packet that is not Opus becomes noise', async (t) => {
  const [packets = []] = await impair({ noise: { kind: 'street', snr_db: 10 } }, [
    [Buffer.alloc(0), Buffer.from([0xff, 0xff]), ...silence(50)],
  ]);
  t.equal(packets.length, 52);
  t.ok(packets.every(({ payload }) => payload.length > 3));
});
