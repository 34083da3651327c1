import type {
  ComparedScenario,
  ScenarioChange,
  ScenarioResult,
  ScenarioStanding,
} from '../../../contract/index.ts';
import { formatList } from '../../../report-kit/format.ts';
import { CHANCE_P_MAX, type Stratum } from './exact-test.ts';
import { canShow } from './sample-size.ts';

/** A scenario in two runs. */
export interface ScenarioPair {
  id: string;
  before: ScenarioResult | undefined;
  now: ScenarioResult | undefined;
}

/** A scenario whose samples count in a comparison. */
export interface ComparablePair extends ScenarioPair {
  before: ScenarioResult;
  now: ScenarioResult;
}

const CHANGES_BY_IMPORTANCE: readonly ScenarioChange[] = [
  'regressed',
  'improved',
  'unclear',
  'not_comparable',
  'new',
  'gone',
  'same',
];

/** Returns the scenarios of two runs, those of the later run first. */
export function pairScenarios(
  results: readonly ScenarioResult[],
  earlier: readonly ScenarioResult[],
): ScenarioPair[] {
  const ids = new Set([...results, ...earlier].map(({ scenario_id: id }) => id));
  const find = (all: readonly ScenarioResult[], id: string): ScenarioResult | undefined =>
    all.find(({ scenario_id: each }) => each === id);
  return Array.from(ids, (id) => ({ id, before: find(earlier, id), now: find(results, id) }));
}

/** Returns why the samples of a scenario say nothing about a change of the agent; undefined if they do. */
export function findObstacle({ before, now }: ScenarioPair): string | undefined {
  if (!before) return 'not in the earlier run';
  if (!now) return 'not in this run';
  const edited = listEditedEvals(before, now);
  if (edited.length > 0) return `edited: ${formatList(edited, EVALS_MAX)}`;
  if (before.passed + before.failed === 0) return 'undecided before';
  return now.passed + now.failed === 0 ? 'undecided now' : undefined;
}

/** Returns whether the evals of a scenario were edited between two runs that both have it. */
export const isEdited = ({ before, now }: ScenarioPair): boolean =>
  before !== undefined && now !== undefined && listEditedEvals(before, now).length > 0;

/** The most evals that a reason names. */
const EVALS_MAX = 3;

/** Lists the evals that only one of the runs has, or that were edited between them. */
function listEditedEvals(before: ScenarioResult, now: ScenarioResult): string[] {
  if (!before.evals || !now.evals) return [];
  const [earlier, later] = [before.evals, now.evals].map(
    (evals) => new Map(evals.map(({ id, version, required }) => [id, `${version} ${required}`])),
  );
  const ids = new Set([...(earlier?.keys() ?? []), ...(later?.keys() ?? [])]);
  return [...ids].filter((id) => earlier?.get(id) !== later?.get(id));
}

/** Returns the samples of a scenario in both runs. Undecided ones neither passed nor failed. */
export const toStratum = ({ before, now }: ComparablePair): Stratum => ({
  before: { passed: before.passed, failed: before.failed },
  after: { passed: now.passed, failed: now.failed },
});

/** Describes how a scenario changed. Its p-value is undefined if it has an obstacle. */
export function describeChange(pair: ScenarioPair, p: number | undefined): ComparedScenario {
  const { id, before, now } = pair;
  const row = { scenario_id: id, before: toStanding(before), now: toStanding(now) };
  if (!before || !now) return { ...row, change: before ? 'gone' : 'new', p: null };
  const reason = findObstacle(pair);
  if (reason !== undefined || p === undefined) {
    return { ...row, change: 'not_comparable', p: null, ...(reason !== undefined && { reason }) };
  }
  return { ...row, ...judgeChange(toStratum({ id, before, now }), p) };
}

/** What a comparison says about the samples of a scenario or of an eval. */
export type JudgedChange = Pick<ComparedScenario, 'change' | 'p' | 'reason'>;

/** Judges how samples changed by their p-value. */
export function judgeChange({ before, after }: Stratum, p: number): JudgedChange {
  const [size, sizeNow] = [before.passed + before.failed, after.passed + after.failed];
  const difference = after.passed / sizeNow - before.passed / size;
  if (difference === 0) return { change: 'same', p };
  if (!canShow([[size, sizeNow]])) {
    return { change: 'not_comparable', p: null, reason: describeSizes(size, sizeNow) };
  }
  if (p > CHANCE_P_MAX) return { change: 'unclear', p };
  return { change: difference < 0 ? 'regressed' : 'improved', p };
}

function describeSizes(size: number, sizeNow: number): string {
  if (size !== sizeNow) return `${size} and ${sizeNow} samples`;
  return size === 1 ? '1 sample each' : `${size} samples each`;
}

const toStanding = (result: ScenarioResult | undefined): ScenarioStanding =>
  result ? { verdict: result.verdict, passed: result.passed, samples: result.samples } : null;

/** Sorts changes: regressions first, and of the same change the largest drop first. */
export const sortChanges = (rows: readonly ComparedScenario[]): ComparedScenario[] =>
  [...rows].sort(
    (left, right) =>
      CHANGES_BY_IMPORTANCE.indexOf(left.change) - CHANGES_BY_IMPORTANCE.indexOf(right.change) ||
      riseOf(left) - riseOf(right),
  );

const rateOf = (standing: ScenarioStanding): number =>
  standing && standing.samples > 0 ? standing.passed / standing.samples : 0;

/** Returns the difference of the shares of samples that passed. */
export const riseOf = ({ before, now }: ComparedScenario): number => rateOf(now) - rateOf(before);

/** Describes the result of a scenario in one of two compared runs: `failed 1/3`. */
export const describeStanding = (standing: ScenarioStanding): string =>
  standing ? `${standing.verdict} ${standing.passed}/${standing.samples}` : 'absent';

/** Describes why a change counts, or why it does not: its p-value, or what makes it impossible to compare. */
export function describeEvidence({ change, p, reason }: JudgedChange): string {
  if (reason !== undefined) return reason;
  if (p === null || change === 'same') return '';
  return formatP(p);
}

/** Formats a p-value: `p = 0.012`. */
export function formatP(p: number): string {
  if (p < 0.001) return 'p < 0.001';
  // Rounded up, so that no value above the limit appears to be at it.
  return `p = ${(Math.ceil(p * 1000 - 1e-6) / 1000).toFixed(3)}`;
}

/** The names of changes in texts. */
export const changeNames: Readonly<Record<ScenarioChange, string>> = {
  regressed: 'regressed',
  improved: 'improved',
  unclear: 'may be chance',
  not_comparable: 'not comparable',
  new: 'new',
  gone: 'gone',
  same: 'same',
};
