/** The way of the audio is measured to 10 ms, and what is buffered inside the agent is never met. */
import t, { type Test } from 'tap';
import { findOnsets, measurePackets } from '../../src/voice/activity/index.ts';
import { judgeAudioLatency, findResponseLatencies } from '../../src/voice/latency/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createPeer, PathMeter, type PathStatistics } from '../../src/voice/peer/index.ts';
import { withAgent } from '../helpers/agent.ts';
import {
  answerOf,
  clipOf,
  greeted,
  Microphone,
  openLine,
  sdpOf,
  withCall,
} from '../helpers/caller.ts';
import { onQuietMachine } from '../helpers/quiet-machine.ts';
import { withRelay } from '../helpers/relay.ts';
import { until } from '../helpers/until.ts';

const PRECISION_MS = 10;
const PACKETS_HEARD = 120;

/** A reply is audible within these, also where 600 ms of it are held back. */
const PACKETS_OF_REPLY = 60;

// Most of the time is spent waiting for packets.
t.jobs = 3;

/** What is measured of a call whose packets are held on their way. */
async function measured(
  t: Test,
  url: string,
  holdMs: () => number,
  times = 20,
): Promise<PathStatistics> {
  const relay = await withRelay(t, holdMs);
  const meter = new PathMeter(systemClock);
  const peer = createPeer({ clock: systemClock, onPacket: (packet) => meter.hear(packet) });
  const line = await openLine(url);
  t.teardown(async () => {
    line.socket.terminate();
    await peer.close();
  });
  line.send({ type: 'start_call' });
  const ready = await line.next('call_ready');
  const answer = await peer.createAnswer(relay.offer(sdpOf(ready)));
  line.send(answerOf(ready, relay.answer(answer)));
  await peer.waitUntilConnected(AbortSignal.timeout(10_000));
  await meter.measureRoundTrips(peer, AbortSignal.timeout(20_000), {
    intervalMs: 25,
    count: times,
  });
  await until('enough packets', () => meter.statistics().stream.packets >= PACKETS_HEARD);
  t.ok(relay.passed() > PACKETS_HEARD, 'the relay was on the way');
  return meter.statistics();
}

const isNear = (ms: number | undefined, expected: number): boolean =>
  Math.abs((ms ?? NaN) - expected) <= PRECISION_MS;

void t.test(
  'packets that are held 40 or 90 ms each way: the path is that much longer',
  { buffered: true },
  async (t) => {
    const { agent } = await withAgent(t);
    const url = agent.voiceUrl ?? '';
    await onQuietMachine(t, 'path', async () => {
      const holds = [0, 40, 90];
      const calls = await Promise.all(holds.map((ms) => measured(t, url, () => ms)));
      const [near = NaN, ...far] = calls.map(({ latencyMs }) => latencyMs ?? NaN);
      const isRight = far.every((ms, nth) => isNear(ms - near, holds[nth + 1] ?? NaN));
      t.ok(calls.every(({ packetMs }) => packetMs === 20));
      return [isRight, [near, ...far].map((ms) => ms.toFixed(1)).join(', ')];
    });
  },
);

void t.test(
  'one packet in ten that is held 70 ms: the path is a buffer of 70 ms longer',
  { buffered: true },
  async (t) => {
    const { agent } = await withAgent(t);
    await onQuietMachine(t, 'buffer', async () => {
      let nth = 0;
      const held = () => ((nth += 1) % 10 === 0 ? 70 : 0);
      const { transitP99Ms } = await measured(t, agent.voiceUrl ?? '', held);
      return [isNear(transitP99Ms, 70), String(transitP99Ms?.toFixed(1))];
    });
  },
);

void t.test('a path of 200 ms and more is missed', { buffered: true }, async (t) => {
  const { agent } = await withAgent(t);
  const { latencyMs: pathMs } = await measured(t, agent.voiceUrl ?? '', () => 200, 4);
  t.match(judgeAudioLatency({ pathMs, turnResponsesMs: [] }), { verdict: 'missed' });
});

/** Two turns of a call to an agent with a fault, and the verdict on it. */
async function judged(t: Test, fault?: string) {
  const { agent } = await withAgent(t);
  const headers = fault === undefined ? {} : { 'x-sandbox-kit-fault': fault };
  const meter = new PathMeter(systemClock);
  const call = await withCall(t, agent.voiceUrl ?? '', {}, { headers });
  const microphone = new Microphone(call.peer);
  t.teardown(() => microphone.stop());
  const asking = meter.measureRoundTrips(call.peer, AbortSignal.timeout(20_000), {
    intervalMs: 25,
    count: 10,
  });
  await greeted(call);
  const turns = [];
  for (const id of ['where-is-my-order', 'opening-hours']) {
    const clip = await clipOf(id);
    const endMs = await microphone.say(clip);
    turns.push({ startMs: endMs - (clip.speechEndTicks - clip.speechStartTicks) / 48, endMs });
    const from = call.heard.length;
    const updates = () => call.messages.filter(({ type }) => type === 'conversation_update').length;
    await until('an update', () => updates() === turns.length);
    await until('the reply', () => call.heard.length > from + PACKETS_OF_REPLY);
  }
  await asking;
  for (const packet of call.heard) meter.hear(packet);
  const onsets = findOnsets(await measurePackets(call.heard));
  const turnResponsesMs = findResponseLatencies(turns, onsets).filter((ms) => ms !== undefined);
  t.equal(turnResponsesMs.length, turns.length);
  const pathMs = meter.statistics().latencyMs;
  return { ...judgeAudioLatency({ pathMs, turnResponsesMs }), pathMs, turnResponsesMs };
}

void t.test(
  '600 ms that are buffered inside an agent show in its turns, and are not met',
  { buffered: true },
  async (t) => {
    const { verdict, reason, pathMs, turnResponsesMs } = await judged(t, 'buffered_audio');
    t.ok(
      turnResponsesMs.every((ms) => ms >= 600),
      turnResponsesMs.join(', '),
    );
    t.ok((pathMs ?? NaN) < 200, `path ${pathMs}`);
    t.equal(verdict, 'not_proven', reason);
    t.match(reason, /for how long the agent holds sound back before it sends it is not seen/);
  },
);

void t.test('an agent that answers at once is met by its turns', { buffered: true }, async (t) => {
  await onQuietMachine(t, 'verdict', async () => {
    const { verdict, reason } = await judged(t);
    return [verdict === 'met', reason];
  });
});
