/** Exact one-sided bounds of a binomial share (Clopper-Pearson), and ranks that bound a percentile. */

/** The confidence level of every bound: wrong in at most one of twenty runs. */
export const CONFIDENCE = 0.95;

/** Returns the upper bound of a share after `hits` in `samples`; 1 when there are no samples. */
export function findUpperBound(hits: number, samples: number): number {
  if (samples <= 0 || hits >= samples) return 1;
  return solve((share) => probabilityOfAtMost(hits, samples, share) - (1 - CONFIDENCE));
}

/** Returns the lower bound of a share after `hits` in `samples`; 0 when there are no samples. */
export function findLowerBound(hits: number, samples: number): number {
  if (samples <= 0 || hits <= 0) return 0;
  return solve((share) => probabilityOfAtMost(hits - 1, samples, share) - CONFIDENCE);
}

/**
 * Returns the rank (1 is the smallest) of the sample that bounds a percentile from above at 95%;
 * undefined when there are too few samples: the 99th percentile needs 299.
 */
export function findRankAbove(percentile: number, samples: number): number | undefined {
  const share = percentile / 100;
  const isEnough = (rank: number): boolean =>
    probabilityOfAtMost(rank - 1, samples, share) >= CONFIDENCE;
  if (samples <= 0 || !isEnough(samples)) return undefined;
  let [low, high] = [1, samples];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the rank of the sample that bounds a percentile from below at 95%, or undefined. */
export function findRankBelow(percentile: number, samples: number): number | undefined {
  const mirrored = findRankAbove(100 - percentile, samples);
  return mirrored === undefined ? undefined : samples + 1 - mirrored;
}

/** Returns how many samples without a hit prove that a share is below `share`. */
export function countSamplesNeeded(share: number): number {
  return Math.ceil(Math.log(1 - CONFIDENCE) / Math.log1p(-share));
}

/** Finds the root of a function that falls between 0 and 1. */
function solve(falling: (share: number) => number): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (falling(middle) > 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Returns the probability of at most `hits` among `samples`, each a hit with probability `share`. */
export function probabilityOfAtMost(hits: number, samples: number, share: number): number {
  if (hits < 0) return 0;
  if (hits >= samples || share <= 0) return 1;
  if (share >= 1) return 0;
  return incompleteBeta(1 - share, samples - hits, hits + 1);
}

/** Computes the regularized incomplete beta function by its continued fraction. */
function incompleteBeta(x: number, a: number, b: number): number {
  const front = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  );
  // The fraction converges fast on one side of the mean; the other side is its mirror image.
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b;
}

/** Evaluates the continued fraction with Lentz's algorithm; the number of terms grows with the square root of the samples. */
function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  const atLeastTiny = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / atLeastTiny(1 - ((a + b) * x) / (a + 1));
  let product = d;
  for (let m = 1; m <= 100_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const term of [even, odd]) {
      d = 1 / atLeastTiny(1 + term * d);
      c = atLeastTiny(1 + term / c);
      change = d * c;
      product *= change;
    }
    if (Math.abs(change - 1) < 1e-12) break;
  }
  return product;
}

const LANCZOS: readonly number[] = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
];

function logGamma(value: number): number {
  const x = value - 1;
  const t = x + 7.5;
  const sum = LANCZOS.reduce((total, term, index) =>
    index === 0 ? total : total + term / (x + index),
  );
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(t) - t + Math.log(sum);
}
