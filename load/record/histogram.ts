import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';
import type { LatencySummary, ShardHistogram } from '../../src/contract/index.ts';
import { roundTo } from '../../src/platform/round.ts';

/** A histogram of durations in microseconds, with three significant digits. */
export interface Durations {
  record(ms: number): void;
  readonly count: number;
  /** Returns the value at a rank in milliseconds, 1 for the smallest; null if the histogram is empty. */
  atRank(rank: number): number | null;
  /** Returns a percentile in milliseconds; null if the histogram is empty. */
  percentile(percentile: number): number | null;
  summary(): LatencySummary;
  /** Returns the histogram in the form of a report. */
  encode(): ShardHistogram;
  /**
   * Adds the samples of another histogram. The result is exactly that of recording them here.
   *
   * @throws {Error} if the histogram is damaged.
   */
  add(other: ShardHistogram): void;
}

/** A histogram with three significant digits has a few kilobytes; a longer one is damaged. */
const ENCODED_LENGTH_MAX = 200_000;

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
  // A sum of whole numbers does not depend on their order.
  let sumUs = 0;
  let maxMs = 0;
  const percentile = (percent: number): number | null =>
    // The upper bound of a histogram bucket is up to 0.1% above the value.
    histogram.totalCount === 0
      ? null
      : roundTo(Math.min(maxMs, histogram.getValueAtPercentile(percent) / 1000), 3);
  return {
    record(ms) {
      const us = Math.max(0, Math.round(ms * 1000));
      histogram.recordValue(us);
      sumUs += us;
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
      max: histogram.totalCount === 0 ? null : roundTo(maxMs, 3),
      mean: histogram.totalCount === 0 ? null : roundTo(sumUs / histogram.totalCount / 1000, 3),
    }),
    encode: () => ({ encoded: encodeIntoCompressedBase64(histogram), sumUs, maxMs }),
    add(other) {
      if (other.encoded.length > ENCODED_LENGTH_MAX) throw new Error('The histogram is too long.');
      histogram.add(decodeFromCompressedBase64(other.encoded, 32, false));
      sumUs += other.sumUs;
      maxMs = Math.max(maxMs, other.maxMs);
    },
  };
}
