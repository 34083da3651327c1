import type { EvalDefinition, Persona, Scenario } from '../../contract/index.ts';
import { parseEval } from '../evals/definitions.ts';
import { InvalidDocumentError } from '../requests/errors.ts';
import {
  catchProblem,
  checkScenario,
  findScenarioProblems,
  type KnownIds,
} from './check-scenario.ts';

/** A scenario with its persona and evals. */
export interface ResolvedScenario {
  scenario: Scenario;
  persona: Persona;
  evals: readonly EvalDefinition[];
}

/** The personas and evals that scenarios may refer to by id. */
export interface ScenarioReferences {
  personas: readonly Persona[];
  evals: readonly EvalDefinition[];
  /** The channel of the run, if it replaces that of the scenarios. */
  channel?: Scenario['channel'] | undefined;
}

const listKnownIds = ({ evals, personas, channel }: ScenarioReferences): KnownIds => ({
  evalIds: evals.map(({ id }) => id),
  personaIds: personas.map(({ id }) => id),
  channel,
});

/** The persona of a scenario that names none. */
const plainPersona: Persona = { id: 'plain', name: 'plain' };

/**
 * Resolves the personas and evals of scenarios.
 * @throws InvalidDocumentError if a scenario or an eval is invalid. Its pointer starts with the index of the
 * scenario, or with `/evals` and the index of the eval.
 */
export function resolveScenarios(
  scenarios: readonly Scenario[],
  references: ScenarioReferences,
): ResolvedScenario[] {
  for (const [index, definition] of references.evals.entries()) {
    parseEval(definition, `/evals/${index}`);
  }
  return scenarios.map((scenario, index) => resolveScenario(scenario, references, `/${index}`));
}

/**
 * Returns all problems for which a run of scenarios would be refused: what `resolveScenarios` throws,
 * and scenarios without evals, whose sessions would cost turns and prove nothing.
 */
export function findRunProblems(
  scenarios: readonly Scenario[],
  references: ScenarioReferences,
): InvalidDocumentError[] {
  const known = listKnownIds(references);
  return [
    ...references.evals.flatMap((definition, index) =>
      catchProblem(() => void parseEval(definition, `/evals/${index}`)),
    ),
    ...scenarios.flatMap((scenario, index) => [
      ...((scenario.evals ?? []).length > 0 ? [] : [createNoEvalsError(scenario, `/${index}`)]),
      ...findScenarioProblems(scenario, known, `/${index}`),
    ]),
  ];
}

function createNoEvalsError({ evals }: Scenario, at: string): InvalidDocumentError {
  const result = 'so its sessions could neither pass nor fail. Add at least one eval';
  return evals
    ? new InvalidDocumentError(`${at}/evals`, `is empty, ${result}`)
    : new InvalidDocumentError(at, `has no evals, ${result}`);
}

/**
 * Resolves the persona and the evals of a scenario, inline or by id. `at` is the pointer to the scenario.
 * @throws InvalidDocumentError if a reference does not exist or the scenario is otherwise invalid.
 */
export function resolveScenario(
  scenario: Scenario,
  references: ScenarioReferences,
  at = '',
): ResolvedScenario {
  checkScenario(scenario, listKnownIds(references), at);
  const { persona = plainPersona, evals = [] } = scenario;
  const referenced = references.personas.find(({ id }) => id === persona);
  return {
    scenario,
    persona: typeof persona === 'string' ? (referenced ?? plainPersona) : persona,
    evals: evals.flatMap((entry) =>
      typeof entry === 'string'
        ? references.evals.filter(({ id }) => id === entry).slice(-1)
        : entry,
    ),
  };
}
