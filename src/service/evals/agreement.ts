import type { ReviewCounts } from '../store/reviews.ts';

/** How far the outcomes of an eval agree with people. */
export interface Agreement {
  /** The reviewed outcomes, and those that a person marked right. */
  reviewed: number;
  right: number;
  /** Cohen's kappa, from -1 to 1; undefined if it says nothing: with few reviews, or one kind of outcome. */
  kappa: number | undefined;
}

/** With fewer reviews, kappa would mostly be chance. */
export const REVIEWS_MIN = 20;

/** Returns the agreement between an eval and people. An outcome marked wrong is the opposite to a person. */
export function measureAgreement({ pass, fail }: ReviewCounts): Agreement {
  const reviewed = pass.right + pass.wrong + fail.right + fail.wrong;
  const kappa = computeKappa([
    [pass.right, pass.wrong],
    [fail.wrong, fail.right],
  ]);
  const right = pass.right + fail.right;
  return { reviewed, right, kappa: reviewed < REVIEWS_MIN ? undefined : kappa };
}

/** Adds up reviews. */
export function sumReviews(counts: readonly ReviewCounts[]): ReviewCounts {
  const sum = (outcome: 'pass' | 'fail', mark: 'right' | 'wrong'): number =>
    counts.reduce((total, each) => total + each[outcome][mark], 0);
  return {
    pass: { right: sum('pass', 'right'), wrong: sum('pass', 'wrong') },
    fail: { right: sum('fail', 'right'), wrong: sum('fail', 'wrong') },
  };
}

/**
 * Returns Cohen's kappa of two raters: the agreement beyond what chance gives, 1 if they agree on every
 * item, 0 for chance. Undefined without items, or if chance alone gives complete agreement.
 * @param counts The items by the label of the first rater (row) and of the second one (column).
 */
export function computeKappa(counts: readonly (readonly number[])[]): number | undefined {
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  const rows = counts.map(sum);
  const total = sum(rows);
  if (total === 0) return undefined;
  const columns = rows.map((_, label) => sum(counts.map((row) => row[label] ?? 0)));
  const observed = sum(rows.map((_, label) => counts[label]?.[label] ?? 0)) / total;
  const expected = sum(rows.map((row, label) => row * (columns[label] ?? 0))) / total ** 2;
  return expected === 1 ? undefined : (observed - expected) / (1 - expected);
}
