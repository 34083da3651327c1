import * as conformance from '../conformance/index.ts';
import * as loadPackage from '../load/index.ts';
import type { LoadProgress } from '../load/index.ts';
import type { Area, LoadPlan } from '../src/contract/index.ts';
import { spellInCode } from '../src/options/table.ts';
import { systemClock } from '../src/platform/clock.ts';
import { formatCount, formatNumber } from '../src/report-kit/format.ts';
import type { AgentTest, AgentTestPlan, AgentTestRun, KitFunctions } from '../src/service/index.ts';
import { describeLoadPlan, prepareOrReject, type PreparedLoad } from './load-plan.ts';
import { rejectCall } from './rejection.ts';
import { runCheck, selectionOf, type CheckSelection } from './run-check.ts';
import { runLoad } from './run-load.ts';

type LoadTest = Extract<AgentTest, { kind: 'load' }>;

/** Returns what a test of an agent sends. */
export function planTest(test: AgentTest): AgentTestPlan {
  if (test.kind === 'load') {
    const prepared = prepare(test);
    const { requests, modelCalls } = prepared.size;
    return { sentence: describeLoadPlan(prepared), requests, modelRequests: modelCalls };
  }
  const plan = conformance.planCheck(selectCheck(test));
  const { requests, modelCalls } = plan;
  return { sentence: conformance.planSentence(plan), requests, modelRequests: modelCalls };
}

/** Tests an agent, and returns the report that `check --json` or `load --json` writes. */
export const runTest: KitFunctions['runTest'] = async (test, run) => {
  const { url, voiceUrl, apiKey, signal, onProgress } = run;
  const voice = voiceUrl === undefined ? {} : { voice: { url: voiceUrl } };
  if (test.kind === 'load') {
    const options = { ...toLoadOptions(test), url, apiKey, signal };
    const prepared = prepare(test);
    const onTick = createLoadProgress(prepared.plan, onProgress);
    return runLoad({ ...options, onProgress: onTick }, prepared);
  }
  const selection = selectCheck(test);
  const plan = conformance.planCheck(selection);
  const timeLeft = conformance.createTimeLeft(plan, systemClock);
  let sent = 0;
  const { report } = await runCheck(
    {
      url,
      apiKey,
      signal,
      areas: areasOf(test),
      ...voice,
      onPhase: (phase) => timeLeft.startPhase(phase),
      onExchange(exchange) {
        timeLeft.note(exchange);
        sent += 1;
        const shown = Math.min(sent, plan.requests);
        onProgress({
          state: `${formatNumber(shown)} of ${formatCount(plan.requests, 'request')}`,
          share: shown / plan.requests,
          leftMs: timeLeft.estimate()?.ms,
        });
      },
    },
    selection,
  );
  return report;
};

type CheckTest = Extract<AgentTest, { kind: 'check' }>;

const areasOf = ({ placesCalls }: CheckTest): Area[] =>
  conformance.areas.filter((area) => placesCalls || area !== 'voice');

const selectCheck = (test: CheckTest): CheckSelection =>
  selectionOf({ areas: areasOf(test) }, conformance);

const toLoadOptions = ({ profile, ratePerSecond: rate, durationMs }: LoadTest) => ({
  profile,
  rate,
  durationMs,
});

const prepare = (test: LoadTest): PreparedLoad =>
  prepareOrReject(toLoadOptions(test), loadPackage, {
    spell: spellInCode,
    reject: rejectCall('load'),
  });

/** Before its steady state, a load test connects, and raises the rate. */
function createLoadProgress(
  plan: LoadPlan,
  onProgress: AgentTestRun['onProgress'],
): (live: LoadProgress) => void {
  const totalMs = plan.warmUpMs + plan.rampMs + plan.windowMs;
  return ({ phase, perSecond, p99Ms, errors, leftMs }) => {
    const state = [
      PHASES[phase],
      `${formatNumber(perSecond)} requests per second`,
      ...(p99Ms === null ? [] : [`p99 ${formatNumber(Math.round(p99Ms))} ms`]),
      ...(errors > 0 ? [formatCount(errors, 'error')] : []),
    ];
    const share = Math.min(1, Math.max(0, 1 - leftMs / totalMs));
    onProgress({ state: state.join(', '), share, leftMs });
  };
}

/** Names each phase of a load test for people. */
const PHASES: Readonly<Record<LoadProgress['phase'], string>> = {
  preflight: 'connecting',
  'warm-up': 'warming up',
  ramp: 'raising the rate',
  window: 'measuring',
  drain: 'waiting for the last responses',
};
