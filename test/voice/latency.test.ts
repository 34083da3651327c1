/**
 * The latency of a call: what the caller and the agent measure, and the verdict.
 * `test/nightly/voice-latency.test.ts` measures more.
 */
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { findOnsets, measurePackets } from '../../src/voice/activity/index.ts';
import { findResponseLatencies, judgeAudioLatency } from '../../src/voice/latency/index.ts';
import { PathMeter } from '../../src/voice/peer/index.ts';
import { loadClip, startMicrophone, waitForGreeting, withCall } from '../support/calls/caller.ts';
import { onQuietMachine } from '../support/measurements/quiet-machine.ts';
import {
  assertPathLatency,
  assertResponseLatency,
  measurePath,
} from '../support/measurements/voice-latency.ts';
import { atNight } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

const SPOKEN_CLIPS = atNight(['where-is-my-order', 'opening-hours'], ['where-is-my-order']);

/** A reply becomes audible within this many packets, even when 600 ms of audio are buffered. */
const PACKETS_OF_REPLY = 60;

const BUFFERING_IS_HIDDEN = /how long the agent buffers audio before it sends it can't be measured/;

// The tests mostly wait for packets, so they run in parallel, but not next to tests of other files.
void t.test('the latency of a call', { jobs: 5, buffered: false }, async (t) => {
  await Promise.all([
    t.test('a delay on the path adds as much to the path latency', (t) =>
      assertPathLatency(t, [90], { packets: 60, roundTrips: 10 }),
    ),
    t.test('a path latency of 200 ms or more misses the target', async (t) => {
      const { agent } = await withReferenceAgent(t);
      await onQuietMachine(t, 'verdict', async () => {
        const options = { packets: 60, roundTrips: 4 };
        const { latencyMs } = await measurePath(t, agent.voiceUrl ?? '', () => 200, options);
        const { verdict, reason } = judgeAudioLatency({ pathMs: latencyMs, turnResponsesMs: [] });
        return [verdict === 'missed', reason];
      });
    }),
    t.test(
      'an agent that buffers 600 ms of audio replies late, and does not meet the target',
      (t) =>
        onQuietMachine(t, 'verdict', async () => {
          const { verdict, reason, pathMs, turnResponsesMs } = await judgeCall(t, 'buffered_audio');
          const figures = `${verdict}, path ${pathMs}, turns ${turnResponsesMs.join(', ')}: ${reason}`;
          t.ok(verdict !== 'met' && turnResponsesMs.every((ms) => ms >= 600), figures);
          const isExpected = verdict === 'not_proven' && BUFFERING_IS_HIDDEN.test(reason);
          return [isExpected && pathMs < 200 && turnResponsesMs.length > 0, figures];
        }),
    ),
    t.test('an agent that replies promptly meets the target', (t) =>
      onQuietMachine(t, 'verdict', async () => {
        const { verdict, reason, turnResponsesMs } = await judgeCall(t);
        return [verdict === 'met' && turnResponsesMs.length === SPOKEN_CLIPS.length, reason];
      }),
    ),
    t.test('the caller and the agent measure the same response latency', (t) =>
      assertResponseLatency(t, [100], 3),
    ),
  ]);
});

/** Places a call to an agent with a fault, and judges its latency. */
async function judgeCall(t: Test, fault?: string) {
  const { agent } = await withReferenceAgent(t);
  const headers = fault === undefined ? {} : { 'x-sandbox-kit-fault': fault };
  const meter = new PathMeter(systemClock);
  const call = await withCall(t, agent.voiceUrl ?? '', {}, { headers });
  const microphone = startMicrophone(t, call.peer);
  const timeout = AbortSignal.timeout(20_000);
  const roundTrips = meter.measureRoundTrips(call.peer, timeout, { intervalMs: 25, count: 10 });
  await waitForGreeting(call);
  const turns = [];
  for (const id of SPOKEN_CLIPS) {
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
  return {
    ...judgeAudioLatency({ pathMs, turnResponsesMs }),
    pathMs: pathMs ?? NaN,
    turnResponsesMs,
  };
}
