import type { LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { formatCount, formatDuration, formatNumber } from '../../src/report-kit/format.ts';
import { findPercentileRange } from './binomial.ts';
import type { Block } from '../record/blocks.ts';
import { judgeShare } from './share.ts';
import { withReservation, type TargetRow } from './targets.ts';

/** Response times of a stream, as far as a verdict needs them. */
export interface ResponseTimes {
  count: number;
  /** Returns the value at a rank, 1 for the smallest; null when there are no samples. */
  atRank(rank: number): number | null;
  percentile(percentile: number): number | null;
  /** Samples, and those that missed the target, by stretches of time. */
  misses: readonly Block[];
}

/**
 * Judges response times at a percentile: "p99 under 5 s" means "at most 1% take 5 s or longer". The
 * reason also states the strict reading, which counts every miss.
 */
export function judgeLatency(
  row: TargetRow,
  times: ResponseTimes,
  percentile: number,
  random: Random,
): LoadTarget {
  const { verdict, hits, samples, samplesNeeded, reservation } = judgeShare(
    times.misses,
    1 - percentile / 100,
    random,
  );
  const range = findPercentileRange(percentile, times.count, (rank) => times.atRank(rank));
  const measured = times.percentile(percentile);
  const slowest = formatDuration(times.atRank(times.count) ?? 0);
  const strict =
    hits === 0
      ? `All ${formatCount(samples, 'response')} met the target; the slowest took ${slowest}.`
      : `${formatNumber(hits)} of ${formatCount(samples, 'response')} missed the target; the slowest took ${slowest}.`;
  const reason =
    samples === 0
      ? 'No response time was measured.'
      : withReservation(
          `The p${percentile} is ${formatDuration(measured ?? 0)}. ${strict}`,
          reservation,
        );
  return {
    ...row,
    measured,
    bound95: range[1],
    range95: range,
    samples,
    ...(samplesNeeded !== undefined && { samplesNeeded }),
    verdict,
    reason,
  };
}
