/**
 * How many samples a comparison needs. The formulas are those for Fisher's exact test (normal approximation
 * with continuity correction, Casagrande, Pike, and Smith 1978).
 */
import { findDifferences } from './clear-differences.ts';
import { CHANCE_P_MAX, type Counts, type Stratum } from './exact-test.ts';

/** Quantiles of the normal distribution: two-sided p-values of 5%, and of 2.5% (see `WHOLE_SHARE`); a power of 80%. */
const Z_CHANCE = { alone: 1.96, amongOthers: 2.241 };
const Z_POWER = 0.842;

/**
 * Returns how many samples of all scenarios together each run needs to show the difference between
 * two pass rates in 4 of 5 comparisons.
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

/** Returns the smallest drop of a pass rate that 4 of 5 comparisons of such runs show. */
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

/** Returns whether these numbers of samples can show any difference, even the largest one. */
export function canShow(sizes: readonly (readonly [before: number, after: number])[]): boolean {
  return isShown(
    sizes.map(([before, after]) => ({
      before: { passed: before, failed: 0 },
      after: { passed: 0, failed: after },
    })),
  );
}

const isShown = (strata: readonly Stratum[]): boolean => findDifferences(strata).p <= CHANCE_P_MAX;

/** Resizes each scenario to a number of samples in both runs, and keeps the pass rates. */
function resize(strata: readonly Stratum[], samples: number): Stratum[] {
  const scale = ({ passed, failed }: Counts): Counts => {
    const scaled = Math.round((passed / (passed + failed)) * samples);
    return { passed: scaled, failed: samples - scaled };
  };
  return strata.map(({ before, after }) => ({ before: scale(before), after: scale(after) }));
}

/** The most samples of a scenario to suggest: the limit of --samples. */
export const SAMPLES_MAX = 1_000;

/** From this number on, only every tenth part more is tried, because each try takes longer. */
const EACH_TRIED_MAX = 30;

/**
 * Returns how many samples of each scenario, at least `least`, show a difference if all pass rates stay the
 * same; more than `SAMPLES_MAX` if no number up to it does.
 */
export function samplesToShowAgain(strata: readonly Stratum[], least: number): number {
  let samples = least;
  while (samples <= SAMPLES_MAX && !isShown(resize(strata, samples))) {
    samples += samples < EACH_TRIED_MAX ? 1 : Math.ceil(samples / 10);
  }
  return samples;
}

/**
 * Returns how many samples each scenario needs to show that one of them, which always passed, now
 * always fails, however often the others pass.
 */
export function samplesToShowReversal(scenarios: number): number {
  const half = { passed: 1, failed: 1 };
  const reversed = { before: { passed: 1, failed: 0 }, after: { passed: 0, failed: 1 } };
  const others = Array.from({ length: scenarios - 1 }, () => ({ before: half, after: half }));
  // Scenarios that pass half of the time vary most.
  return samplesToShowAgain([reversed, ...others], 1);
}
