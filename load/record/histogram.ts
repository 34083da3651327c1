import { build, type Histogram } from 'hdr-histogram-js';
import type { LatencySummary } from '../../src/contract/index.ts';

/** A histogram of durations in microseconds, with three significant digits. */
export interface Durations {
  record(ms: number): void;
  readonly count: number;
  /** Returns the value at a rank in milliseconds, 1 for the smallest; null if the histogram is empty. */
  atRank(rank: number): number | null;
  /** Returns a percentile in milliseconds; null if the histogram is empty. */
  percentile(percentile: number): number | null;
  summary(): LatencySummary;
}

/** Creates an empty histogram that grows as needed. */
export function createHistogram(): Durations {
  const histogram: Histogram = build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    numberOfSignificantValueDigits: 3,
    autoResize: true,
    useWebAssembly: false,
  });
  let sumMs = 0;
  let maxMs = 0;
  const percentile = (percent: number): number | null =>
    // The upper bound of a histogram bucket is up to 0.1% above the value.
    histogram.totalCount === 0
      ? null
      : rounded(Math.min(maxMs, histogram.getValueAtPercentile(percent) / 1000));
  return {
    record(ms) {
      histogram.recordValue(Math.max(0, Math.round(ms * 1000)));
      sumMs += ms;
      maxMs = Math.max(maxMs, ms);
    },
    get count() {
      return histogram.totalCount;
    },
    atRank: (rank) => percentile((rank / Math.max(1, histogram.totalCount)) * 100),
    percentile,
    summary: () => ({
      p50: percentile(50),
      p90: percentile(90),
      p99: percentile(99),
      p999: percentile(99.9),
      max: histogram.totalCount === 0 ? null : rounded(maxMs),
      mean: histogram.totalCount === 0 ? null : rounded(sumMs / histogram.totalCount),
    }),
  };
}

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;
