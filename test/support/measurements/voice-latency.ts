/** Measurements of a voice call: how long its packets take, and how long the agent takes to reply. */
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import { FRAME_TICKS, type Clip } from '../../../src/voice/opus/index.ts';
import { createPeer, PathMeter, type PathStatistics } from '../../../src/voice/peer/index.ts';
import {
  CONNECT_MS_MAX,
  createAnswer,
  fetchCalls,
  findCallOnsets,
  loadClip,
  openSignaling,
  readOfferSdp,
  startMicrophone,
  waitForGreeting,
  withCall,
} from '../calls/caller.ts';
import { withRelay } from '../calls/relay.ts';
import { onQuietMachine } from './quiet-machine.ts';
import { withReferenceAgent } from '../sandboxes/reference-agent.ts';
import { until } from '../until.ts';

const PRECISION_MS = 10;
const DELAY_PRECISION_MS = 25;

/** The size of a measurement: the more of it, the more precise. */
interface PathOptions {
  packets: number;
  roundTrips: number;
}

/** Measures the path of a call whose packets a relay delays by `delayMs` in each direction. */
export async function measurePath(
  t: Test,
  url: string,
  delayMs: () => number,
  { packets, roundTrips }: PathOptions,
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
  await peer.waitUntilConnected(AbortSignal.timeout(CONNECT_MS_MAX));
  const timeout = AbortSignal.timeout(20_000);
  await meter.measureRoundTrips(peer, timeout, { intervalMs: 25, count: roundTrips });
  await until('enough packets', () => meter.statistics().stream.packets >= packets);
  t.ok(relay.countPackets() > packets, 'the packets went through the relay');
  return meter.statistics();
}

const isNear = (ms: number | undefined, expected: number): boolean =>
  Math.abs((ms ?? NaN) - expected) <= PRECISION_MS;

/**
 * Asserts that each of these delays in both directions adds as much to the path latency, and that
 * delaying one packet in ten by 70 ms adds a jitter buffer of 70 ms.
 */
export async function assertPathLatency(
  t: Test,
  delaysMs: readonly number[],
  options: PathOptions,
): Promise<void> {
  const { agent } = await withReferenceAgent(t);
  const url = agent.voiceUrl ?? '';
  let nth = 0;
  const delayOneInTen = (): number => ((nth += 1) % 10 === 0 ? 70 : 0);
  await onQuietMachine(t, 'path', async () => {
    const [direct, jittery, ...delayed] = await Promise.all([
      measurePath(t, url, () => 0, options),
      measurePath(t, url, delayOneInTen, options),
      ...delaysMs.map((ms) => measurePath(t, url, () => ms, options)),
    ]);
    for (const { packetMs } of [direct, ...delayed]) t.equal(packetMs, 20);
    const addedMs = delayed.map(({ latencyMs = NaN }) => latencyMs - (direct.latencyMs ?? NaN));
    const isRight =
      isNear(jittery.transitP99Ms, 70) &&
      addedMs.every((ms, at) => isNear(ms, delaysMs[at] ?? NaN));
    const figures = [...addedMs, jittery.transitP99Ms ?? NaN].map((ms) => ms.toFixed(1));
    return [isRight, figures.join(', ')];
  });
}

/**
 * Returns the first 800 ms of a clip, so that many turns take little time. A turn begins while the
 * agent still speaks, and the agent treats less than 400 ms as a backchannel.
 */
async function loadShortClip(): Promise<Clip> {
  const clip = await loadClip('where-is-my-order');
  const packets = clip.packets.slice(0, 40);
  return { ...clip, packets, speechEndTicks: packets.length * FRAME_TICKS };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** Places a call of several turns; returns the response latencies that each side measured. */
async function measureTurns(
  t: Test,
  { url, voiceUrl }: { url: string; voiceUrl: string | null },
  fault: string,
  turns: number,
) {
  const headers = fault === '' ? {} : { 'x-sandbox-kit-fault': fault };
  const call = await withCall(t, voiceUrl ?? '', {}, { headers });
  const microphone = startMicrophone(t, call.peer);
  const fetchTurns = async () =>
    (await fetchCalls(url)).find(({ call_id }) => call_id === call.callId)?.turns ?? [];
  const clip = await loadShortClip();
  await waitForGreeting(call);
  const spokenMs: number[] = [];
  for (let nth = 0; nth < turns; nth += 1) {
    spokenMs.push(await microphone.say(clip));
    await until(
      'the agent has replied',
      async () => typeof (await fetchTurns())[nth]?.response_ms === 'number',
    );
    const from = call.received.length;
    await until('the start of the reply has arrived', () => call.received.length > from + 5);
  }
  const onsets = await findCallOnsets(call.received);
  const byCaller = spokenMs.map((ms) => (onsets.find((onset) => onset > ms) ?? NaN) - ms);
  const byAgent = (await fetchTurns()).map(({ response_ms }) => response_ms ?? NaN);
  return { byCaller, byAgent };
}

/**
 * Asserts that the caller and the agent measure the same response latency within 10 ms, and that an
 * agent that replies later by one of these delays is measured to be as much later.
 */
export async function assertResponseLatency(
  t: Test,
  delaysMs: readonly number[],
  turns: number,
): Promise<void> {
  const { agent } = await withReferenceAgent(t);
  const faults = ['', ...delaysMs.map((ms) => `late_reply;min_ms=${ms};max_ms=${ms}`)];
  await onQuietMachine(t, 'caller and agent', async () => {
    const results = await Promise.all(faults.map((fault) => measureTurns(t, agent, fault, turns)));
    const medians = results.map(({ byCaller, byAgent }) => {
      t.equal(byAgent.length, turns);
      return [median(byCaller), median(byAgent)] as const;
    });
    const [[, undelayedMs] = [NaN, NaN], ...delayed] = medians;
    // The agent sends a frame every 20 ms, so a delay is rounded up to a multiple of 20 ms.
    const isDelayed = delayed.every(
      ([, ms], nth) => Math.abs(ms - undelayedMs - (delaysMs[nth] ?? NaN)) <= DELAY_PRECISION_MS,
    );
    const isEqual = medians.every(([caller, agent]) => Math.abs(caller - agent) <= PRECISION_MS);
    const figures = medians.map((pair) => pair.map((ms) => ms.toFixed(1)).join(' and '));
    return [isEqual && isDelayed && undelayedMs < 200, figures.join(', ')];
  });
}
