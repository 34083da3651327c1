import type {
  CheckComparison,
  CheckReport,
  RequirementVerdict,
  Verdict,
} from '../../src/contract/index.ts';
import { comparisonHeading, describeDifferences } from '../../src/report-kit/comparison.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { labeled, wrap, type Style, type TextLayout } from '../../src/report-kit/terminal.ts';
import { shortList, verdictName } from './summary.ts';

/** Verdicts that can be compared, from best to worst. The others mean "not judged". */
const severities: Partial<Record<Verdict, number>> = { pass: 0, note: 0, warn: 1, fail: 2 };

/**
 * Adds the differences from an earlier report. Requirements that this run did not select are omitted.
 * The verdict and the exit code stay the same.
 */
export function compareReports(
  report: CheckReport,
  earlier: CheckReport,
): CheckReport & { comparison: CheckComparison } {
  const before = rowsOf(earlier);
  const now = rowsOf(report);
  const comparison: CheckComparison = {
    startedAt: earlier.startedAt,
    differences: listDifferences(report, earlier),
    regressions: [],
    newFailures: [],
    fixes: [],
    stillFailing: [],
    firstJudged: [],
    onlyNow: [],
    onlyBefore: [],
    otherChanges: [],
    unchanged: [],
  };
  for (const id of new Set([...now.keys(), ...before.keys()])) {
    const row = now.get(id);
    if (row?.verdict === 'not_selected') continue;
    comparison[classifyChange(before.get(id), row)].push(id);
  }
  const sentence = describeFirstJudged(comparison.firstJudged, now);
  return { ...report, comparison: { ...comparison, ...(sentence !== undefined && { sentence }) } };
}

/** Counts the requirements that could be judged for the first time; undefined without any. */
function describeFirstJudged(
  ids: readonly string[],
  now: ReadonlyMap<string, Row>,
): string | undefined {
  if (ids.length === 0) return undefined;
  const having = (verdict: RequirementVerdict['verdict']): string[] =>
    ids.filter((id) => now.get(id)?.verdict === verdict);
  const broken = (['fail', 'warn'] as const).flatMap((verdict) => {
    const found = having(verdict);
    const verb = found.length === 1 ? `${verdict}s` : verdict;
    return found.length === 0 ? [] : [`${found.length} ${verb} (${shortList(found)})`];
  });
  const outcome = broken.length === 0 ? 'none fails' : broken.join(', ');
  return `${formatCount(ids.length, 'requirement')} could be judged for the first time: ${outcome}.`;
}

type Row = Pick<RequirementVerdict, 'verdict' | 'addedLater'>;

const rowsOf = ({ requirements }: CheckReport): Map<string, Row> =>
  new Map(requirements.map((row) => [row.id, row]));

const isSelected = (row: Row | undefined): row is Row =>
  row !== undefined && row.verdict !== 'not_selected';

/** Verdicts of requirements that could not be judged, because another defect hid them. */
const UNJUDGED: readonly RequirementVerdict['verdict'][] = ['blocked', 'error'];

const isBroken = ({ verdict }: Row): boolean => (severities[verdict] ?? 0) > 0;

function classifyChange(before: Row | undefined, now: Row | undefined): Change | 'unchanged' {
  if (!now) return isSelected(before) ? 'onlyBefore' : 'unchanged';
  if (before && UNJUDGED.includes(before.verdict) && severities[now.verdict] !== undefined) {
    return 'firstJudged';
  }
  const severityBefore = before && severities[before.verdict];
  if (severityBefore === undefined && isBroken(now)) return 'newFailures';
  if (!isSelected(before)) return 'onlyNow';
  if (before.verdict === now.verdict) return isBroken(now) ? 'stillFailing' : 'unchanged';
  const severityNow = severities[now.verdict];
  // In another requirement set, the same breach can be a note.
  const isSameSet = before.addedLater === now.addedLater;
  if (severityBefore === undefined || severityNow === undefined || !isSameSet)
    return 'otherChanges';
  if (severityNow > severityBefore) return 'regressions';
  return severityNow < severityBefore ? 'fixes' : 'otherChanges';
}

function listDifferences(now: CheckReport, before: CheckReport): string[] {
  return [
    ...describeDifferences([
      ['target', before.target, now.target],
      ['suite', before.suite, now.suite],
      ['requirement set', before.requirementSet ?? 'none', now.requirementSet ?? 'none'],
      ['kit version', before.kitVersion, now.kitVersion],
      ['areas', areasOf(before), areasOf(now)],
    ]),
    ...describeUnknown(before, now, 'The earlier kit does not have'),
    ...describeUnknown(now, before, 'This kit does not have'),
    ...(before.verdict === 'not-judged' ? ['The earlier run could not be judged.'] : []),
  ];
}

/** Returns the areas where a run selected a requirement. */
function areasOf({ requirements }: CheckReport): string {
  const selected = requirements.filter(({ verdict }) => verdict !== 'not_selected');
  return [...new Set(selected.map(({ area }) => area))].join(' and ') || 'none';
}

