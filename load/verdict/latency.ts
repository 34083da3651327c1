import type { LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { count, seconds } from './amounts.ts';
import { rankAbove, rankBelow } from './binomial.ts';
import type { Block } from './bootstrap.ts';
import { judgeShare } from './share.ts';
import type { Row } from './targets.ts';

/** Response times of a stream, as far as a verdict needs them. */
export interface ResponseTimes {
  count: number;
  /** The value of a rank, 1 for the smallest; null of none. */
  atRank(rank: number): number | null;
  percentile(percentile: number): number | null;
  /** Samples, and those beyond the target, by stretches of time. */
  misses: readonly Block[];
}

/**
 * Judges response times at a percentile: "p99 under 5 s" is "at most 1 % take 5 s or longer". The
 * reason says the strict reading, too: how many of all.
 */
export function judgeLatency(
  row: Row,
  times: ResponseTimes,
  percentile: number,
  chance: Random,
): LoadTarget {
  const { verdict, hits, samples, because } = judgeShare(
    times.misses,
    1 - percentile / 100,
    chance,
  );
  const above = rankAbove(percentile, times.count);
  const below = rankBelow(percentile, times.count);
  const range: [number | null, number | null] = [
    below === undefined ? null : times.atRank(below),
    above === undefined ? null : times.atRank(above),
  ];
  const measured = times.percentile(percentile);
  const slowest = times.atRank(times.count);
  const strict =
    hits === 0
      ? `All ${count(samples, 'answer')} came in time, the slowest after ${seconds(slowest ?? 0)}`
      : `${hits} of ${samples} answers missed it, the slowest took ${seconds(slowest ?? 0)}`;
  const judged = `p${percentile} is ${seconds(measured ?? 0)}`;
  const reason =
    samples === 0
      ? 'No answer came whose time could be taken.'
      : `${judged}. ${strict}.${because === undefined ? '' : ` Not proven: ${because}.`}`;
  return { ...row, measured, bound95: range[1], range95: range, samples, verdict, reason };
}
