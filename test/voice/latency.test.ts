/** The response latency, as measured by a caller and as recorded by the agent. */
import t, { type Test } from 'tap';
import { FRAME_TICKS, type Clip } from '../../src/voice/opus/index.ts';
import { withAgent } from '../helpers/agent.ts';
import {
  fetchCalls,
  loadClip,
  waitForGreeting,
  startMicrophone,
  findCallOnsets,
  withCall,
} from '../helpers/caller.ts';
import { onQuietMachine } from '../helpers/quiet-machine.ts';
import { until } from '../helpers/until.ts';

// A measurement that a busy machine spoiled is repeated, and takes 30 s each time.
const TURNS = 10;
const PRECISION_MS = 10;
const DELAY_PRECISION_MS = 25;
const DELAYS_MS = [30, 100, 300];

/** Returns the first 300 ms of a clip, so that many turns take little time. */
async function loadShortClip(): Promise<Clip> {
  const clip = await loadClip('where-is-my-order');
  const packets = clip.packets.slice(0, 15);
  return { ...clip, packets, speechEndTicks: packets.length * FRAME_TICKS };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** Places a call of ten turns; returns the response latencies that each side measured. */
async function measureTurns(t: Test, url: string, agentUrl: string, fault: string) {
  const headers = fault === '' ? {} : { 'x-sandbox-kit-fault': fault };
  const call = await withCall(t, url, {}, { headers });
  const microphone = startMicrophone(t, call.peer);
  const fetchTurns = async () =>
    (await fetchCalls(agentUrl)).find(({ call_id }) => call_id === call.callId)?.turns ?? [];
  const clip = await loadShortClip();
  await waitForGreeting(call);
  const spokenMs: number[] = [];
  for (let nth = 0; nth < TURNS; nth += 1) {
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

void t.test(
  'caller and agent measure the same response latency within 10 ms, with and without added delays',
  async (t) => {
    const { agent } = await withAgent(t);
    const url = agent.voiceUrl ?? '';
    const faults = ['', ...DELAYS_MS.map((ms) => `late_reply;min_ms=${ms};max_ms=${ms}`)];
    await onQuietMachine(t, 'caller and agent', async () => {
      const results = await Promise.all(
        faults.map((fault) => measureTurns(t, url, agent.url, fault)),
      );
      const medians = results.map(({ byCaller, byAgent }) => {
        t.equal(byAgent.length, TURNS);
        return [median(byCaller), median(byAgent)] as const;
      });
      const [[, undelayedMs] = [NaN, NaN], ...delayed] = medians;
      // The agent sends a frame every 20 ms, so a delay is rounded up to a multiple of 20 ms.
      const isDelayed = delayed.every(
        ([, ms], nth) => Math.abs(ms - undelayedMs - (DELAYS_MS[nth] ?? NaN)) <= DELAY_PRECISION_MS,
      );
      const isEqual = medians.every(([caller, agent]) => Math.abs(caller - agent) <= PRECISION_MS);
      const figures = medians.map((pair) => pair.map((ms) => ms.toFixed(1)).join(' and '));
      return [isEqual && isDelayed && undelayedMs < 200, figures.join(', ')];
    });
  },
);