/** Returns a sentence about the requirements that only the other report has. */
function describeUnknown(lacks: CheckReport, has: CheckReport, subject: string): string[] {
  const known = rowsOf(lacks);
  const missing = has.requirements.filter(({ id }) => !known.has(id)).length;
  if (missing === 0) return [];
  return [`${subject} ${formatCount(missing, 'requirement')} of the other run.`];
}

type Change = Exclude<
  keyof CheckComparison,
  'startedAt' | 'differences' | 'sentence' | 'unchanged'
>;

const changeNames: readonly (readonly [change: Change, name: string, style: Style])[] = [
  ['regressions', 'regressed', 'red'],
  ['newFailures', 'new failures', 'red'],
  ['fixes', 'fixed', 'green'],
  ['stillFailing', 'still failing', 'yellow'],
  ['firstJudged', 'judged only now', 'yellow'],
  ['onlyNow', 'checked only now', 'dim'],
  ['onlyBefore', 'checked only before', 'dim'],
  ['otherChanges', 'other changes', 'dim'],
];

/** Returns the changes of a comparison in the order that every report uses. */
export const listChanges = (
  comparison: CheckComparison,
): { change: Change; name: string; style: Style; ids: readonly string[] }[] =>
  changeNames
    .map(([change, name, style]) => ({ change, name, style, ids: comparison[change] }))
    .filter(({ ids }) => ids.length > 0);

/** Changes that a rerun of failed requirements is about. */
const RERUN_CHANGES: readonly Change[] = ['regressions', 'newFailures', 'fixes', 'stillFailing'];

/** Changed verdicts that a sentence lists by id; of more, it gives the number. */
const LISTED_MAX = 12;

/**
 * States in one sentence what changed since an earlier run: "Changed since run 1: fixed CHAT-024; note
 * to pass HEALTH-015." A requirement that only one of the runs selected is not a change.
 */
export function describeChanges(
  report: CheckReport,
  earlier: CheckReport,
  earlierName: string,
): string {
  const { comparison } = compareReports(report, earlier);
  const changes = listChanges(comparison).filter(({ change }) => RERUN_CHANGES.includes(change));
  const others = describeOtherChanges(
    [...comparison.firstJudged, ...comparison.otherChanges],
    rowsOf(earlier),
    rowsOf(report),
  );
  const isSame = others.length === 0 && changes.every(({ change }) => change === 'stillFailing');
  const parts = [...changes.map(({ name, ids }) => `${name} ${shortList(ids)}`), ...others];
  const lead = isSame ? 'Nothing changed' : 'Changed';
  return `${lead} since ${earlierName}${parts.length === 0 ? '' : `: ${parts.join('; ')}`}.`;
}

/** Verdicts between which a change says nothing new about the peer. */
const QUIET: readonly (Verdict | undefined)[] = ['pass', 'not_observed', 'not_applicable'];

/** Groups changes that are neither better nor worse by both verdicts: "note to pass HEALTH-015". */
function describeOtherChanges(
  ids: readonly string[],
  before: ReadonlyMap<string, Row>,
  now: ReadonlyMap<string, Row>,
): string[] {
  const nameOf = (row: Row | undefined): string => verdictName(row?.verdict ?? '');
  const isQuiet = (id: string): boolean =>
    [before, now].every((rows) => QUIET.includes(rows.get(id)?.verdict));
  const shown = ids.filter((id) => !isQuiet(id));
  const groups = Map.groupBy(shown, (id) => `${nameOf(before.get(id))} to ${nameOf(now.get(id))}`);
  return [...groups].map(([change, changed]) =>
    changed.length > LISTED_MAX
      ? `${change} ${formatCount(changed.length, 'requirement')}`
      : `${change} ${shortList(changed)}`,
  );
}

/**
 * Returns what is known after a partial run: its own verdicts, and the earlier ones of requirements
 * that it did not select.
 */
export function completeReport(partial: CheckReport, earlier: CheckReport): CheckReport {
  const before = new Map(earlier.requirements.map((row) => [row.id, row]));
  return {
    ...partial,
    requirements: partial.requirements.map((row) =>
      row.verdict === 'not_selected' ? (before.get(row.id) ?? row) : row,
    ),
  };
}

const LABEL_WIDTH = Math.max(...changeNames.map(([, name]) => name.length));

/** Lays out the comparison for the terminal, regressions first; empty without one. */
export function comparisonLines(
  { comparison }: CheckReport,
  { style, width }: TextLayout,
): string[] {
  if (!comparison) return [];
  return [
    style('bold', comparisonHeading(comparison)),
    ...[comparison.sentence ?? [], comparison.differences]
      .flat()
      .flatMap((sentence) => wrap(sentence, width)),
    ...listChanges(comparison).flatMap(({ name, style: color, ids }) =>
      labeled(`  ${style(color, name.padEnd(LABEL_WIDTH))}  `, shortList(ids), width),
    ),
    `  ${'unchanged'.padEnd(LABEL_WIDTH)}  ${comparison.unchanged.length}`,
  ];
}
