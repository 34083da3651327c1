/**
 * How many samples a comparison needs. The formulas are those for Fisher's exact test (normal approximation
 * with continuity correction, Casagrande, Pike, and Smith 1978).
 */
import { findDifferences } from './clear-differences.ts';
import { CHANCE_P_MAX } from './exact-test.ts';

/** Quantiles of the normal distribution: two-sided p-values of 5%, and of 2.5% (see `WHOLE_SHARE`); a power of 80%. */
const Z_CHANCE = { alone: 1.96, amongOthers: 2.241 };
const Z_POWER = 0.842;

/**
 * Returns how many samples of so many scenarios each run needs, together, to show the difference of two pass
 * rates in 4 of 5 comparisons.
 */
export function samplesToShow(before: number, after: number, scenarios: number): number {
  const difference = Math.abs(before - after);
  if (difference === 0) return Infinity;
  const mean = (before + after) / 2;
  const spread =
    (scenarios === 1 ? Z_CHANCE.alone : Z_CHANCE.amongOthers) * Math.sqrt(2 * mean * (1 - mean)) +
    Z_POWER * Math.sqrt(before * (1 - before) + after * (1 - after));
  const uncorrected = (spread / difference) ** 2;
  // Two pass rates of 0 and 1 have no spread.
  if (uncorrected === 0) return 1;
  return (uncorrected / 4) * (1 + Math.sqrt(1 + 4 / (uncorrected * difference))) ** 2;
}

/** Returns the smallest drop of a pass rate that runs with so many samples show in 4 of 5 comparisons. */
export function smallestDrop(
  before: number,
  samples: number,
  scenarios: number,
): number | undefined {
  if (before === 0 || samplesToShow(before, 0, scenarios) > samples) return undefined;
  let [hidden, shown] = [0, before];
  while (shown - hidden > 0.001) {
    const middle = (hidden + shown) / 2;
    if (samplesToShow(before, before - middle, scenarios) > samples) hidden = middle;
    else shown = middle;
  }
  return shown;
}

/** Returns whether so many samples of each stratum can show a difference, were it as large as possible. */
export function canShow(sizes: readonly (readonly [before: number, after: number])[]): boolean {
  const strata = sizes.map(([before, after]) => ({
    before: { passed: before, failed: 0 },
    after: { passed: 0, failed: after },
  }));
  return findDifferences(strata).p <= CHANCE_P_MAX;
}
