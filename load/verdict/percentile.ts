import { findPercentile } from '../../src/platform/percentile.ts';
import { findRankAbove, findRankBelow } from './binomial.ts';
import { estimate, type Estimate, type TargetRow } from './target.ts';

/** Times whose percentiles can be estimated. */
export interface Times {
  readonly count: number;
  /** Returns the time at a rank in milliseconds, 1 for the shortest; null if it is unknown. */
  atRank(rank: number): number | null;
  /** Returns a percentile in milliseconds; null if it is unknown. */
  percentile(percentile: number): number | null;
}

/** Returns measured times. An infinite one counts, but is unknown. */
export function timesOf(valuesMs: readonly number[]): Times {
  const sorted = valuesMs.toSorted((left, right) => left - right);
  const known = (ms: number | undefined): number | null =>
    ms === undefined || ms === Infinity ? null : ms;
  return {
    count: sorted.length,
    atRank: (rank) => known(sorted[rank - 1]),
    percentile: (percentile) => known(findPercentile(sorted, percentile)),
  };
}

/** Estimates a percentile of times. Without enough samples, a bound is null. */
export function estimatePercentile(row: TargetRow, times: Times, percentile: number): Estimate {
  const at = (rank: number | undefined): number | null =>
    rank === undefined ? null : times.atRank(rank);
  return estimate(row, times.percentile(percentile), [
    at(findRankBelow(percentile, times.count)),
    at(findRankAbove(percentile, times.count)),
  ]);
}
