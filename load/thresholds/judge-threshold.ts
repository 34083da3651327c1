import type { InFlightTrend, LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { formatDuration, formatNumber, formatShare } from '../../src/report-kit/format.ts';
import { roundTo } from '../../src/platform/round.ts';
import { sumBlocks, type Block } from '../record/blocks.ts';
import { judgeLatency } from '../verdict/latency.ts';
import type { StreamMeasurements } from '../verdict/measurements.ts';
import { judgeShare, FAILED_SHARE_MAX, toPercent } from '../verdict/share.ts';
import { estimate, notTested, reportTarget, type Decision } from '../verdict/target.ts';
import type { Threshold } from './threshold.ts';

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
      const { response, breaches } = measured;
      return percentile === 'max'
        ? judgeSlowest(threshold, breaches, response.atRank(response.count), 'response')
        : judgeLatency(threshold.row, { response, misses: breaches }, percentile, random);
    }
    case 'error_rate':
      return judgeErrorRate(threshold, measured.failures, 'request', random);
    case 'rate':
      return judgeRate(threshold, measured, random);
  }
}

/** Judges the slowest response, which is observed, not estimated, and so has no bounds. */
export function judgeSlowest(
  { row }: Threshold,
  breaches: readonly Block[],
  slowestMs: number | null,
  noun: string,
): LoadTarget {
  const samples = sumBlocks(breaches, 'samples');
  const misses = sumBlocks(breaches, 'hits');
  const figures = estimate(row, slowestMs, [null, null]);
  if (samples === 0) {
    const decision: Decision = { verdict: 'NOT PROVEN', samples };
    return reportTarget(row, figures, decision, 'No response time was measured.');
  }
  const outcome = slowestMs === null ? 'had no result' : `took ${formatDuration(slowestMs)}`;
  return reportTarget(
    row,
    figures,
    { verdict: misses > 0 ? 'FAIL' : 'PASS', samples },
    `The slowest ${noun} of ${formatNumber(samples)} ${outcome}; ${formatNumber(misses)} missed the limit of ${formatDuration(row.target)}.`,
  );
}

/** Judges the share of requests or calls that failed. */
export function judgeErrorRate(
  { row }: Threshold,
  failures: readonly Block[],
  noun: string,
  random: Random,
): LoadTarget {
  const share = judgeShare(failures, row.target / 100, random);
  const { verdict, samples, hits, low, high } = share;
  if (samples === 0) return { ...notTested(row, `No ${noun} completed.`), verdict };
  return reportTarget(
    row,
    estimate(row, toPercent(hits / samples), [toPercent(low), toPercent(high)]),
    share,
    `${formatNumber(hits)} of ${formatNumber(samples)} ${noun}s failed (${formatShare(hits / samples)}).`,
  );
}

/** Judges the rate of successful requests, minus the growth of a backlog. */
function judgeRate(
  { row }: Threshold,
  { failures, offeredPerSecond, trend }: ThresholdMeasurements,
  random: Random,
): LoadTarget {
  const growth = trend?.rising ? trend.perSecond : 0;
  const sustained = Math.max(0, offeredPerSecond - growth);
  const failedShareMax =
    sustained > 0 ? Math.max(FAILED_SHARE_MAX, 1 - row.target / sustained) : FAILED_SHARE_MAX;
  const share = judgeShare(failures, Math.min(failedShareMax, 0.999), random);
  const { verdict, samples, hits, low, high } = share;
  if (samples === 0) return { ...notTested(row, 'No request completed.'), verdict };
  const rate = (failedShare: number): number => roundTo(sustained * (1 - failedShare), 3);
  const measured = rate(hits / samples);
  const isTooLow = sustained < row.target * (1 - FAILED_SHARE_MAX);
  const offered = `${formatNumber(offeredPerSecond, 2)} requests/s`;
  const tooLow: Decision =
    growth > 0
      ? {
          verdict: 'FAIL',
          samples,
          reservation: `A backlog grew by ${formatNumber(growth, 1)} requests per second.`,
        }
      : { verdict: 'NOT PROVEN', samples, reservation: `The offered rate was only ${offered}.` };
  return reportTarget(
    row,
    estimate(row, measured, [rate(high), rate(low)]),
    isTooLow ? tooLow : share,
    `Offered rate: ${offered}; ${formatNumber(measured, 2)} requests/s succeeded.`,
  );
}
