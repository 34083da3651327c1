import type { ScenarioResult, SimulationVerdict } from '../../../contract/index.ts';
import type { ResolvedScenario } from '../../domain/resolved-scenario.ts';

/** A session, as far as its scenario's result goes. */
export interface Judged {
  scenario_id: string;
  verdict: SimulationVerdict;
}

/** For more samples than these the chance that all of them pass is not told. */
const samplesTogetherMax = 10;

/** What the samples of each scenario came to, in the order of the scenarios. */
export function scenarioResults(
  castings: readonly Pick<ResolvedScenario, 'scenario' | 'persona'>[],
  sessions: readonly Judged[],
): ScenarioResult[] {
  const byScenario = Map.groupBy(sessions, (session) => session.scenario_id);
  return castings.map(({ scenario, persona }) => {
    const own = byScenario.get(scenario.id) ?? [];
    const count = (verdict: SimulationVerdict): number =>
      own.filter((session) => session.verdict === verdict).length;
    const [passed, failed, undecided] = [count('passed'), count('failed'), count('undecided')];
    const judged = passed + failed;
    const wanted = scenario.pass_rate ?? 1;
    return {
      scenario_id: scenario.id,
      scenario: scenario.name,
      persona: persona.name,
      samples: own.length,
      ...{ passed, failed, undecided },
      pass_rate: judged === 0 ? null : passed / judged,
      wanted_pass_rate: wanted,
      pass_hat_k: passHat(passed, judged),
      flaky: passed > 0 && failed > 0,
      verdict: verdictOfSamples({ passed, failed, undecided }, wanted),
    };
  });
}

/**
 * Decided as soon as what is undecided can't change it: a crash of the sandbox or of the kit is no
 * failed sample, and no passed one.
 */
function verdictOfSamples(
  { passed, failed, undecided }: Record<SimulationVerdict, number>,
  wantedRate: number,
): SimulationVerdict {
  // What floating point adds to 0.7 x 10 must not ask for an eighth.
  const wanted = Math.ceil(wantedRate * (passed + failed + undecided) - 1e-9);
  if (passed + undecided < wanted) return 'failed';
  return passed >= wanted && passed + failed > 0 ? 'passed' : 'undecided';
}

/** For k of 1, 2, ...: the chance that k samples, drawn without putting back, have all passed. */
function passHat(passed: number, judged: number): number[] {
  const chances: number[] = [];
  let chance = 1;
  for (let k = 0; k < Math.min(judged, samplesTogetherMax); k += 1) {
    chance *= Math.max(0, passed - k) / (judged - k);
    chances.push(Math.round(chance * 1e6) / 1e6);
  }
  return chances;
}

/** The verdict on a whole run: failed when a scenario failed, else passed when all did. */
export function verdictOfRun(scenarios: readonly ScenarioResult[]): SimulationVerdict {
  if (scenarios.some(({ verdict }) => verdict === 'failed')) return 'failed';
  const isPassed = scenarios.length > 0 && scenarios.every(({ verdict }) => verdict === 'passed');
  return isPassed ? 'passed' : 'undecided';
}
