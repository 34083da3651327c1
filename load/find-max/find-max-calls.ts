import type { CallStep, LoadPlan, LoadReport, MaxCalls } from '../../src/contract/index.ts';
import { formatCount, formatDuration } from '../../src/report-kit/format.ts';
import { judgeCallStep } from './call-step.ts';
import { confirm, STEP_DOWN } from './confirm.ts';
import { searchRate, type Attempt } from './search.ts';

const CALLS_START = 10;
const CALLS_MIN = 1;
/** The most calls that one machine places. */
export const CALLS_MAX = 1_000;

/** Dependencies of a search. */
export interface FindMaxCallsParts {
  /** The most calls that the search tries. */
  callsMax: number;
  /**
   * Places so many calls, and returns the report of them alone; undefined if the caller stopped before.
   */
  runWith: (calls: number, length: 'step' | 'confirmation') => Promise<StepRun | undefined>;
}

/** The calls of a step. */
export interface StepRun {
  report: LoadReport;
  wasInterrupted: boolean;
}

/** The result of a search, and the report of its last run. */
export interface CallSearchResult {
  maxCalls: MaxCalls;
  /** The confirmation run, or the last step if there was no confirmation. */
  report: LoadReport | undefined;
}

/**
 * Finds the most concurrent calls that a sandbox sustains: in steps, by bisection, and with a longer
 * confirmation.
 */
export async function findMaxCalls({
  callsMax,
  runWith,
}: FindMaxCallsParts): Promise<CallSearchResult> {
  const steps: CallStep[] = [];
  const generatorFailedAt: number[] = [];
  const last: { report?: LoadReport } = {};
  const attempt = async (calls: number, length: 'step' | 'confirmation'): Promise<Attempt> => {
    const run = await runWith(calls, length);
    if (!run) return { holds: undefined, last: true };
    const { report } = run;
    last.report = report;
    if (run.wasInterrupted) return { holds: undefined, last: true };
    const { generatorFailed, ...step } = judgeCallStep(report);
    const { windowMs } = report.plan;
    const suffix = length === 'step' ? '' : `, confirmation of ${formatDuration(windowMs)}`;
    steps.push({ ...step, reason: step.reason + suffix });
    if (generatorFailed) generatorFailedAt.push(calls);
    // If the load generator could not keep up, more calls show nothing; fewer may.
    return { holds: step.holds, last: generatorFailed && length === 'step' };
  };
  const bracket = await searchRate(
    {
      startPerSecond: CALLS_START,
      minPerSecond: CALLS_MIN,
      maxPerSecond: callsMax,
      round: Math.round,
    },
    (calls) => attempt(calls, 'step'),
  );
  const { sustains, fails, confirmed } = await confirm(
    bracket,
    (calls) => attempt(calls, 'confirmation'),
    (calls) => (calls > CALLS_MIN ? Math.floor(calls * STEP_DOWN) : undefined),
  );
  const isGeneratorLimit = fails !== undefined && generatorFailedAt.includes(fails);
  const failsAt = isGeneratorLimit ? undefined : fails;
  const summary = describeResult({
    ...{ sustains, confirmed, callsMax },
    failsAt,
    generatorAt: isGeneratorLimit ? fails : undefined,
  });
  return {
    report: last.report,
    maxCalls: { sustains: sustains ?? null, fails: failsAt ?? null, confirmed, summary, steps },
  };
}

function describeResult({
  sustains,
  confirmed,
  callsMax,
  failsAt,
  generatorAt,
}: {
  sustains: number | undefined;
  confirmed: boolean;
  callsMax: number;
  failsAt: number | undefined;
  generatorAt: number | undefined;
}): string {
  const count = (calls: number): string => formatCount(calls, 'concurrent call');
  const generatorLimit =
    generatorAt === undefined
      ? undefined
      : `with ${generatorAt} the load generator could not keep up`;
  if (sustains === undefined) {
    if (failsAt !== undefined) return `The sandbox does not sustain even ${count(failsAt)}.`;
    return generatorLimit === undefined
      ? 'No step of the search completed.'
      : `No step of the search completed: ${generatorLimit}.`;
  }
  const sustained = confirmed
    ? `The sandbox sustains ${count(sustains)}`
    : `The sandbox sustained ${count(sustains)} for one step, which is not confirmed`;
  if (failsAt !== undefined) return `${sustained}; it fails with ${failsAt}.`;
  if (generatorLimit !== undefined) return `${sustained}; ${generatorLimit}.`;
  return sustains < callsMax ? `${sustained}.` : `${sustained}, the most that the search tries.`;
}

/** Returns the plan of a step or of the confirmation. */
export function planCallStep(plan: LoadPlan, calls: number, windowMs: number): LoadPlan {
  return { ...plan, calls, windowMs };
}
