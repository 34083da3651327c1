import type { LoadPlan, RateStep } from '../../src/contract/index.ts';
import type { RequestRun } from '../phases/request-run.ts';
import { sumCounts } from '../record/counts.ts';
import { perSecond } from '../record/stream-log.ts';
import type { GeneratorLimits } from '../self-check/self-check.ts';
import { formatDuration, formatNumber, formatShare } from '../../src/report-kit/format.ts';
import { isMiss } from '../verdict/target.ts';
import { targetTable } from '../verdict/targets.ts';
import { measureInFlightTrend } from '../verdict/throughput.ts';
import { FAILED_SHARE_MAX, SUCCESS_SHARE_MIN } from '../verdict/share.ts';
import { roundTo } from '../../src/platform/round.ts';
import type { JudgedRun } from './confirmed-maximum.ts';

/** Decides whether one rate was sustained. Only the confirmation is judged statistically. */
export function judgeRateStep(
  plan: LoadPlan,
  { record, ranMs, earlyEnd, missed }: RequestRun,
  { lagP99MsMax }: GeneratorLimits,
): JudgedRun<RateStep> {
  const log = record.log('chat');
  const { ok, offered, errors, lag, response } = log;
  const failed = sumCounts(errors);
  const failedShare = ok + failed === 0 ? 1 : failed / (ok + failed);
  const judgedMs = response.percentile(plan.percentile) ?? 0;
  const lagMs = lag.percentile(99) ?? 0;
  const offeredPerSecond = perSecond(offered, ranMs);
  const trend = measureInFlightTrend(record.inFlight.until(ranMs), plan.ratePerSecond);
  const donePerSecond =
    offeredPerSecond * (1 - failedShare) - Math.max(0, trend.rising ? trend.perSecond : 0);
  const generatorFailed = missed > 0 || lagMs > lagP99MsMax;
  const reason =
    (generatorFailed &&
      `the load generator could not keep up (send lag p99 ${formatDuration(lagMs)})`) ||
    (earlyEnd?.kind === 'down' && earlyEnd.detail) ||
    (failedShare > FAILED_SHARE_MAX && `${formatShare(failedShare, 1)} of the requests failed`) ||
    (isMiss(targetTable.chatLatency, judgedMs) &&
      `p${plan.percentile} ${formatDuration(judgedMs)}`) ||
    (trend.rising && `requests in flight rise by ${formatNumber(trend.perSecond, 1)} per second`) ||
    (donePerSecond < plan.ratePerSecond * SUCCESS_SHARE_MIN * (ranMs / plan.windowMs) &&
      `only ${formatNumber(donePerSecond, 1)} requests/s succeeded`);
  const step = {
    ratePerSecond: plan.ratePerSecond,
    durationMs: Math.round(ranMs),
    holds: reason === false,
    donePerSecond: roundTo(donePerSecond, 2),
    p99Ms: response.percentile(99),
    failedShare: roundTo(failedShare, 6),
    reason: reason === false ? `p${plan.percentile} ${formatDuration(judgedMs)}` : reason,
  };
  return { step, obstacle: generatorFailed ? 'generator' : undefined, windowMs: plan.windowMs };
}
