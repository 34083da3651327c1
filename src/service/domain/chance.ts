/** Passed and failed samples. */
export interface Counts {
  passed: number;
  failed: number;
}

/** A difference with a larger p-value may be chance. */
export const CHANCE_P_MAX = 0.05;

/**
 * Returns the two-sided p-value of Fisher's exact test: how probable a difference at least as unlikely as
 * this one is if both groups have the same pass rate. 1 without samples.
 */
export function computeChance(before: Counts, after: Counts): number {
  const size = before.passed + before.failed;
  const passed = before.passed + after.passed;
  const total = size + after.passed + after.failed;
  const [low, high] = [Math.max(0, size + passed - total), Math.min(size, passed)];
  // Probabilities relative to that of the most probable table, so that none overflows.
  const mode = Math.min(high, Math.max(low, Math.floor(((size + 1) * (passed + 1)) / (total + 2))));
  const ratioUp = (k: number): number =>
    ((size - k) * (passed - k)) / ((k + 1) * (total - size - passed + k + 1));
  const weights = new Map([[mode, 1]]);
  for (let k = mode, weight = 1; k < high && weight > 0; k += 1) {
    weight *= ratioUp(k);
    weights.set(k + 1, weight);
  }
  for (let k = mode, weight = 1; k > low && weight > 0; k -= 1) {
    weight /= ratioUp(k - 1);
    weights.set(k - 1, weight);
  }
  // Beyond the smallest number, a weight has become 0.
  const observed = weights.get(before.passed) ?? 0;
  let [sum, asUnlikely] = [0, 0];
  for (const weight of weights.values()) {
    sum += weight;
    if (weight <= observed * (1 + 1e-7)) asUnlikely += weight;
  }
  return Math.min(1, asUnlikely / sum);
}
