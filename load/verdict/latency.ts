import type { LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { formatCount, formatDuration, formatNumber } from '../../src/report-kit/format.ts';
import type { ResponseTimes } from './measurements.ts';
import { estimatePercentile } from './percentile.ts';
import { judgeShare } from './share.ts';
import { reportTarget, type TargetRow } from './target.ts';

/**
 * Judges response times at a percentile: "p99 under 5 s" means "at most 1% take 5 s or longer". The
 * reason also states the strict reading, which counts every miss.
 */
export function judgeLatency(
  row: TargetRow,
  { response, misses }: ResponseTimes,
  percentile: number,
  random: Random,
): LoadTarget {
  const share = judgeShare(misses, 1 - percentile / 100, random);
  const figures = estimatePercentile(row, response, percentile);
  const { reservation, ...decision } = share;
  const { hits, samples } = share;
  if (samples === 0) {
    return reportTarget(row, figures, decision, 'No response time was measured.');
  }
  const responses = formatCount(samples, 'response');
  const strict =
    hits === 0
      ? `All ${responses} met the target`
      : `${formatNumber(hits)} of ${responses} missed the target`;
  const slowest = formatDuration(response.atRank(response.count) ?? 0);
  const summary = `The p${percentile} is ${formatDuration(figures.measured ?? 0)}. ${strict}; the slowest took ${slowest}.`;
  return reportTarget(row, figures, share, summary);
}
