/** Passed and failed samples. */
export interface Counts {
  passed: number;
  failed: number;
}

/** Samples of the same kind in two runs, such as those of a scenario. */
export interface Stratum {
  before: Counts;
  after: Counts;
}

/** A difference with a larger p-value may be chance. */
export const CHANCE_P_MAX = 0.05;

/** The result of an exact test. */
export interface ExactTest {
  /** How probable a difference at least as unlikely as this one is if nothing changed. */
  p: number;
  /** The smallest p-value that these numbers of passed and failed samples allow. */
  smallestP: number;
  /** Passed samples after, minus those expected if nothing changed. */
  shift: number;
}

/** The probabilities of `from`, `from + 1`, … */
interface Distribution {
  from: number;
  probabilities: Float64Array;
}

/** Values that are less probable than this part of the most probable one are left out. */
const NEGLIGIBLE = 1e-18;

/**
 * Tests whether the pass rates of two runs differ, with the two-sided exact conditional test over all strata:
 * Fisher's exact test if there is one stratum, the exact form of McNemar's test if each has one sample in
 * each run. Pass rates may differ between strata. Without samples, the p-value is 1.
 */
export function testDifference(strata: readonly Stratum[]): ExactTest {
  const total = strata.map(distributePassed).reduce(convolve, {
    from: 0,
    probabilities: Float64Array.of(1),
  });
  const { from, probabilities } = total;
  const passed = strata.reduce((sum, { after }) => sum + after.passed, 0);
  const sum = probabilities.reduce((left, right) => left + right, 0);
  const pOf = (observed: number): number => {
    const unlikely = probabilities.filter((each) => each <= observed * (1 + 1e-7));
    return Math.min(1, unlikely.reduce((left, right) => left + right, 0) / sum);
  };
  const mean = probabilities.reduce((left, each, nth) => left + each * (from + nth), 0) / sum;
  return {
    p: pOf(probabilities[passed - from] ?? 0),
    smallestP: pOf(Math.min(probabilities[0] ?? 1, probabilities.at(-1) ?? 1)),
    shift: passed - mean,
  };
}

/**
 * Returns the distribution of the passed samples of a stratum in the later run if nothing changed:
 * the later samples are then drawn from all samples of the stratum (hypergeometric distribution).
 */
function distributePassed({ before, after }: Stratum): Distribution {
  const size = after.passed + after.failed;
  const passed = before.passed + after.passed;
  const total = size + before.passed + before.failed;
  const [low, high] = [Math.max(0, size + passed - total), Math.min(size, passed)];
  // Relative to the most probable number, so that none overflows.
  const mode = Math.min(high, Math.max(low, Math.floor(((size + 1) * (passed + 1)) / (total + 2))));
  const ratioUp = (k: number): number =>
    ((size - k) * (passed - k)) / ((k + 1) * (total - size - passed + k + 1));
  const [up, down]: [number[], number[]] = [[], []];
  for (let k = mode, weight = 1; k < high && weight > NEGLIGIBLE; k += 1) {
    weight *= ratioUp(k);
    up.push(weight);
  }
  for (let k = mode, weight = 1; k > low && weight > NEGLIGIBLE; k -= 1) {
    weight /= ratioUp(k - 1);
    down.push(weight);
  }
  const weights = [...down.reverse(), 1, ...up];
  const sum = weights.reduce((left, right) => left + right, 0);
  const probabilities = Float64Array.from(weights, (weight) => weight / sum);
  return { from: mode - down.length, probabilities };
}

/** Returns the distribution of the sum of two independent numbers. */
function convolve(left: Distribution, right: Distribution): Distribution {
  const [ofLeft, ofRight] = [left.probabilities, right.probabilities];
  const sums = new Float64Array(ofLeft.length + ofRight.length - 1);
  // Millions of products in large runs: loops over indexes are several times as fast as iterators.
  for (let nth = 0; nth < ofLeft.length; nth += 1) {
    const probability = ofLeft[nth] ?? 0;
    for (let offset = 0; offset < ofRight.length; offset += 1) {
      sums[nth + offset] = (sums[nth + offset] ?? 0) + probability * (ofRight[offset] ?? 0);
    }
  }
  const least = sums.reduce((max, each) => Math.max(max, each), 0) * NEGLIGIBLE;
  const first = sums.findIndex((each) => each > least);
  const last = sums.findLastIndex((each) => each > least);
  return { from: left.from + right.from + first, probabilities: sums.slice(first, last + 1) };
}
