import { CHANCE_P_MAX, testDifference, type ExactTest, type Stratum } from './exact-test.ts';

/** What two runs show together and in their parts, such as scenarios. */
export interface Differences {
  /** The p-value of the runs: adjusted, because both the whole and the parts are tested. */
  p: number;
  /** -1 if all samples together show a drop, 1 if they show a rise, 0 if their difference may be chance. */
  direction: number;
  /** The p-value of each part, adjusted for the number of parts. Never smaller than that of the runs. */
  partPs: readonly number[];
}

/** The share of the 5% of false alarms for the test of all samples; the tests of the parts have the rest. */
const WHOLE_SHARE = 0.5;

/**
 * Decides which differences are more than chance. If nothing changed, fewer than 5% of comparisons show any
 * difference, in the runs or in a part; if some parts changed, fewer than 5% show one in another part.
 *
 * The runs differ if all their samples differ, or if a part differs so much that it shows among all parts.
 * Only then can parts differ (a closed test).
 */
export function findDifferences(
  strata: readonly Stratum[],
  parts: readonly Stratum[] = strata,
): Differences {
  const whole = testDifference(strata);
  const isOnePart = strata === parts && parts.length === 1;
  if (isOnePart) return toDifferences(whole, whole.p, [whole.p]);
  const tests = parts.map((part) => testDifference([part]));
  const count = countPossible(tests);
  // The numbers of passed samples are given in all of these tests, so they may decide how the 5% are shared.
  const canPartsDiffer = tests.some(
    ({ smallestP }) => smallestP * count <= CHANCE_P_MAX * (1 - WHOLE_SHARE),
  );
  const wholeP = Math.min(1, whole.p / (canPartsDiffer ? WHOLE_SHARE : 1));
  const adjusted = tests.map(({ p }) => Math.min(1, p * count));
  const ofParts = strata.length === 0 ? 1 : 1 - WHOLE_SHARE;
  const p = Math.min(wholeP, ...adjusted.map((each) => each / ofParts));
  return toDifferences(
    { ...whole, p: wholeP },
    p,
    adjusted.map((each) => Math.max(p, each)),
  );
}

const toDifferences = (whole: ExactTest, p: number, partPs: readonly number[]): Differences => ({
  p,
  partPs,
  direction: whole.p <= CHANCE_P_MAX ? Math.sign(whole.shift) : 0,
});

/**
 * Returns the factor for p-values so that, if nothing changed, the smallest is below 5% in
 * fewer than 5% of the cases (Tarone's correction). Tests whose p-values can't be that small, such as those in
 * which all samples passed, do not count.
 */
function countPossible(tests: readonly ExactTest[]): number {
  let count = 1;
  while (tests.filter(({ smallestP }) => smallestP <= CHANCE_P_MAX / count).length > count) {
    count += 1;
  }
  return count;
}
