/** How long the agent takes to answer: what a caller measures, and what the agent itself records. */
import t, { type Test } from 'tap';
import { FRAME_TICKS, type Clip } from '../../src/voice/opus/index.ts';
import { withAgent } from '../helpers/agent.ts';
import { callsOf, clipOf, greeted, Microphone, onsetsOf, withCall } from '../helpers/caller.ts';
import { onQuietMachine } from '../helpers/quiet-machine.ts';
import { until } from '../helpers/until.ts';

// A measurement that the machine spoilt is repeated, and takes half a minute.
t.setTimeout(300_000);

const TURNS = 10;
const PRECISION_MS = 10;
const GRID_MS = 25;
const DELAYS_MS = [30, 100, 300];

/** A short utterance that ends at once: the beginning of a clip, so that many turns take no time. */
async function word(): Promise<Clip> {
  const clip = await clipOf('where-is-my-order');
  const packets = clip.packets.slice(0, 15);
  return { ...clip, packets, speechEndTicks: packets.length * FRAME_TICKS };
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;

/** Speaks so many turns, each as soon as the one before was answered; what both sides measured. */
async function measured(t: Test, url: string, agentUrl: string, fault: string) {
  const headers = fault === '' ? {} : { 'x-sandbox-kit-fault': fault };
  const call = await withCall(t, url, {}, { headers });
  const microphone = new Microphone(call.peer);
  t.teardown(() => microphone.stop());
  const recorded = async () =>
    (await callsOf(agentUrl)).find(({ call_id }) => call_id === call.callId)?.turns ?? [];
  const short = await word();
  await greeted(call);
  const spokenMs: number[] = [];
  for (let nth = 0; nth < TURNS; nth += 1) {
    spokenMs.push(await microphone.say(short));
    await until('the reply', async () => typeof (await recorded())[nth]?.response_ms === 'number');
    const from = call.heard.length;
    await until('enough of it', () => call.heard.length > from + 5);
  }
  const onsets = await onsetsOf(call.heard);
  const byCaller = spokenMs.map((ms) => (onsets.find((onset) => onset > ms) ?? NaN) - ms);
  const byAgent = (await recorded()).map(({ response_ms }) => response_ms ?? NaN);
  return { byCaller, byAgent };
}

void t.test('a known delay is measured right to 10 ms, over ten turns', async (t) => {
  const { agent } = await withAgent(t);
  const url = agent.voiceUrl ?? '';
  const faults = ['', ...DELAYS_MS.map((ms) => `late_reply;min_ms=${ms};max_ms=${ms}`)];
  await onQuietMachine(t, 'caller and agent', async () => {
    const results = await Promise.all(faults.map((fault) => measured(t, url, agent.url, fault)));
    const medians = results.map(({ byCaller, byAgent }) => {
      t.equal(byAgent.length, TURNS);
      return [median(byCaller), median(byAgent)] as const;
    });
    const [[, undelayedMs] = [NaN, NaN], ...delayed] = medians;
    // The agent speaks on its grid of 20 ms: a delay is rounded up to it.
    const isDelayed = delayed.every(
      ([, ms], nth) => Math.abs(ms - undelayedMs - (DELAYS_MS[nth] ?? NaN)) <= GRID_MS,
    );
    const isSame = medians.every(([caller, agent]) => Math.abs(caller - agent) <= PRECISION_MS);
    const figures = medians.map((both) => both.map((ms) => ms.toFixed(1)).join(' and '));
    return [isSame && isDelayed && undelayedMs < 200, figures.join(', ')];
  });
});
