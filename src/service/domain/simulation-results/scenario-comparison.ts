import type {
  ComparedScenario,
  ScenarioChange,
  ScenarioResult,
  ScenarioStanding,
} from '../../../contract/index.ts';

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

/** Compares the results of scenarios with those of an earlier run, regressions first. */
export function compareScenarios(
  results: readonly ScenarioResult[],
  earlier: readonly ScenarioResult[],
): ComparedScenario[] {
  const [standings, earlierStandings] = [toStandings(results), toStandings(earlier)];
  const ids = new Set([...standings.keys(), ...earlierStandings.keys()]);
  const rows = [...ids].map((id): ComparedScenario => {
    const [before, now] = [earlierStandings.get(id) ?? null, standings.get(id) ?? null];
    return { scenario_id: id, change: classifyChange(before, now), before, now };
  });
  return rows.sort(
    (left, right) =>
      CHANGES_BY_IMPORTANCE.indexOf(left.change) - CHANGES_BY_IMPORTANCE.indexOf(right.change),
  );
}

function toStandings(results: readonly ScenarioResult[]): Map<string, ScenarioStanding> {
  return new Map(
    results.map(({ scenario_id: id, verdict, passed, samples }) => [
      id,
      { verdict, passed, samples },
    ]),
  );
}

function classifyChange(before: ScenarioStanding, now: ScenarioStanding): ScenarioChange {
  if (!before) return 'new';
  if (!now) return 'gone';
  if (before.verdict !== now.verdict) {
    // Without a verdict in one of the runs, nothing shows that the agent changed.
    if ([before.verdict, now.verdict].includes('undecided')) return 'unknown';
    return now.verdict === 'failed' ? 'regressed' : 'fixed';
  }
  const [rateBefore, rateNow] = [before.passed / before.samples, now.passed / now.samples];
  if (rateNow === rateBefore || now.verdict === 'undecided') return 'same';
  return rateNow < rateBefore ? 'worse' : 'better';
}

/** Describes the result of a scenario in one of two compared runs: `failed 1/3`. */
export const describeStanding = (standing: ScenarioStanding): string =>
  standing ? `${standing.verdict} ${standing.passed}/${standing.samples}` : 'absent';
