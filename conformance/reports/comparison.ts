import type { CheckComparison, CheckReport, Verdict } from '../../src/contract/index.ts';
import type { ApplyStyle } from '../../src/report-kit/terminal.ts';
import { fold, hanging, shortList } from './layout.ts';

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

/** Describes settings that differ, because they can cause different verdicts. */
function listDifferences(now: CheckReport, before: CheckReport): string[] {
  const settings = [
    ['target', before.target, now.target],
    ['suite', before.suite, now.suite],
    ['sandbox-kit version', before.kitVersion, now.kitVersion],
  ] as const;
  return settings
    .filter(([, earlier, current]) => earlier !== current)
    .map(([name, earlier, current]) => `Different ${name}: ${earlier} before, ${current} now.`);
}

/** Returns the comparison for the terminal, regressions first; empty without one. */
export function comparisonBlock(
  { comparison }: CheckReport,
  { style, width }: { style: ApplyStyle; width: number },
): string[] {
  if (!comparison) return [];
  const { startedAt, differences, regressions, fixes, otherChanges, unchanged } = comparison;
  const rows = [
    ['red', 'regressed', regressions],
    ['green', 'fixed', fixes],
    ['yellow', 'other', otherChanges],
  ] as const;
  const lines = rows.flatMap(([color, label, ids]) =>
    ids.length === 0
      ? []
      : hanging(`  ${label.padEnd(9)}  `, shortList(ids), width).map((line, index) =>
          index === 0 ? line.replace(label, () => style(color, label)) : line,
        ),
  );
  return [
    [
      style('bold', `Compared with the run of ${startedAt}`),
      ...differences.flatMap((difference) => fold(difference, width)),
      ...lines,
      `  unchanged  ${unchanged.length}`,
    ].join('\n'),
  ];
}
