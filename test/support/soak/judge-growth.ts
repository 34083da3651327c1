/** Judges whether a measure of a long run grows. */
import { estimateTrend } from '../../../load/verdict/trend.ts';
import { findPercentile } from '../../../src/platform/percentile.ts';

/** The values of a measure that were taken between two samples. */
export interface Sample {
  /** Minutes or days since the start. */
  at: number;
  values: readonly number[];
}

/** What is measured, and how much it may grow. */
export interface Measure {
  name: string;
  unit: 'bytes' | 'ms' | 'count';
  /** The percentile of the values of a block of samples (default: the median). */
  percent?: number;
  /** Growth in the judged time that is tolerated: a share of the level, and at least a number. */
  tolerance: { share: number; least: number };
  /** What lets it grow by design. */
  growth?: Growth;
}

/** Growth by design. */
export interface Growth {
  /** The measure that it follows. */
  by: string;
  /** How much it may grow with each unit of that measure. */
  perUnitMax: number;
  reason: string;
}

export type GrowthVerdict = 'flat' | 'explained' | 'unexplained' | 'not proven';

/** The judgment of a measure. The growth is that in the judged time, with one-sided 95% bounds. */
export interface Judgment {
  name: string;
  unit: Measure['unit'];
  verdict: GrowthVerdict;
  level: number;
  growth: { estimate: number; low: number; high: number };
  tolerated: number;
  /** Growth for each unit of the measure that explains it. */
  perUnit?: number;
  reason?: string;
  /** The measure over the whole run, with its warm-up. */
  blocks: { at: number; value: number }[];
}

/** Enough points for narrow bounds, and enough samples in each for a percentile. */
const BLOCKS = 24;

/**
 * Judges measures by their samples after the warm-up: flat if the growth is certainly tolerated,
 * explained if it is certainly in proportion to the measure that explains it, unexplained if it is
 * certainly more, and not proven if the samples leave it open.
 */
export function judgeGrowth(
  measures: readonly Measure[],
  samples: ReadonlyMap<string, readonly Sample[]>,
  { from, to }: { from: number; to: number },
): Judgment[] {
  const trends = new Map(
    measures.map((measure) => {
      const blocks = formBlocks(samples.get(measure.name) ?? [], measure.percent ?? 50, from, to);
      const judged = blocks.filter(({ at }) => at > from).map(({ value }) => value);
      const { slope, low, high } = estimateTrend(judged);
      const steps = Math.max(1, judged.length - 1);
      const growth = { estimate: slope * steps, low: low * steps, high: high * steps };
      return [measure.name, { blocks, growth, level: findPercentile(judged, 50) ?? 0 }];
    }),
  );
  return measures.map(({ name, unit, tolerance, growth: design }) => {
    const { blocks = [], growth = UNKNOWN, level = 0 } = trends.get(name) ?? {};
    const tolerated = Math.max(tolerance.share * Math.abs(level), tolerance.least);
    const driver = design && trends.get(design.by)?.growth.estimate;
    const explained = design && driver ? design.perUnitMax * driver : 0;
    return {
      name,
      unit,
      verdict: decide(growth, tolerated, explained),
      level,
      growth,
      tolerated,
      ...(design && driver && { perUnit: growth.estimate / driver, reason: design.reason }),
      blocks,
    };
  });
}

const UNKNOWN: Judgment['growth'] = { estimate: 0, low: -Infinity, high: Infinity };

function decide(
  { low, high }: Judgment['growth'],
  tolerated: number,
  explained: number,
): GrowthVerdict {
  if (high <= tolerated) return 'flat';
  if (high <= tolerated + explained) return 'explained';
  return low > tolerated + explained ? 'unexplained' : 'not proven';
}

/**
 * Reduces samples to one value for each of equally long blocks, of which `BLOCKS` are judged; a block
 * without values is left out.
 */
function formBlocks(
  samples: readonly Sample[],
  percent: number,
  from: number,
  to: number,
): Judgment['blocks'] {
  const width = (to - from) / BLOCKS;
  const before = Math.floor(from / width);
  return Array.from({ length: before + BLOCKS }, (_, nth) => {
    const start = from + (nth - before) * width;
    const isLast = nth === before + BLOCKS - 1;
    const values = samples
      .filter(({ at }) => at >= start && (at < start + width || (isLast && at <= to)))
      .flatMap((sample) => sample.values);
    const value = findPercentile(values, percent);
    return value === undefined ? [] : { at: start + width / 2, value };
  }).flat();
}
