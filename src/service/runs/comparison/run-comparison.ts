import type { ComparedScenario, RunChange, ScenarioResult } from '../../../contract/index.ts';
import { formatCount, formatNumber } from '../../../report-kit/format.ts';
import { findDifferences } from './clear-differences.ts';
import type { Counts, Stratum } from './exact-test.ts';
import {
  canShow,
  samplesToShow,
  samplesToShowAgain,
  samplesToShowReversal,
  SAMPLES_MAX,
  smallestDrop,
} from './sample-size.ts';
import {
  describeChange,
  findObstacle,
  formatP,
  isEdited,
  pairScenarios,
  sortChanges,
  toStratum,
  type ComparablePair,
  type ScenarioPair,
} from './scenario-changes.ts';

/** Two simulations: the verdict about the runs, then the scenarios. */
export interface ComparedRuns {
  verdict: RunChange;
  sentence: string;
  p: number | null;
  samplesNeeded?: number;
  rows: ComparedScenario[];
}

/** Compares the results of a run with those of an earlier one, as a whole and by scenario. */
export function compareRuns(
  results: readonly ScenarioResult[],
  earlier: readonly ScenarioResult[],
): ComparedRuns {
  const pairs = pairScenarios(results, earlier);
  const comparable = pairs.filter(isComparable);
  const strata = comparable.map(toStratum);
  const differences = findDifferences(strata);
  const ps = new Map(comparable.map(({ id }, nth) => [id, differences.partPs[nth]]));
  const rows = sortChanges(pairs.map((pair) => describeChange(pair, ps.get(pair.id))));
  const isPossible = strata.length > 0 && canShow(strata.map(sizesOf));
  const verdict = isPossible ? decideChange(differences.direction, rows) : 'not_comparable';
  const needed = verdict === 'no_difference' || verdict === 'not_comparable';
  const samplesNeeded = needed ? countSamplesNeeded(strata) : undefined;
  const omitted = pairs.filter((pair) => !isComparable(pair));
  const parts = [
    // With a direction of 0, a small p-value is that of a scenario.
    ...describeSessions(
      strata,
      isPossible && (differences.direction !== 0 || verdict === 'no_difference')
        ? differences.p
        : null,
    ),
    ...(isPossible
      ? describeVerdict(verdict, { differences, rows, strata })
      : describeSizes(strata)),
    ...describeSamplesNeeded(strata, samplesNeeded),
    ...describeOmitted(omitted),
  ];
  return {
    verdict,
    sentence: parts.join(' '),
    p: isPossible ? differences.p : null,
    rows,
    ...(samplesNeeded !== undefined && { samplesNeeded }),
  };
}

const isComparable = (pair: ScenarioPair): pair is ComparablePair =>
  findObstacle(pair) === undefined;

const sizeOf = ({ passed, failed }: Counts): number => passed + failed;

const sizesOf = ({ before, after }: Stratum): [number, number] => [sizeOf(before), sizeOf(after)];

/** Decides the verdict of two runs: a part that changed clearly counts like all sessions together. */
export function decideChange(
  direction: number,
  rows: readonly { change: ComparedScenario['change'] }[],
): RunChange {
  const isWorse = direction < 0 || rows.some(({ change }) => change === 'regressed');
  const isBetter = direction > 0 || rows.some(({ change }) => change === 'improved');
  if (isWorse && isBetter) return 'mixed';
  if (isWorse) return 'worse';
  return isBetter ? 'better' : 'no_difference';
}

/** The verdicts as headings have them. */
export const runChangeNames: Readonly<Record<RunChange, string>> = {
  worse: 'worse',
  better: 'better',
  mixed: 'better and worse',
  no_difference: 'no difference shown',
  not_comparable: 'not comparable',
};

const sum = (strata: readonly Stratum[], side: keyof Stratum): Counts => ({
  passed: strata.reduce((total, stratum) => total + stratum[side].passed, 0),
  failed: strata.reduce((total, stratum) => total + stratum[side].failed, 0),
});

/** Returns the mean pass rate before, and the mean difference, both weighted by samples. */
function meanRates(strata: readonly Stratum[]): { before: number; difference: number } {
  let [weights, before, difference] = [0, 0, 0];
  for (const stratum of strata) {
    const [size, sizeNow] = sizesOf(stratum);
    const weight = (size * sizeNow) / (size + sizeNow);
    const rate = stratum.before.passed / size;
    weights += weight;
    before += weight * rate;
    difference += weight * (stratum.after.passed / sizeNow - rate);
  }
  return { before: before / weights, difference: difference / weights };
}

function describeSessions(strata: readonly Stratum[], p: number | null): string[] {
  if (strata.length === 0) return [];
  const [before, after] = [sum(strata, 'before'), sum(strata, 'after')];
  const share = ({ passed }: Counts, size: number): string =>
    `${formatNumber(passed)} of ${formatCount(size, 'session')}`;
  const { difference } = meanRates(strata);
  const figures = [formatPoints(difference), ...(p === null ? [] : [formatP(p)])].join(', ');
  return [
    `${share(before, sizeOf(before))} passed before, ${formatNumber(after.passed)} of ` +
      `${formatNumber(sizeOf(after))} now (${figures}).`,
  ];
}

