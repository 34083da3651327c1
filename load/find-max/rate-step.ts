import { chatResponseMsTarget, type LoadPlan, type RateStep } from '../../src/contract/index.ts';
import type { PacedRun } from '../phases/paced-run.ts';
import { IN_FLIGHT_STEP_MS } from '../record/in-flight.ts';
import type { GeneratorLimits } from '../self-check/self-check.ts';
import { percent, seconds, trimmed } from '../verdict/amounts.ts';
import { inFlightTrend } from '../verdict/throughput.ts';

const FAILED_SHARE_MAX = 0.01;
const DONE_SHARE_MIN = 0.99;

/** Looks at one rate: a step says more or less, the confirmation is judged in full. */
export function rateStep(
  plan: LoadPlan,
  { record, ranMs, stopped, missed, held }: PacedRun,
  { lagP99MsMax }: GeneratorLimits,
): RateStep & {
  /** The generator could not keep up: nothing is said of the sandbox. */
  generatorFailed: boolean;
} {
  const log = record.log('chat');
  const { ok, offered, errors, lag, response } = log;
  const failed = Object.values(errors).reduce((sum, times) => sum + times, 0);
  const failedShare = ok + failed === 0 ? 1 : failed / (ok + failed);
  const p99Ms = response.percentile(plan.percentile);
  const lagMs = lag.percentile(99) ?? 0;
  const offeredPerSecond = ranMs > 0 ? (offered / ranMs) * 1000 : 0;
  const trend = inFlightTrend(record.inFlight.until(ranMs), IN_FLIGHT_STEP_MS, plan.ratePerSecond);
  const donePerSecond =
    offeredPerSecond * (1 - failedShare) - Math.max(0, trend.rising ? trend.perSecond : 0);
  const generatorFailed = missed > 0 || held > 0 || lagMs > lagP99MsMax;
  const reason =
    (generatorFailed && `the generator could not keep up (lag p99 ${seconds(lagMs)})`) ||
    (stopped?.kind === 'down' && stopped.detail) ||
    (failedShare > FAILED_SHARE_MAX && `${percent(failedShare, 1)} % failed`) ||
    ((p99Ms ?? 0) >= chatResponseMsTarget && `p${plan.percentile} ${seconds(p99Ms ?? 0)}`) ||
    (trend.rising && `in flight rises by ${trimmed(trend.perSecond, 1)} a second`) ||
    (donePerSecond < plan.ratePerSecond * DONE_SHARE_MIN * (ranMs / plan.windowMs) &&
      `only ${trimmed(donePerSecond, 1)}/s were answered`);
  return {
    ratePerSecond: plan.ratePerSecond,
    durationMs: Math.round(ranMs),
    holds: reason === false,
    donePerSecond: Math.round(donePerSecond * 100) / 100,
    p99Ms,
    failedShare: Math.round(failedShare * 1e6) / 1e6,
    reason: reason === false ? `p${plan.percentile} ${seconds(p99Ms ?? 0)}` : reason,
    generatorFailed,
  };
}
