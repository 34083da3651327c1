/** Calls over bad networks, and the search for the most concurrent calls. */
import t, { type Test } from 'tap';
import { htmlReport, markdownReport, terminalReport } from '../../load/index.ts';
import { findMaxCalls, type StepRun } from '../../load/find-max/find-max-calls.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { plainStyle } from '../../src/report-kit/terminal.ts';
import { withLateHangUps } from '../support/calls/late-hang-ups.ts';
import { findTarget } from '../support/measurements/run-load.ts';
import { createTwoCallVoice, getVoice, runVoiceLoad } from '../support/measurements/voice-load.ts';
import { nightOnly } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

/** Returns the report of a step in which `held` of the calls were held. */
function createStep(calls: number, held: number, isValid: boolean): StepRun {
  const voice = { ...createTwoCallVoice('no path'), held, unansweredTurns: 0 };
  const report = {
    plan: { calls, windowMs: 20_000 },
    selfCheck: { valid: isValid, reasons: isValid ? [] : ['The callers were late.'], figures: [] },
    voice: { ...voice, errors: held < calls ? { too_many_calls: calls - held } : {} },
  } as unknown as LoadReport;
  return { report, wasInterrupted: false, unclosedCalls: 0 };
}

/** Searches with a sandbox that holds `capacity` calls, and callers that keep up with `callerMax`. */
async function searchCapacity(capacity: number, callerMax = Infinity) {
  const tried: number[] = [];
  const { maxCalls } = await findMaxCalls({
    callsMax: 1_000,
    runWith: (calls) => {
      tried.push(calls);
      return Promise.resolve(createStep(calls, Math.min(calls, capacity), calls <= callerMax));
    },
  });
  return { ...maxCalls, tried };
}

/** Searches with a sandbox of 20 calls in which this many calls of each step stay open. */
const searchWithOpenCalls = (staying: number) => {
  let open = 0;
  return findMaxCalls({
    callsMax: 1_000,
    runWith: (calls) => {
      const step = createStep(calls, Math.min(calls, 20 - open), true);
      open = Math.min(calls, staying);
      return Promise.resolve({ ...step, unclosedCalls: open });
    },
  });
};

void t.test('the search finds any capacity within 10%, in whole calls', async (t) => {
  for (const capacity of [1, 2, 3, 7, 10, 11, 48, 100, 333, 999]) {
    const { sustains, fails, confirmed, tried, summary } = await searchCapacity(capacity);
    const title = `${capacity}: ${tried.join(', ')}: ${summary}`;
    t.ok(sustains !== null && fails !== null && sustains <= capacity && capacity < fails, title);
    t.ok((fails ?? 0) - (sustains ?? 0) <= Math.max(1, (sustains ?? 0) * 0.1 + 1), title);
    t.ok(tried.every(Number.isInteger) && tried.length <= 25, title);
    t.equal(confirmed, true);
  }
});

void t.test('the summary says what is known', async (t) => {
  t.match((await searchCapacity(0)).summary, /does not sustain even 1 concurrent call\./);
  t.match(
    (await searchCapacity(2_000)).summary,
    /sustains 1,000 concurrent calls, the most that the search tries\./,
  );
  t.match(
    (await searchCapacity(2_000, 60)).summary,
    /sustains 53 concurrent calls; with 80 the load generator could not keep up\./,
  );
  const failing = await searchCapacity(12);
  t.match(failing.steps[1], {
    calls: 15,
    holds: false,
    reason: /3 of 15 calls failed \(3 too_many/,
  });
});

void t.test('refused calls prove nothing while calls of the step before are open', async (t) => {
  const closing = await searchWithOpenCalls(0);
  t.match(closing.maxCalls, { sustains: 20, fails: 21, confirmed: true });
  t.equal(closing.unknownReason, undefined);

  const { maxCalls, unknownReason } = await searchWithOpenCalls(8);
  t.match(maxCalls, { sustains: 10, fails: null, confirmed: true });
  t.match(
    maxCalls.summary,
    /sustains 10 concurrent calls; with 15 it is unknown, because calls of the step before were/,
  );
  t.match(maxCalls.steps[1], {
    holds: false,
    reason: /^3 of 15 calls failed \(.*\), while 8 calls of the step before were still open/,
  });
  t.equal(unknownReason, undefined, 'the confirmation is known');

  const unconfirmed = await searchWithOpenCalls(15);
  t.match(unconfirmed.maxCalls, { sustains: 10, fails: null, confirmed: false });
  t.match(
    unconfirmed.maxCalls.summary,
    /sustained 10 .* for one step, which is not confirmed \(calls of the step before were still open\)/,
  );
  t.match(unconfirmed.unknownReason, /15 calls of the step before were still open/);
});

/** Searches for the most calls of an agent that takes three, and learns late that a caller hung up. */
async function searchWithLateHangUps(t: Test, lateMs: number): Promise<LoadReport> {
  const { agent } = await withReferenceAgent(t, { voice: { callsMax: 3 } });
  const url = await withLateHangUps(t, agent.url, lateMs);
  return runVoiceLoad(
    url,
    { windowMs: 1_500, findMax: { stepMs: 1_000 } },
    { calls: 2, callsPerSecond: 100 },
  );
}

void t.test('the next step waits until the sandbox has closed the calls', async (t) => {
  const report = await searchWithLateHangUps(t, 5_000);
  t.match(report.findMaxCalls, { sustains: 2, fails: null, confirmed: true });
});

void t.test('a sandbox that never closes its calls gets NOT PROVEN', nightOnly(), async (t) => {
  const report = await searchWithLateHangUps(t, 60_000);
  t.match(report.findMaxCalls, { sustains: 2, fails: null, confirmed: false });
  t.match(findTarget(report, 'voice-connections'), {
    verdict: 'NOT PROVEN',
    reason: /2 calls of the step before were still open/,
  });
  t.equal(report.verdict, 'NOT PROVEN');
  t.equal(report.exitCode, 3);
});

void t.test('a sandbox with a limit of calls is searched, and the report shows it', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: { callsMax: 3 } });
  const report = await runVoiceLoad(
    agent.url,
    { windowMs: 2_000, findMax: { stepMs: 1_500 } },
    { calls: 12, callsPerSecond: 100 },
  );
  t.match(report.findMaxCalls, { sustains: 3, fails: 4, confirmed: true });
  t.match(report.sentence, /^The sandbox sustains 3 concurrent calls; it fails with 4\./);
  t.match(findTarget(report, 'voice-connections'), { verdict: 'FAIL', measured: 3, target: 100 });
  const [first] = report.findMaxCalls?.steps ?? [];
  t.match(first, { holds: false, reason: /failed \(\d+ too_many_calls\)/ });
  const terminal = terminalReport(report, { width: 80, style: plainStyle });
  t.match(terminal, /Most concurrent calls[^]* {5}4 calls {2}failed/);
  t.match(markdownReport(report), /The sandbox sustains 3 concurrent calls/);
  t.match(htmlReport(report), /Most concurrent calls/);
});

void t.test(
  '--network: the report names the network, and packets from the sandbox are not changed',
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    const report = await runVoiceLoad(agent.url, {}, { network: 'crowded' });
    const { packets } = getVoice(report);
    t.equal(report.plan.network, 'crowded');
    t.match(report.notes.join(' '), /crowded \(3% loss, 0 to 80 ms jitter\)/);
    t.equal(packets.lost, 0, 'packets from the sandbox are not changed');
  },
);