/** Formats the difference of two rates: `-8 points`. */
export function formatPoints(difference: number): string {
  const points = difference * 100;
  const text = formatNumber(points, Math.abs(points) < 10 && points % 1 !== 0 ? 1 : 0);
  return `${points > 0 ? '+' : ''}${text} ${Math.abs(points) === 1 ? 'point' : 'points'}`;
}

function describeVerdict(
  verdict: RunChange,
  {
    differences,
    rows,
    strata,
  }: {
    differences: { direction: number; p: number };
    rows: readonly ComparedScenario[];
    strata: readonly Stratum[];
  },
): string[] {
  const { direction, p } = differences;
  if (verdict === 'no_difference') {
    const isSame = meanRates(strata).difference === 0;
    return [...(isSame ? [] : ['That may be chance.']), ...describePower(strata)];
  }
  // The verdict and its p-value already say it of the only scenario.
  if (strata.length === 1) return [];
  const listed = (['regressed', 'improved'] as const).flatMap((change) => {
    const count = rows.filter((row) => row.change === change).length;
    return count === 0 ? [] : [`${formatCount(count, 'scenario')} ${change}`];
  });
  if (direction === 0) {
    return [
      `${listed.join(', ')} (${formatP(p)}), but all sessions together show no clear difference.`,
    ];
  }
  const together = `All sessions together got ${direction < 0 ? 'worse' : 'better'}`;
  return [
    listed.length === 0
      ? `${together}, but no single scenario shows it clearly.`
      : `${together}; ${listed.join(', ')}.`,
  ];
}

/** Says which drop runs of this size show. */
function describePower(strata: readonly Stratum[]): string[] {
  const { before } = meanRates(strata);
  if (before === 0) return [];
  const drop = smallestDrop(before, samplesPerRun(strata), strata.length);
  return [
    drop === undefined
      ? 'Runs of this size are too small to show even a drop to 0%.'
      : `Runs of this size show a drop of about ${formatNumber(Math.ceil(drop * 100))} points or more.`,
  ];
}

/** Returns the number of samples of two runs of equal size that show as much as these. */
const samplesPerRun = (strata: readonly Stratum[]): number =>
  strata
    .map(sizesOf)
    .reduce((total, [size, sizeNow]) => total + (2 * size * sizeNow) / (size + sizeNow), 0);

/**
 * Returns how many samples of each scenario show the differences that these show; undefined if nothing
 * differs and these could show something.
 */
function countSamplesNeeded(strata: readonly Stratum[]): number | undefined {
  if (strata.length === 0) return undefined;
  if (!strata.some(differs)) {
    return canShow(strata.map(sizesOf)) ? undefined : samplesToShowReversal(strata.length);
  }
  const { before, difference } = meanRates(strata);
  const total = difference === 0 ? 1 : samplesToShow(before, before + difference, strata.length);
  return samplesToShowAgain(strata, Math.ceil(total / strata.length));
}

/** Whether the pass rates of a scenario differ. */
const differs = ({ before, after }: Stratum): boolean =>
  before.passed * sizeOf(after) !== after.passed * sizeOf(before);

function describeSizes(strata: readonly Stratum[]): string[] {
  if (strata.length === 0) return ['No scenario can be compared.'];
  const sizes = new Set(strata.flatMap(sizesOf));
  const [size = 0] = sizes;
  const samples = sizes.size === 1 ? formatCount(size, 'sample') : 'So few samples';
  return [`${samples} of ${formatCount(strata.length, 'scenario')} can't show any difference.`];
}

function describeSamplesNeeded(strata: readonly Stratum[], samples: number | undefined): string[] {
  if (samples === undefined) return [];
  const aim = describeAim(strata);
  const count = samples > SAMPLES_MAX ? `more than ${formatNumber(SAMPLES_MAX)}` : String(samples);
  return [`${aim}, run ${count} samples of each scenario in both runs.`];
}

/** Describes the difference that the suggested number of samples shows. */
function describeAim(strata: readonly Stratum[]): string {
  if (meanRates(strata).difference !== 0) return 'To see a difference of this size';
  if (strata.some(differs)) return 'To see such changes of scenarios';
  return 'To see that a scenario which always passed now always fails';
}

function describeOmitted(omitted: readonly ScenarioPair[]): string[] {
  const inBoth = omitted.filter(({ before, now }) => before && now);
  const edited = inBoth.filter(isEdited).length;
  const counts = [
    [edited, 'whose evals were edited'],
    [inBoth.length - edited, 'without a passed or failed session in one of the runs'],
    [omitted.length - inBoth.length, 'in only one of the runs'],
  ] as const;
  const texts = counts
    .filter(([count]) => count > 0)
    .map(([count, text]) => `${formatCount(count, 'scenario')} ${text}`);
  return texts.length === 0 ? [] : [`Not compared: ${texts.join('; ')}.`];
}
