import type { CheckComparison, CheckReport, Verdict } from '../../src/contract/index.ts';
import { describeDifferences } from '../../src/report-kit/comparison.ts';
import { formatInstant } from '../../src/report-kit/format.ts';
import { labeled, wrap, type TextLayout } from '../../src/report-kit/terminal.ts';
import { shortList } from './summary.ts';

/** Verdicts that can be compared, from best to worst. The others mean "not judged". */
const severities: Partial<Record<Verdict, number>> = { pass: 0, note: 0, warn: 1, fail: 2 };

/** Adds the differences from an earlier report. The verdict and the exit code stay the same. */
export function compareReports(report: CheckReport, earlier: CheckReport): CheckReport {
  const before = verdictsOf(earlier);
  const now = verdictsOf(report);
  const comparison: CheckComparison = {
    startedAt: earlier.startedAt,
    differences: listDifferences(report, earlier),
    regressions: [],
    fixes: [],
    otherChanges: [],
    unchanged: [],
  };
  for (const id of new Set([...now.keys(), ...before.keys()])) {
    comparison[classifyChange(before.get(id), now.get(id))].push(id);
  }
  return { ...report, comparison };
}

const verdictsOf = ({ requirements }: CheckReport): Map<string, Verdict> =>
  new Map(requirements.map(({ id, verdict }) => [id, verdict]));

function classifyChange(
  before: Verdict | undefined,
  now: Verdict | undefined,
): 'regressions' | 'fixes' | 'otherChanges' | 'unchanged' {
  if (before === now) return 'unchanged';
  const severityBefore = before && severities[before];
  const severityNow = now && severities[now];
  if (severityBefore === undefined || severityNow === undefined) return 'otherChanges';
  if (severityNow > severityBefore) return 'regressions';
  return severityNow < severityBefore ? 'fixes' : 'otherChanges';
}

function listDifferences(now: CheckReport, before: CheckReport): string[] {
  return describeDifferences([
    ['target', before.target, now.target],
    ['suite', before.suite, now.suite],
    ['kit version', before.kitVersion, now.kitVersion],
  ]);
}

/** Lays out the comparison for the terminal, regressions first; empty without one. */
export function comparisonLines(
  { comparison }: CheckReport,
  { style, width }: TextLayout,
): string[] {
  if (!comparison) return [];
  const { startedAt, differences, regressions, fixes, otherChanges, unchanged } = comparison;
  const rows = [
    ['red', 'regressed', regressions],
    ['green', 'fixed', fixes],
    ['yellow', 'other', otherChanges],
  ] as const;
  return [
    style('bold', `Compared with the run of ${formatInstant(startedAt)}`),
    ...differences.flatMap((difference) => wrap(difference, width)),
    ...rows.flatMap(([color, label, ids]) =>
      ids.length === 0
        ? []
        : labeled(`  ${style(color, label.padEnd(9))}  `, shortList(ids), width),
    ),
    `  unchanged  ${unchanged.length}`,
  ];
}
