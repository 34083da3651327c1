import type { EvalDefinition, Persona, Scenario } from '../../contract/index.ts';
import { checkScenario } from './check-scenario.ts';
import { parseEval } from './evals.ts';
import { plainPersona, type ResolvedScenario } from '../simulator/session-plan.ts';

/** What scenarios may name. */
export interface ScenarioReferences {
  personas: readonly Persona[];
  evals: readonly EvalDefinition[];
}

/**
 * Scenarios with what they name.
 * @throws InvalidDocumentError where a scenario or an eval makes no sense; its pointer begins with the scenario's
 * place, or with `/evals` and the eval's.
 */
export function resolveScenarios(
  scenarios: readonly Scenario[],
  cast: ScenarioReferences,
): ResolvedScenario[] {
  for (const [nth, one] of cast.evals.entries()) parseEval(one, `/evals/${nth}`);
  return scenarios.map((scenario, nth) => resolveScenario(scenario, cast, `/${nth}`));
}

/**
 * A scenario with its persona and its evals, its own or by id. `at` is the pointer to where it stands.
 * @throws InvalidDocumentError where it names what is not there, or makes no sense otherwise.
 */
export function resolveScenario(
  scenario: Scenario,
  cast: ScenarioReferences,
  at = '',
): ResolvedScenario {
  const evalIds = cast.evals.map(({ id }) => id);
  const personaIds = cast.personas.map(({ id }) => id);
  checkScenario(scenario, { evalIds, personaIds }, at);
  const { persona = plainPersona, evals = [] } = scenario;
  const named = cast.personas.find(({ id }) => id === persona);
  return {
    scenario,
    persona: typeof persona === 'string' ? (named ?? plainPersona) : persona,
    evals: evals.flatMap((one) =>
      typeof one === 'string' ? cast.evals.filter(({ id }) => id === one).slice(-1) : one,
    ),
  };
}
