import type {
  ComparedScenario,
  ScenarioChange,
  ScenarioResult,
  ScenarioStanding,
  SimulationReport,
} from '../../../contract/index.ts';

/** What a reader wants to see first stands first. */
const order: readonly ScenarioChange[] = [
  'regressed',
  'worse',
  'unknown',
  'new',
  'gone',
  'fixed',
  'better',
  'same',
];

/** Sets a run beside an earlier one, scenario by scenario, regressions first. */
export function withComparison(
  report: SimulationReport,
  earlier: SimulationReport,
): SimulationReport {
  const standing = (results: readonly ScenarioResult[], id: string): ScenarioStanding => {
    const found = results.find((one) => one.scenario_id === id);
    return found ? { verdict: found.verdict, passed: found.passed, samples: found.samples } : null;
  };
  const both = [...report.scenarios, ...earlier.scenarios];
  const ids = new Set(both.map((one) => one.scenario_id));
  const rows = [...ids].map((id): ComparedScenario => {
    const [before, now] = [standing(earlier.scenarios, id), standing(report.scenarios, id)];
    return { scenario_id: id, change: changeOf(before, now), before, now };
  });
  rows.sort((one, other) => order.indexOf(one.change) - order.indexOf(other.change));
  const differences = differencesOf(report, earlier);
  return { ...report, comparison: { startedAt: earlier.startedAt, differences, rows } };
}

function changeOf(before: ScenarioStanding, now: ScenarioStanding): ScenarioChange {
  if (!before) return 'new';
  if (!now) return 'gone';
  if (before.verdict !== now.verdict) {
    if (now.verdict === 'undecided') return 'unknown';
    if (now.verdict === 'failed') return before.verdict === 'passed' ? 'regressed' : 'worse';
    return 'fixed';
  }
  const [then, today] = [before.passed / before.samples, now.passed / now.samples];
  if (today === then || now.verdict === 'undecided') return 'same';
  return today < then ? 'worse' : 'better';
}

/** Of runs that were made differently, the difference may be the settings'. */
function differencesOf(now: SimulationReport, before: SimulationReport): string[] {
  const settings = [
    ['sandbox', before.sandbox, now.sandbox],
    ['seed', before.seed, now.seed],
    ['channel', channelsOf(before), channelsOf(now)],
    ['version of the kit', before.kitVersion, now.kitVersion],
  ] as const;
  return settings
    .filter(([, one, other]) => one !== other)
    .map(([name, one, other]) => `Another ${name}: ${one} then, ${other} now.`);
}

const channelsOf = ({ sessions }: SimulationReport): string =>
  [...new Set(sessions.map(({ channel }) => channel))].sort().join(' and ');
