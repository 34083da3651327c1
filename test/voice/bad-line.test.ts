/** A caller's packets over a bad line, measured at the receiver: the line changes what it says. */
import t, { type Test } from 'tap';
import { createPacer } from '../../src/platform/pacer.ts';
import { findPercentile } from '../../src/platform/percentile.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { measurePackets } from '../../src/voice/activity/index.ts';
import { Microphone } from '../../src/voice/call/index.ts';
import { ReceivedStream } from '../../src/voice/latency/index.ts';
import {
  createLineImpairment,
  type ImpairedPacket,
  type LineConditions,
} from '../../src/voice/line-impairment/index.ts';
import { silentFrame } from '../../src/voice/opus/index.ts';
import { createPeer, type AudioPacket, type Peer } from '../../src/voice/peer/index.ts';
import { createSpeechSynthesizer } from '../../src/voice/speech/index.ts';
import { CONNECT_MS_MAX, loadClip } from '../support/calls/caller.ts';
import { nightOnly } from '../support/nightly.ts';
import { until } from '../support/until.ts';

t.jobs = 3;

/** Connects two peers. Returns that of the caller, and the packets that the other one receives. */
async function connectPeers(t: Test): Promise<{ peer: Peer; received: AudioPacket[] }> {
  const received: AudioPacket[] = [];
  const onPacket = (packet: AudioPacket): void => void received.push(packet);
  const agent = createPeer({ clock: systemClock, onPacket });
  const peer = createPeer({ clock: systemClock });
  t.teardown(() => Promise.all([agent.close(), peer.close()]));
  await agent.acceptAnswer(await peer.createAnswer(await agent.createOffer()));
  const signal = AbortSignal.timeout(CONNECT_MS_MAX);
  await Promise.all([agent.waitUntilConnected(signal), peer.waitUntilConnected(signal)]);
  return { peer, received };
}

/** Sends frames of silence over a line, until the receiver has one with this number or a later one. */
async function sendSilence(t: Test, conditions: LineConditions, frames: number) {
  const { peer, received } = await connectPeers(t);
  const impairment = await createLineImpairment(conditions, 'test');
  const sent: Buffer[] = [];
  const microphone = new Microphone({
    peer,
    clock: systemClock,
    pacer: createPacer(systemClock),
    impairment,
    onSent: (payload) => void sent.push(payload),
  });
  t.teardown(() => microphone.stop());
  await until('enough packets', () => received.some(({ sequence }) => sequence > frames));
  microphone.stop();
  return { received, sent };
}

/** Returns what a line does to frames of silence, without sending them. */
async function predict(conditions: LineConditions, frames: number): Promise<ImpairedPacket[]> {
  const line = await createLineImpairment(conditions, 'test');
  const packets = Array.from({ length: frames }, () => line?.impair(silentFrame));
  line?.close();
  return packets.flatMap((packet) => packet ?? []);
}

void t.test('the packets that the model loses do not arrive, and all others do', async (t) => {
  const conditions: LineConditions = {
    noise: { kind: 'street', snr_db: 15 },
    network: { loss_pct: 20, burst: 3 },
  };
  const frames = 200;
  const { received, sent } = await sendSilence(t, conditions, frames);
  const predicted = await predict(conditions, frames);
  t.same(
    sent.slice(0, frames),
    predicted.map(({ payload }) => payload),
  );
  const expected = predicted.flatMap(({ payload, delivery }, nth) =>
    'delayMs' in delivery ? { sequence: nth + 1, payload } : [],
  );
  t.ok(expected.length < frames * 0.95, `${expected.length} of ${frames} arrive`);
  t.same(
    received
      .filter(({ sequence }) => sequence <= frames)
      .map(({ sequence, payload }) => ({ sequence, payload })),
    expected,
  );
  t.ok(received.every(({ sequence, timestamp }) => timestamp === (sequence - 1) * 960));
});

/** How many packets are missing, and the mean length of a row of missing packets. */
function countLost(received: readonly AudioPacket[], frames: number) {
  const arrived = new Set(received.map(({ sequence }) => sequence));
  const isLost = Array.from({ length: frames }, (_, nth) => !arrived.has(nth + 1));
  const lost = isLost.filter(Boolean).length;
  const bursts = isLost.filter((value, nth) => value && !isLost[nth - 1]).length;
  return { share: lost / frames, bursts, meanBurst: lost / bursts };
}

