/** How a scenario changed between two runs. */
import t from 'tap';
import type { ScenarioResult, SimulationVerdict } from '../../../src/contract/index.ts';
import { compareScenarios } from '../../../src/service/domain/simulation-results/scenario-comparison.ts';
import { summarizeScenario } from '../../../src/service/domain/simulation-results/scenario-results.ts';

const resultOf = (verdict: SimulationVerdict): ScenarioResult =>
  summarizeScenario(
    { id: 'a', name: 'a', personaName: 'Calm', requiredRate: 1 },
    { ...{ passed: 0, failed: 0, undecided: 0 }, [verdict]: 2 },
  );

void t.test('without a verdict before or after, the change is unknown', (t) => {
  const rows = [
    ['passed', 'undecided', 'unknown'],
    ['undecided', 'passed', 'unknown'],
    ['failed', 'undecided', 'unknown'],
    ['undecided', 'failed', 'unknown'],
    ['passed', 'failed', 'regressed'],
    ['failed', 'passed', 'fixed'],
    ['undecided', 'undecided', 'same'],
  ] as const;
  for (const [before, now, change] of rows) {
    const [row] = compareScenarios([resultOf(now)], [resultOf(before)]);
    t.equal(row?.change, change, `${before} to ${now}`);
  }
  t.end();
});
