import type { LoadPlan, MaxRate, RateStep } from '../../src/contract/index.ts';
import type { CompletedRun } from '../report/report.ts';
import type { GeneratorLimits } from '../self-check/self-check.ts';
import { formatDuration, formatQuantity } from '../../src/report-kit/format.ts';
import { confirm, STEP_DOWN } from './confirm.ts';
import { judgeStep } from './rate-step.ts';
import { searchRate, type Bracket, type Attempt } from './search.ts';

/** The highest rate at which the load generator's send lag stays below 10 ms. */
export const RATE_MAX = 2_000;
const RATE_MIN = 1;
const RATE_START_MIN = 10;
/** The search starts at this share of the closed-loop rate, which is higher than a sustainable rate. */
const PROBE_SHARE = 0.25;

/** Dependencies of a search. */
export interface FindMaxParts {
  /** Responses per second in a closed loop. */
  probePerSecond: number;
  limits: GeneratorLimits;
  /** Loads the sandbox at a rate; resolves to undefined if the caller has stopped. */
  runAt: (perSecond: number, length: 'step' | 'confirmation') => Promise<CompletedRun | undefined>;
}

/** The result of a search, with its last run. */
export interface SearchResult {
  maxRate: MaxRate;
  /** The confirmation run, or the last step if there was no confirmation. */
  run: CompletedRun | undefined;
}

/** Finds the maximum rate that a sandbox sustains: in steps, by bisection, and with a longer confirmation. */
export async function findMax(parts: FindMaxParts): Promise<SearchResult> {
  const { probePerSecond, limits, runAt } = parts;
  const steps: RateStep[] = [];
  const generatorFailedAt: number[] = [];
  const last: { run?: CompletedRun } = {};
  const attempt = async (perSecond: number, length: 'step' | 'confirmation'): Promise<Attempt> => {
    const run = await runAt(perSecond, length);
    if (!run) return { holds: undefined, last: true };
    last.run = run;
    const { stopped } = run.requests;
    if (stopped !== undefined && stopped.kind !== 'down') return { holds: undefined, last: true };
    const { generatorFailed, ...step } = judgeStep(run.plan, run.requests, limits);
    const { windowMs } = run.plan;
    const suffix = length === 'step' ? '' : `, confirmation of ${formatDuration(windowMs)}`;
    steps.push({ ...step, reason: step.reason + suffix });
    if (generatorFailed) generatorFailedAt.push(perSecond);
    // If the load generator could not keep up, a higher rate shows nothing; a lower one may.
    return { holds: step.holds, last: generatorFailed && length === 'step' };
  };
  const bracket = await searchRate(
    {
      startPerSecond: Math.max(RATE_START_MIN, probePerSecond * PROBE_SHARE),
      minPerSecond: RATE_MIN,
      maxPerSecond: RATE_MAX,
    },
    (perSecond) => attempt(perSecond, 'step'),
  );
  const { sustains, fails, confirmed } = await confirm(
    bracket,
    (perSecond) => attempt(perSecond, 'confirmation'),
    (perSecond) => Number((perSecond * STEP_DOWN).toPrecision(3)),
  );
  const isGeneratorLimit = fails !== undefined && generatorFailedAt.includes(fails);
  const failsAt = isGeneratorLimit ? undefined : fails;
  return {
    run: last.run,
    maxRate: {
      probePerSecond,
      sustains: sustains ?? null,
      fails: failsAt ?? null,
      confirmed,
      summary: describeResult(
        { sustains, fails: failsAt },
        confirmed,
        isGeneratorLimit ? fails : undefined,
      ),
      steps,
    },
  };
}

function describeResult(
  { sustains, fails }: Bracket,
  confirmed: boolean,
  generatorAt: number | undefined,
): string {
  const rate = (perSecond: number): string => formatQuantity(perSecond, 'requests/s');
  if (sustains === undefined) {
    return fails === undefined
      ? 'No step of the search completed.'
      : `The sandbox does not sustain even ${rate(fails)}.`;
  }
  const sustained = confirmed
    ? `The sandbox sustains ${rate(sustains)}`
    : `The sandbox sustained ${rate(sustains)} for one step, which is not confirmed`;
  if (fails !== undefined) return `${sustained}; it fails at ${rate(fails)}.`;
  if (generatorAt !== undefined) {
    return `${sustained}; at ${rate(generatorAt)} the load generator could not keep up.`;
  }
  return sustains < RATE_MAX
    ? `${sustained}.`
    : `${sustained}, the highest rate that the search tries.`;
}

/** Returns the plan of a step or of the confirmation. */
export function planAt(
  plan: LoadPlan,
  perSecond: number,
  windowMs: number,
  rampMs: number,
): LoadPlan {
  return { ...plan, ratePerSecond: perSecond, windowMs, rampMs, warmUpMs: 0 };
}
