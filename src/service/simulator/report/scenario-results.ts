import type { ScenarioResult, SimulationVerdict } from '../../../contract/index.ts';
import type { ResolvedScenario } from '../../domain/resolved-scenario.ts';

/** The part of a session that the result of its scenario needs. */
export interface JudgedSession {
  scenario_id: string;
  verdict: SimulationVerdict;
}

/** The largest k for which pass^k is reported. */
const PASS_HAT_K_MAX = 10;

/** Returns the result of each scenario over its samples, in the order of the scenarios. */
export function summarizeScenarios(
  scenarios: readonly Pick<ResolvedScenario, 'scenario' | 'persona'>[],
  sessions: readonly JudgedSession[],
): ScenarioResult[] {
  const byScenario = Map.groupBy(sessions, (session) => session.scenario_id);
  return scenarios.map(({ scenario, persona }) => {
    const samples = byScenario.get(scenario.id) ?? [];
    const count = (verdict: SimulationVerdict): number =>
      samples.filter((session) => session.verdict === verdict).length;
    const [passed, failed, undecided] = [count('passed'), count('failed'), count('undecided')];
    const judged = passed + failed;
    const requiredRate = scenario.pass_rate ?? 1;
    return {
      scenario_id: scenario.id,
      scenario: scenario.name,
      persona: persona.name,
      samples: samples.length,
      ...{ passed, failed, undecided },
      pass_rate: judged === 0 ? null : passed / judged,
      required_pass_rate: requiredRate,
      pass_hat_k: computePassHat(passed, judged),
      flaky: passed > 0 && failed > 0,
      verdict: decideScenarioVerdict({ passed, failed, undecided }, requiredRate),
    };
  });
}

/**
 * Decides the verdict of a scenario, unless its undecided samples could change it. A crash of the sandbox
 * or of the kit counts as neither a failed nor a passed sample.
 */
function decideScenarioVerdict(
  { passed, failed, undecided }: Record<SimulationVerdict, number>,
  requiredRate: number,
): SimulationVerdict {
  // The tolerance keeps floating-point error in 0.7 * 10 from requiring an eighth sample.
  const required = Math.ceil(requiredRate * (passed + failed + undecided) - 1e-9);
  if (passed + undecided < required) return 'failed';
  return passed >= required && passed + failed > 0 ? 'passed' : 'undecided';
}

/** Returns pass^k for k = 1, 2, ...: the probability that k samples, drawn without replacement, all passed. */
function computePassHat(passed: number, judged: number): number[] {
  const probabilities: number[] = [];
  let probability = 1;
  for (let k = 0; k < Math.min(judged, PASS_HAT_K_MAX); k += 1) {
    probability *= Math.max(0, passed - k) / (judged - k);
    probabilities.push(Math.round(probability * 1e6) / 1e6);
  }
  return probabilities;
}

/** Decides the verdict of a run: failed if a scenario failed, passed if all scenarios passed. */
export function decideRunVerdict(scenarios: readonly ScenarioResult[]): SimulationVerdict {
  if (scenarios.some(({ verdict }) => verdict === 'failed')) return 'failed';
  const isPassed = scenarios.length > 0 && scenarios.every(({ verdict }) => verdict === 'passed');
  return isPassed ? 'passed' : 'undecided';
}
