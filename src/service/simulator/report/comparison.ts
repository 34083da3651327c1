import type { SimulationComparison, SimulationReport } from '../../../contract/index.ts';
import { describeDifferences } from '../../../report-kit/comparison.ts';
import { formatInstant } from '../../../report-kit/format.ts';
import { compareRuns, runChangeNames } from '../../runs/comparison/run-comparison.ts';

/** Adds a comparison with an earlier run to a report: its verdict, then scenarios, regressions first. */
export function withComparison(
  report: SimulationReport,
  earlier: SimulationReport,
): SimulationReport {
  const { startedAt } = earlier;
  const differences = listDifferences(report, earlier);
  const compared = compareRuns(report.scenarios, earlier.scenarios);
  return { ...report, comparison: { startedAt, differences, ...compared } };
}

/** Returns the scenarios whose results differ, regressions first, and how many do not. */
export function listChanges({ rows }: SimulationComparison): {
  changed: SimulationComparison['rows'];
  unchanged: number;
} {
  const changed = rows.filter(({ change }) => change !== 'same');
  return { changed, unchanged: rows.length - changed.length };
}

/** Returns the heading of a comparison in Markdown and on a page. */
export const shortHeading = ({ startedAt, verdict }: SimulationComparison): string =>
  `Compared with ${formatInstant(startedAt)}: ${runChangeNames[verdict]}`;

function listDifferences(now: SimulationReport, before: SimulationReport): string[] {
  return describeDifferences([
    ['sandbox', before.sandbox, now.sandbox],
    ['seed', before.seed, now.seed],
    ['channel', listChannels(before), listChannels(now)],
    ['kit version', before.kitVersion, now.kitVersion],
  ]);
}

const listChannels = ({ sessions }: SimulationReport): string =>
  [...new Set(sessions.map(({ channel }) => channel))].sort().join(' and ');
