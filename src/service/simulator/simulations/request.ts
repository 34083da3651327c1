/** What a simulation request asks for: the agent, and its scenarios with the current documents. */
import {
  formatValue,
  type Scenario,
  type SimulationRequest,
  type TestedAgent,
} from '../../../contract/index.ts';
import { missingJudgeWarnings, missingUserModelWarnings } from '../../model/missing-models.ts';
import { checkAgentUrls, listDocuments } from '../../operations/documents.ts';
import { unknownIdError } from '../../requests/document-checks.ts';
import { InvalidDocumentError } from '../../requests/errors.ts';
import {
  resolveScenario,
  type ResolvedScenario,
  type ScenarioReferences,
} from '../../scenarios/resolved-scenario.ts';
import type { Store } from '../../store/store.ts';
import { countSessions } from '../session-plan.ts';

const SESSIONS_MAX = 10_000;

/** Which models the service has. */
export interface ConfiguredModels {
  /** The LLM judge. */
  hasJudge: boolean;
  /** The model that plays users of mode `llm`. */
  hasUserModel: boolean;
}

/** Returns the agent of a request, with its API key. @throws InvalidDocumentError. */
export async function findAgent(store: Store, ownerId: string, { agent }: SimulationRequest) {
  if (typeof agent !== 'string') {
    checkAgentUrls(agent, '/agent');
    return { agent: toAddress(agent), secret: agent.api_key, stored: undefined };
  }
  const agents = await listDocuments(store, ownerId, 'agent');
  const stored = agents.find(({ id }) => id === agent);
  if (!stored) {
    const ids = agents.map(({ id }) => id);
    throw unknownIdError('/agent', 'an agent', agent, ids);
  }
  // An earlier release may have stored it.
  checkAgentUrls(stored, '/agent');
  const secret = await store.documents.findApiKey(ownerId, agent);
  return { agent: toAddress(stored), secret, stored };
}

const toAddress = ({
  name,
  url,
  voice_url: voiceUrl,
}: Pick<TestedAgent, 'name' | 'url' | 'voice_url'>) => ({
  name,
  url,
  ...(voiceUrl !== undefined && { voice_url: voiceUrl }),
});

/** Returns the scenario of an id. @throws InvalidDocumentError at this pointer. */
function findScenario(id: string, scenarios: readonly Scenario[], pointer: string): Scenario {
  const scenario = scenarios.find((candidate) => candidate.id === id);
  if (scenario) return scenario;
  const knownIds = scenarios.map((candidate) => candidate.id);
  throw unknownIdError(pointer, 'a scenario', id, knownIds);
}

/** Resolves the requested scenarios with the current documents. @throws InvalidDocumentError. */
export async function resolveRequestedScenarios(
  store: Store,
  ownerId: string,
  request: SimulationRequest,
) {
  const [evals, personas, scenarios] = await Promise.all([
    store.evals.list(ownerId),
    listDocuments(store, ownerId, 'persona'),
    listDocuments(store, ownerId, 'scenario'),
  ]);
  const references: ScenarioReferences = { evals, personas, channel: request.channel };
  const ids = new Set<string>();
  const resolved = request.scenarios.map((requested, index) => {
    const pointer = `/scenarios/${index}`;
    const scenario =
      typeof requested === 'string' ? findScenario(requested, scenarios, pointer) : requested;
    if (ids.has(scenario.id)) {
      throw new InvalidDocumentError(pointer, `repeats ${formatValue(scenario.id)}`);
    }
    ids.add(scenario.id);
    return resolveScenario(scenario, references, pointer);
  });
  const count = countSessions(resolved, request.samples);
  if (count <= SESSIONS_MAX) return resolved;
  throw new InvalidDocumentError(
    '/samples',
    `must result in at most ${SESSIONS_MAX} sessions, would result in ${count}`,
  );
}

/** Returns warnings about everything that is certain to fail. */
export function findWarnings(
  scenarios: readonly ResolvedScenario[],
  { hasJudge, hasUserModel }: ConfiguredModels,
): string[] {
  const evalById = new Map(
    scenarios.flatMap(({ evals }) => evals).map((definition) => [definition.id, definition]),
  );
  return [
    ...missingJudgeWarnings([...evalById.values()], hasJudge),
    ...missingUserModelWarnings(
      scenarios.map(({ scenario }) => scenario),
      hasUserModel,
    ),
  ];
}
