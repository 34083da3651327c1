import type { LoadTarget } from '../../src/contract/index.ts';

/** The part of a target that is known before anything was measured. */
export type TargetRow = Pick<
  LoadTarget,
  'id' | 'metric' | 'statement' | 'section' | 'target' | 'unit'
>;

/** A limit: a target of the specification, or a threshold of the user. */
export interface Limit {
  row: TargetRow;
  /** Whether a time that equals the limit misses it: "under 5 s", not "within 2 s". */
  excludesLimit?: boolean;
}

/** Returns whether a time misses a limit. */
export const isMiss = ({ row: { target }, excludesLimit }: Limit, ms: number): boolean =>
  excludesLimit ? ms >= target : ms > target;

/** Returns whether a smaller value is better: a time or an error rate. */
export const isLowerBetter = ({
  metric = '',
  unit,
}: Pick<LoadTarget, 'metric' | 'unit'>): boolean => unit === 'ms' || metric.endsWith('.error_rate');

/** Returns whether a target is about calls. Ids begin with their subject. */
export const isAboutCalls = ({ id }: Pick<LoadTarget, 'id'>): boolean => /^voice\b/.test(id);

/** A measured value and its 95% bounds. */
export type Estimate = Pick<LoadTarget, 'measured' | 'bound95' | 'range95'>;

/** Returns a measured value with its bounds. `range95` has the lower bound first. */
export function estimate(
  row: TargetRow,
  measured: number | null,
  range95: [low: number | null, high: number | null],
): Estimate {
  return { measured, bound95: isLowerBetter(row) ? range95[1] : range95[0], range95 };
}

/** A verdict, and what it is based on. */
export interface Decision extends Pick<LoadTarget, 'verdict' | 'samples'> {
  samplesNeeded?: number | undefined;
  /** A sentence that explains a NOT PROVEN verdict. */
  reservation?: string | undefined;
}

/** Returns a judged target. Its reason is the summary of the measurements, and the reservation. */
export function reportTarget(
  row: TargetRow,
  figures: Estimate,
  { verdict, samples, samplesNeeded, reservation }: Decision,
  summary: string,
): LoadTarget {
  return {
    ...row,
    ...figures,
    samples,
    ...(samplesNeeded !== undefined && { samplesNeeded }),
    verdict,
    reason: reservation === undefined ? summary : `${summary} ${reservation}`,
  };
}

/** Returns a target that was not tested. */
export const notTested = (row: TargetRow, reason: string): LoadTarget =>
  reportTarget(
    row,
    estimate(row, null, [null, null]),
    { verdict: 'NOT TESTED', samples: 0 },
    reason,
  );
