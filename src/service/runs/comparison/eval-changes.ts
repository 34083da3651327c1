import type { RunChange } from '../../../contract/index.ts';
import { formatCount, formatNumber } from '../../../report-kit/format.ts';
import type { EvalCounts } from '../../store/run-sums.ts';
import { findDifferences } from './clear-differences.ts';
import type { Counts, Stratum } from './exact-test.ts';
import { decideChange } from './run-comparison.ts';
import { canShow } from './sample-size.ts';
import { formatP, judgeChange, type JudgedChange } from './scenario-changes.ts';

/** A version of an eval in two production runs. */
export interface ComparedEval extends JudgedChange {
  id: string;
  name: string;
  version: string;
  before: EvalCounts | undefined;
  after: EvalCounts | undefined;
}

/** Two production runs: the verdict about the runs, then the evals. */
export interface ComparedEvals {
  verdict: RunChange;
  sentence: string;
  rows: ComparedEval[];
}

/** The outcomes of a run, and how many of its sessions have no failed eval. */
export interface EvaluatedRun {
  evals: readonly EvalCounts[];
  sessions: Counts;
}

/**
 * Compares two production runs, as a whole and by version of an eval. The sessions are compared only if the
 * same versions of the same evals scored them.
 */
export function compareEvals(before: EvaluatedRun, after: EvaluatedRun): ComparedEvals {
  const pairs = pairEvals(before.evals, after.evals);
  const isSame = pairs.every((pair) => pair.before && pair.after);
  const sessions: Stratum = { before: before.sessions, after: after.sessions };
  const strata = isSame && isJudged(before.sessions) && isJudged(after.sessions) ? [sessions] : [];
  const comparable = pairs.flatMap((pair) => toStratum(pair) ?? []);
  const differences = findDifferences(strata, comparable);
  let nth = 0;
  const rows = pairs.map((pair): ComparedEval => {
    const stratum = toStratum(pair);
    if (!stratum)
      return { ...pair, change: 'not_comparable', p: null, reason: explain(pair, pairs) };
    const p = differences.partPs[nth] ?? 1;
    nth += 1;
    return { ...pair, ...judgeChange(stratum, p) };
  });
  const isPossible = [...strata, ...comparable].some(({ before: earlier, after: later }) =>
    canShow([[earlier.passed + earlier.failed, later.passed + later.failed]]),
  );
  const verdict = isPossible ? decideChange(differences.direction, rows) : 'not_comparable';
  const sentence = describe(verdict, { rows, sessions, isSame, p: differences.p });
  const rise = ({ before: earlier, after: later }: ComparedEval): number =>
    rateOf(later) - rateOf(earlier);
  return { verdict, sentence, rows: rows.sort((left, right) => rise(left) - rise(right)) };
}

type EvalPair = Omit<ComparedEval, keyof JudgedChange>;

function pairEvals(before: readonly EvalCounts[], after: readonly EvalCounts[]): EvalPair[] {
  const keyOf = ({ id, version }: EvalCounts): string => JSON.stringify([id, version]);
  const [earlier, later] = [before, after].map(
    (evals) => new Map(evals.map((counts) => [keyOf(counts), counts])),
  );
  // An eval may have been renamed between the runs.
  const newest = new Map([...before, ...after].map((counts) => [keyOf(counts), counts]));
  return Array.from(newest, ([key, { id, name, version }]) => ({
    id,
    name,
    version,
    before: earlier?.get(key),
    after: later?.get(key),
  }));
}

const isJudged = (counts: Counts | undefined): counts is Counts =>
  counts !== undefined && counts.passed + counts.failed > 0;

const rateOf = (counts: Counts | undefined): number =>
  isJudged(counts) ? counts.passed / (counts.passed + counts.failed) : 0;

const toStratum = ({ before, after }: EvalPair): Stratum | undefined =>
  isJudged(before) && isJudged(after) ? { before, after } : undefined;

function explain(pair: EvalPair, pairs: readonly EvalPair[]): string {
  const { id, before, after } = pair;
  if (before && after) return `only errors ${isJudged(before) ? 'after' : 'before'}`;
  const isEdited = pairs.some((other) => other.id === id && other !== pair);
  return `${isEdited ? 'edited: this version ' : ''}only ${before ? 'before' : 'after'}`;
}

function describe(
  verdict: RunChange,
  {
    rows,
    sessions: { before, after },
    isSame,
    p,
  }: { rows: readonly ComparedEval[]; sessions: Stratum; isSame: boolean; p: number },
): string {
  const listed = (['regressed', 'improved'] as const).flatMap((change) => {
    const count = rows.filter((row) => row.change === change).length;
    return count === 0 ? [] : [`${formatCount(count, 'eval')} ${change}`];
  });
  const share = ({ passed, failed }: Counts): string =>
    `${formatNumber(passed)} of ${formatNumber(passed + failed)}`;
  const evidence = verdict === 'not_comparable' ? '' : ` (${formatP(p)})`;
  return [
    `${listed.length === 0 ? 'No single eval changed clearly' : listed.join(', ')}.`,
    `Sessions without a failed eval: ${share(before)} before, ${share(after)} after` +
      (isSame
        ? `${evidence}.`
        : '. They are not compared, because the evals or their versions differ.'),
    'This also counts evals that are not required.',
  ].join(' ');
}
