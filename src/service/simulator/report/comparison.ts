import type {
  ComparedScenario,
  ScenarioChange,
  ScenarioResult,
  ScenarioStanding,
  SimulationReport,
} from '../../../contract/index.ts';
import { describeDifferences } from '../../../report-kit/comparison.ts';

const CHANGES_BY_IMPORTANCE: readonly ScenarioChange[] = [
  'regressed',
  'worse',
  'unknown',
  'new',
  'gone',
  'fixed',
  'better',
  'same',
];

/** Adds a comparison with an earlier run to a report, by scenario, regressions first. */
export function withComparison(
  report: SimulationReport,
  earlier: SimulationReport,
): SimulationReport {
  const findStanding = (results: readonly ScenarioResult[], id: string): ScenarioStanding => {
    const result = results.find((scenario) => scenario.scenario_id === id);
    return result
      ? { verdict: result.verdict, passed: result.passed, samples: result.samples }
      : null;
  };
  const results = [...report.scenarios, ...earlier.scenarios];
  const ids = new Set(results.map((scenario) => scenario.scenario_id));
  const rows = [...ids].map((id): ComparedScenario => {
    const [before, now] = [findStanding(earlier.scenarios, id), findStanding(report.scenarios, id)];
    return { scenario_id: id, change: classifyChange(before, now), before, now };
  });
  rows.sort(
    (left, right) =>
      CHANGES_BY_IMPORTANCE.indexOf(left.change) - CHANGES_BY_IMPORTANCE.indexOf(right.change),
  );
  const differences = listDifferences(report, earlier);
  return { ...report, comparison: { startedAt: earlier.startedAt, differences, rows } };
}

function classifyChange(before: ScenarioStanding, now: ScenarioStanding): ScenarioChange {
  if (!before) return 'new';
  if (!now) return 'gone';
  if (before.verdict !== now.verdict) {
    if (now.verdict === 'undecided') return 'unknown';
    if (now.verdict === 'failed') return before.verdict === 'passed' ? 'regressed' : 'worse';
    return 'fixed';
  }
  const [rateBefore, rateNow] = [before.passed / before.samples, now.passed / now.samples];
  if (rateNow === rateBefore || now.verdict === 'undecided') return 'same';
  return rateNow < rateBefore ? 'worse' : 'better';
}

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

/** Describes the result of a scenario in one of two compared runs: `failed 1/3`. */
export const describeStanding = (standing: ScenarioStanding): string =>
  standing ? `${standing.verdict} ${standing.passed}/${standing.samples}` : 'absent';
