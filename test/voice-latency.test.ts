/** How long the agent takes to answer: what a caller measures, and what the agent itself records. */
import t, { type Test } from 'tap';
import { ticksOfFrame, type Clip } from '../src/shared/opus/index.ts';
import { withAgent } from './helpers/agent.ts';
import { callsOf, clipOf, greeted, Microphone, onsetsOf, withCall } from './helpers/caller.ts';
import { until } from './helpers/until.ts';

const turns = 10;
const precisionMs = 10;

/** A short utterance that ends at once: the beginning of a clip, so that many turns take no time. */
async function word(): Promise<Clip> {
  const clip = await clipOf('where-is-my-order');
  const packets = clip.packets.slice(0, 15);
  return { ...clip, packets, speechEndTicks: packets.length * ticksOfFrame };
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
  for (let nth = 0; nth < turns; nth += 1) {
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
  const faults = ['', ...[30, 100, 300].map((ms) => `late_reply;min_ms=${ms};max_ms=${ms}`)];
  const results = await Promise.all(faults.map((fault) => measured(t, url, agent.url, fault)));
  const [undelayedMs = NaN, ...delayedMs] = results.map(({ byCaller, byAgent }, nth) => {
    const [caller, agent] = [median(byCaller), median(byAgent)];
    t.equal(byAgent.length, turns);
    t.ok(
      Math.abs(caller - agent) <= precisionMs,
      `${faults[nth] ?? ''}: ${caller} and ${agent} ms`,
    );
    return agent;
  });
  // The agent speaks on its grid of 20 ms: a delay is rounded up to it.
  for (const [nth, extraMs] of [30, 100, 300].entries()) {
    const ms = (delayedMs[nth] ?? NaN) - undelayedMs;
    t.ok(Math.abs(ms - extraMs) <= 25, `${extraMs} ms more are ${ms} ms more`);
  }
  t.ok(undelayedMs < 200, `without a fault a reply comes after ${undelayedMs} ms`);
});