void t.test('a receiver misses the stated share of packets, in bursts', nightOnly(), async (t) => {
  const frames = 3_000;
  const rows: [lossPct: number, burst: number | undefined][] = [
    [1, undefined],
    [5, undefined],
    [6, 6],
    [10, 2],
    [20, 3],
    [30, 5],
  ];
  const measure = async ([loss_pct, burst]: (typeof rows)[number]): Promise<void> => {
    const network = { loss_pct, ...(burst !== undefined && { burst }) };
    const { received } = await sendSilence(t, { network }, frames);
    const { share, bursts, meanBurst } = countLost(received, frames);
    const stated = loss_pct / 100;
    const statedBurst = burst ?? 1 / (1 - stated);
    // Losses in a burst are not independent, so the share varies more.
    const deviation = Math.sqrt((stated * (1 - stated) * 2 * statedBurst) / frames);
    const lost = `${loss_pct}% lost: ${(share * 100).toFixed(2)}%`;
    t.comment(`${lost}; in a row ${statedBurst.toFixed(2)}: ${meanBurst.toFixed(2)}`);
    t.ok(Math.abs(share - stated) < 4 * deviation, lost);
    t.ok(Math.abs(meanBurst - statedBurst) < (4 * statedBurst) / Math.sqrt(bursts), 'in a row');
  };
  await Promise.all(rows.map(measure));
});

void t.test('a receiver measures the stated signal-to-noise ratio', nightOnly(), async (t) => {
  const voice = createSpeechSynthesizer({ speaker: 'user' });
  t.teardown(() => voice.close());
  const { peer, received } = await connectPeers(t);
  const speaking = { peer, clock: systemClock, pacer: createPacer(systemClock) };
  const microphone = new Microphone(speaking);
  t.teardown(() => microphone.stop());
  await microphone.say(await voice.speak('Where is my order? It should be here by now.'));
  const levelsOf = async (packets: readonly AudioPacket[]): Promise<number[]> =>
    (await measurePackets(packets)).map(({ levelDb }) => levelDb);
  // The level of speech is that of its louder parts.
  const spoken = (await levelsOf(received)).filter((levelDb) => levelDb > -70);
  const speechDb = findPercentile(spoken, 75) ?? NaN;
  for (const kind of ['street', 'cafe', 'line_hum'] as const) {
    const measure = async (snr_db: number): Promise<void> => {
      const noisy = await sendSilence(t, { noise: { kind, snr_db } }, 500);
      // The codec adapts during the first frames.
      const levels = (await levelsOf(noisy.received)).slice(10);
      const power = levels.reduce((sum, levelDb) => sum + 10 ** (levelDb / 10), 0) / levels.length;
      const ratio = speechDb - 10 * Math.log10(power);
      t.comment(`${kind}, ${snr_db} dB: ${ratio.toFixed(2)} dB`);
      t.ok(Math.abs(ratio - snr_db) <= 1, `${kind}, ${snr_db} dB: ${ratio.toFixed(2)} dB`);
    };
    await Promise.all([5, 10, 20, 30].map(measure));
  }
});

void t.test('jitter delays packets, which overtake each other', nightOnly(), async (t) => {
  const { received } = await sendSilence(t, { network: { jitter_ms: 120 } }, 150);
  const stream = new ReceivedStream();
  for (const packet of received) stream.add(packet);
  const { reordered, transitP99Ms = 0 } = stream.statistics();
  t.ok(reordered > 20, `${reordered} of ${received.length} packets came late`);
  t.ok(transitP99Ms > 80, `the slowest percent is ${transitP99Ms.toFixed(0)} ms late`);
});

void t.test('packets wait for the bandwidth', nightOnly(), async (t) => {
  // Frames of silence need 23.6 kbit/s with their headers.
  const conditions: LineConditions = { network: { bandwidth_kbps: 16 } };
  const { received } = await sendSilence(t, conditions, 150);
  const [first, last] = [received[0], received.at(-1)];
  const ms = (last?.arrivedAtMs ?? 0) - (first?.arrivedAtMs ?? 0);
  const bits = (received.length - 1) * (silentFrame.length + 56) * 8;
  t.ok(bits / ms <= 16 * 1.05, `${(bits / ms).toFixed(1)} kbit/s`);
  t.ok(received.length < 150 * 0.9, `${received.length} of 150 packets arrive`);
});

void t.test(
  'speech over a bad line keeps its times, and the call ends cleanly',
  nightOnly(),
  async (t) => {
    const { peer, received } = await connectPeers(t);
    const impairment = await createLineImpairment({ noise: { kind: 'cafe', snr_db: 20 } }, 'test');
    const pacer = createPacer(systemClock);
    const microphone = new Microphone({ peer, clock: systemClock, pacer, impairment });
    const clip = await loadClip('thank-you');
    const span = await microphone.say(clip);
    const speechMs = (clip.speechEndTicks - clip.speechStartTicks) / 48;
    const spokenMs = (span?.endMs ?? 0) - (span?.startMs ?? 0);
    t.ok(spokenMs > speechMs - 60, `${spokenMs.toFixed(0)} ms of ${speechMs.toFixed(0)} ms`);
    t.ok(received.length > clip.packets.length * 0.8);
    t.ok(
      received.every(({ payload }) => payload.length > 3),
      'the silence has noise as well',
    );
    const unfinished = microphone.say(clip);
    microphone.stop();
    microphone.stop();
    t.equal(await unfinished, undefined);
  },
);
