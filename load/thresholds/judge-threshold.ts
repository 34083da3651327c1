import type { InFlightTrend, LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { formatDuration, formatNumber, formatShare } from '../../src/report-kit/format.ts';
import type { StreamMeasurements } from '../verdict/judge-run.ts';
import { judgeLatency } from '../verdict/latency.ts';
import { sumBlocks, type Block } from '../record/blocks.ts';
import { judgeShare, FAILED_SHARE_MAX } from '../verdict/share.ts';
import { notTested, toPercent, withReservation } from '../verdict/targets.ts';
import type { Threshold } from './threshold.ts';
import { roundTo } from '../../src/platform/round.ts';

/** The measurements that a threshold on requests is compared with. */
export interface ThresholdMeasurements extends StreamMeasurements {
  /** Numbers of response times, and of those that miss the limit, in blocks of time. */
  breaches: readonly Block[];
  offeredPerSecond: number;
  /** The trend of the requests in flight; undefined if it is unknown, or if no backlog can grow. */
  trend: InFlightTrend | undefined;
}

/** Judges a threshold on requests in the same way as the targets of the specification. */
export function judgeThreshold(
  threshold: Threshold,
  measured: ThresholdMeasurements,
  random: Random,
): LoadTarget {
  const { measure } = threshold.metric;
  switch (measure.kind) {
    case 'time': {
      const { percentile } = measure;
      const times = { ...measured, misses: measured.breaches };
      return percentile === 'max'
        ? judgeSlowest(threshold, measured.breaches, measured.atRank(measured.count))
        : judgeLatency(threshold.row, times, percentile, random);
    }
    case 'error_rate':
      return judgeErrorRate(threshold, measured.failures, 'request', random);
    case 'rate':
      return judgeRate(threshold, measured, random);
  }
}

/** Judges the slowest response, which is observed, not estimated, and so has no bounds. */
export function judgeSlowest(
  { row, limit }: Threshold,
  breaches: readonly Block[],
  slowestMs: number | null,
  noun = 'response',
): LoadTarget {
  const samples = sumBlocks(breaches, 'samples');
  const misses = sumBlocks(breaches, 'hits');
  const range95: LoadTarget['range95'] = [null, null];
  const base = { ...row, measured: slowestMs, bound95: null, range95 };
  if (samples === 0) {
    return { ...base, samples, verdict: 'NOT PROVEN', reason: 'No response time was measured.' };
  }
  const outcome = slowestMs === null ? 'had no result' : `took ${formatDuration(slowestMs)}`;
  const reason = `The slowest ${noun} of ${formatNumber(samples)} ${outcome}; ${formatNumber(misses)} missed the limit of ${formatDuration(limit)}.`;
  return { ...base, samples, verdict: misses > 0 ? 'FAIL' : 'PASS', reason };
}

/** Judges the share of requests or calls that failed. */
export function judgeErrorRate(
  { row, limit }: Threshold,
  failures: readonly Block[],
  noun: string,
  random: Random,
): LoadTarget {
  const share = judgeShare(failures, limit / 100, random);
  const { verdict, samples, samplesNeeded, hits, low, high, reservation } = share;
  if (samples === 0) return { ...notTested(row, `No ${noun} completed.`), verdict };
  const range: [number, number] = [toPercent(low), toPercent(high)];
  const summary = `${formatNumber(hits)} of ${formatNumber(samples)} ${noun}s failed (${formatShare(hits / samples)}).`;
  return {
    ...row,
    measured: toPercent(hits / samples),
    bound95: range[1],
    range95: range,
    samples,
    ...(samplesNeeded !== undefined && { samplesNeeded }),
    verdict,
    reason: withReservation(summary, reservation),
  };
}

/** Judges the rate of successful requests, minus the growth of a backlog. */
function judgeRate(
  { row, limit }: Threshold,
  { failures, offeredPerSecond, trend }: ThresholdMeasurements,
  random: Random,
): LoadTarget {
  const growth = trend?.rising ? trend.perSecond : 0;
  const sustained = Math.max(0, offeredPerSecond - growth);
  const failedShareMax =
    sustained > 0 ? Math.max(FAILED_SHARE_MAX, 1 - limit / sustained) : FAILED_SHARE_MAX;
  const share = judgeShare(failures, Math.min(failedShareMax, 0.999), random);
  const { samples, samplesNeeded, hits, low, high } = share;
  if (samples === 0) return { ...notTested(row, 'No request completed.'), verdict: share.verdict };
  const rate = (failed: number): number => roundTo(sustained * (1 - failed), 3);
  const measured = rate(hits / samples);
  const summary = `Offered rate: ${formatNumber(offeredPerSecond, 2)} requests/s; ${formatNumber(measured, 2)} requests/s succeeded.`;
  const isTooLow = sustained < limit * (1 - FAILED_SHARE_MAX);
  const tooLow =
    growth > 0
      ? `A backlog grew by ${formatNumber(growth, 1)} requests per second.`
      : `The offered rate was only ${formatNumber(offeredPerSecond, 2)} requests/s.`;
  const verdict = !isTooLow ? share.verdict : growth > 0 ? 'FAIL' : 'NOT PROVEN';
  return {
    ...row,
    measured,
    bound95: rate(high),
    range95: [rate(high), rate(low)],
    samples,
    ...(!isTooLow && samplesNeeded !== undefined && { samplesNeeded }),
    verdict,
    reason: withReservation(summary, isTooLow ? tooLow : share.reservation),
  };
}
