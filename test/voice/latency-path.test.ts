/** The network path latency is measured to 10 ms, and an agent that buffers audio never meets the target. */
import t, { type Test } from 'tap';
import { findOnsets, measurePackets } from '../../src/voice/activity/index.ts';
import { judgeAudioLatency, findResponseLatencies } from '../../src/voice/latency/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createPeer, PathMeter, type PathStatistics } from '../../src/voice/peer/index.ts';
import { withAgent } from '../helpers/agent.ts';
import {
  createAnswer,
  loadClip,
  waitForGreeting,
  startMicrophone,
  openSignaling,
  readOfferSdp,
  withCall,
} from '../helpers/caller.ts';
import { onQuietMachine } from '../helpers/quiet-machine.ts';
import { withRelay } from '../helpers/relay.ts';
import { until } from '../helpers/until.ts';

const PRECISION_MS = 10;
const PACKETS_MIN = 120;

/** A reply becomes audible within this many packets, even when 600 ms of audio are buffered. */
const PACKETS_OF_REPLY = 60;

const BUFFERING_IS_HIDDEN = /how long the agent buffers audio before it sends it can't be measured/;

// A measurement that a busy machine spoiled is repeated, which takes longer than the default timeout.
// The tests mostly wait for packets, so they run in parallel.
t.jobs = 3;

/** Measures the path of a call whose packets a relay delays by `delayMs` in each direction. */
async function measurePath(
  t: Test,
  url: string,
  delayMs: () => number,
  roundTrips = 20,
): Promise<PathStatistics> {
  const relay = await withRelay(t, delayMs);
  const meter = new PathMeter(systemClock);
  const peer = createPeer({ clock: systemClock, onPacket: (packet) => meter.addPacket(packet) });
  const signaling = await openSignaling(url);
  t.teardown(async () => {
    signaling.socket.terminate();
    await peer.close();
  });
  signaling.send({ type: 'start_call' });
  const ready = await signaling.next('call_ready');
  const answer = await peer.createAnswer(relay.rewriteOffer(readOfferSdp(ready)));
  signaling.send(createAnswer(ready, relay.rewriteAnswer(answer)));
  await peer.waitUntilConnected(AbortSignal.timeout(10_000));
  const timeout = AbortSignal.timeout(20_000);
  await meter.measureRoundTrips(peer, timeout, { intervalMs: 25, count: roundTrips });
  await until('enough packets', () => meter.statistics().stream.packets >= PACKETS_MIN);
  t.ok(relay.countPackets() > PACKETS_MIN, 'the packets went through the relay');
  return meter.statistics();
}

const isNear = (ms: number | undefined, expected: number): boolean =>
  Math.abs((ms ?? NaN) - expected) <= PRECISION_MS;

void t.test(
  'a delay of 40 or 90 ms in each direction adds as much to the path latency',
  { buffered: true },
  async (t) => {
    const { agent } = await withAgent(t);
    const url = agent.voiceUrl ?? '';
    await onQuietMachine(t, 'path', async () => {
      const delays = [0, 40, 90];
      const calls = await Promise.all(delays.map((ms) => measurePath(t, url, () => ms)));
      const [near = NaN, ...far] = calls.map(({ latencyMs }) => latencyMs ?? NaN);
      const isRight = far.every((ms, nth) => isNear(ms - near, delays[nth + 1] ?? NaN));
      t.ok(calls.every(({ packetMs }) => packetMs === 20));
      return [isRight, [near, ...far].map((ms) => ms.toFixed(1)).join(', ')];
    });
  },
);

void t.test(
  'delaying one packet in ten by 70 ms adds a jitter buffer of 70 ms',
  { buffered: true },
  async (t) => {
    const { agent } = await withAgent(t);
    await onQuietMachine(t, 'jitter buffer', async () => {
      let nth = 0;
      const delayMs = () => ((nth += 1) % 10 === 0 ? 70 : 0);
      const { transitP99Ms } = await measurePath(t, agent.voiceUrl ?? '', delayMs);
      return [isNear(transitP99Ms, 70), String(transitP99Ms?.toFixed(1))];
    });
  },
);

void t.test('a path latency of 200 ms or more misses the target', { buffered: true }, async (t) => {
  const { agent } = await withAgent(t);
  await onQuietMachine(t, 'verdict', async () => {
    const { latencyMs: pathMs } = await measurePath(t, agent.voiceUrl ?? '', () => 200, 4);
    const { verdict, reason } = judgeAudioLatency({ pathMs, turnResponsesMs: [] });
    return [verdict === 'missed', reason];
  });
});

/** Places a call of two turns to an agent with a fault, and judges its latency. */
async function judgeCall(t: Test, fault?: string) {
  const { agent } = await withAgent(t);
  const headers = fault === undefined ? {} : { 'x-sandbox-kit-fault': fault };
  const meter = new PathMeter(systemClock);
  const call = await withCall(t, agent.voiceUrl ?? '', {}, { headers });
  const microphone = startMicrophone(t, call.peer);
  const timeout = AbortSignal.timeout(20_000);
  const roundTrips = meter.measureRoundTrips(call.peer, timeout, { intervalMs: 25, count: 10 });
  await waitForGreeting(call);
  const turns = [];
  for (const id of ['where-is-my-order', 'opening-hours']) {
    const clip = await loadClip(id);
    const endMs = await microphone.say(clip);
    turns.push({ startMs: endMs - (clip.speechEndTicks - clip.speechStartTicks) / 48, endMs });
    const from = call.received.length;
    const updates = () => call.messages.filter(({ type }) => type === 'conversation_update').length;
    await until('an update', () => updates() === turns.length);
    await until('the reply', () => call.received.length > from + PACKETS_OF_REPLY);
  }
  await roundTrips;
  for (const packet of call.received) meter.addPacket(packet);
  const onsets = findOnsets(await measurePackets(call.received));
  const turnResponsesMs = findResponseLatencies(turns, onsets).filter((ms) => ms !== undefined);
  const pathMs = meter.statistics().latencyMs;
  const hasAllTurns = turnResponsesMs.length === turns.length;
  return {
    ...judgeAudioLatency({ pathMs, turnResponsesMs }),
    pathMs: pathMs ?? NaN,
    turnResponsesMs,
    hasAllTurns,
  };
}

void t.test(
  'an agent that buffers 600 ms of audio replies late, and does not meet the target',
  { buffered: true },
  async (t) => {
    await onQuietMachine(t, 'verdict', async () => {
      const call = await judgeCall(t, 'buffered_audio');
      const { verdict, reason, pathMs, turnResponsesMs, hasAllTurns } = call;
      const isLate = hasAllTurns && turnResponsesMs.every((ms) => ms >= 600);
      const isRight =
        isLate && pathMs < 200 && verdict === 'not_proven' && BUFFERING_IS_HIDDEN.test(reason);
      return [
        isRight,
        `${verdict}, path ${pathMs}, turns ${turnResponsesMs.join(', ')}: ${reason}`,
      ];
    });
  },
);

void t.test('an agent that replies promptly meets the target', { buffered: true }, async (t) => {
  await onQuietMachine(t, 'verdict', async () => {
    const { verdict, reason, hasAllTurns } = await judgeCall(t);
    return [verdict === 'met' && hasAllTurns, reason];
  });
});
