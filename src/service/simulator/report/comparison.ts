import type { SimulationComparison, SimulationReport } from '../../../contract/index.ts';
import { describeDifferences } from '../../../report-kit/comparison.ts';
import { formatInstant } from '../../../report-kit/format.ts';
import { compareScenarios } from '../../domain/simulation-results/scenario-comparison.ts';

/** Adds a comparison with an earlier run to a report, by scenario, regressions first. */
export function withComparison(
  report: SimulationReport,
  earlier: SimulationReport,
): SimulationReport {
  const rows = compareScenarios(report.scenarios, earlier.scenarios);
  const differences = listDifferences(report, earlier);
  return { ...report, comparison: { startedAt: earlier.startedAt, differences, rows } };
}

/** Returns the scenarios whose results changed, regressions first, and how many did not. */
export function listChanges({ rows }: SimulationComparison): {
  changed: SimulationComparison['rows'];
  unchanged: number;
} {
  const changed = rows.filter(({ change }) => change !== 'same');
  return { changed, unchanged: rows.length - changed.length };
}

/** Returns the heading of a comparison in Markdown and on a page. */
export const shortHeading = ({ startedAt }: SimulationComparison): string =>
  `Compared with ${formatInstant(startedAt)}`;

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
