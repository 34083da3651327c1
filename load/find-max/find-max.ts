import type { LoadPlan, MaxRate, RateStep } from '../../src/contract/index.ts';
import type { ReportedRun } from '../report/report.ts';
import type { GeneratorLimits } from '../self-check/self-check.ts';
import { trimmed } from '../verdict/amounts.ts';
import { rateStep } from './rate-step.ts';
import { searchRate, type Bracket, type Tried } from './search.ts';

/** The most that the generator is trusted with: its lag stays below 10 ms. */
export const RATE_MAX = 2_000;
const RATE_MIN = 1;
const RATE_START_MIN = 10;
/** A closed loop gets more out of a sandbox than arrivals that keep their rate. */
const PROBE_SHARE = 0.25;
/** A rate that held for a step and not for the confirmation is lowered so often. */
const CONFIRMATIONS_MAX = 3;
const STEP_DOWN = 0.9;

/** What a search needs. */
export interface FindMaxParts {
  /** Answers a second in a closed loop. */
  probePerSecond: number;
  limits: GeneratorLimits;
  /** Loads at a rate; undefined where the caller has stopped. */
  runAt: (perSecond: number, length: 'step' | 'confirmation') => Promise<ReportedRun | undefined>;
}

/** What a search found, with the last run that it made. */
export interface Found {
  maxRate: MaxRate;
  /** The confirmation, or the last step where it did not come to one. */
  run: ReportedRun | undefined;
}

/** Finds the rate that a sandbox holds: by steps, then between them, then confirmed for longer. */
export async function findMax(parts: FindMaxParts): Promise<Found> {
  const { probePerSecond, limits, runAt } = parts;
  const steps: RateStep[] = [];
  const generatorFailedAt: number[] = [];
  const last: { run?: ReportedRun } = {};
  const attempt = async (perSecond: number, length: 'step' | 'confirmation'): Promise<Tried> => {
    const run = await runAt(perSecond, length);
    if (!run) return { holds: undefined, last: true };
    last.run = run;
    const { stopped } = run.paced;
    if (stopped !== undefined && stopped.kind !== 'down') return { holds: undefined, last: true };
    const { generatorFailed, ...step } = rateStep(run.plan, run.paced, limits);
    const { windowMs } = run.plan;
    const why = length === 'step' ? '' : `, confirmation of ${trimmed(windowMs / 1000, 1)} s`;
    steps.push({ ...step, reason: step.reason + why });
    if (generatorFailed) generatorFailedAt.push(perSecond);
    // Where the generator is at its end, a higher rate tells nothing; a lower one may.
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
  const { sustains, fails, confirmed } = await confirm(bracket, (perSecond) =>
    attempt(perSecond, 'confirmation'),
  );
  const ofGenerator = fails !== undefined && generatorFailedAt.includes(fails);
  const failsAt = ofGenerator ? undefined : fails;
  return {
    run: last.run,
    maxRate: {
      probePerSecond,
      sustains: sustains ?? null,
      fails: failsAt ?? null,
      confirmed,
      summary: inWords({ sustains, fails: failsAt }, confirmed, ofGenerator ? fails : undefined),
      steps,
    },
  };
}

/** The rate that held must hold for longer, too; else one below it. */
async function confirm(
  { sustains, fails }: Bracket,
  attempt: (perSecond: number) => Promise<Tried>,
): Promise<Bracket & { confirmed: boolean }> {
  let rate = sustains;
  let failing = fails;
  for (let time = 0; time < CONFIRMATIONS_MAX && rate !== undefined; time++) {
    const { holds, last } = await attempt(rate);
    if (holds) return { sustains: rate, fails: failing, confirmed: true };
    if (last) break;
    failing = rate;
    rate = Number((rate * STEP_DOWN).toPrecision(3));
  }
  return { sustains: rate, fails: failing, confirmed: false };
}

function inWords(
  { sustains, fails }: Bracket,
  confirmed: boolean,
  generatorAt: number | undefined,
): string {
  const rate = (perSecond: number): string => `${trimmed(perSecond, 1)} requests/s`;
  if (sustains === undefined) {
    return fails === undefined
      ? 'No rate was tried to its end.'
      : `Not even ${rate(fails)} is held.`;
  }
  const held = `${confirmed ? 'Sustains' : 'Held for a step, not confirmed:'} ${rate(sustains)}`;
  if (fails !== undefined) return `${held}; fails at ${rate(fails)}.`;
  if (generatorAt !== undefined) {
    return `${held}; at ${rate(generatorAt)} this machine could not keep up.`;
  }
  return sustains < RATE_MAX ? `${held}.` : `${held}, the most that is tried.`;
}

/** The plan of a step or of the confirmation. */
export function planAt(
  plan: LoadPlan,
  perSecond: number,
  windowMs: number,
  rampMs: number,
): LoadPlan {
  return { ...plan, ratePerSecond: perSecond, windowMs, rampMs, warmUpMs: 0 };
}
