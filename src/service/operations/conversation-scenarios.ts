import { formatValue, type Scenario } from '../../contract/index.ts';
import { RequestError } from '../requests/errors.ts';
import { makeScenarioFromConversation } from '../scenarios/conversation-scenario.ts';
import type { Session, Store } from '../store/store.ts';
import { saveDocument } from './documents.ts';

/** A stored scenario. */
export interface MadeScenario {
  scenario: Scenario;
  /** What the scenario leaves out, in sentences for the user. */
  notes: string[];
  /** False if it was stored before; then it was not changed. */
  isNew: boolean;
}

/** Returns the error about a conversation that can't become a scenario. */
export function createNoLinesError(id: string): RequestError {
  const message = `There is no conversation ${formatValue(id)} with user messages.`;
  return new RequestError('not_found', message);
}

/** Scenarios whose ids differ only by a number at the end. */
const SAME_IDS_MAX = 100;

/**
 * Stores the scenario of a conversation or session: for a simulated session the scenario of its
 * simulation, and otherwise one that repeats the user's lines. A stored scenario of the same name stays as
 * it is, because it may have been edited.
 * @throws RequestError `not_found` if the conversation doesn't exist or has no user lines.
 */
export async function storeScenarioOf(
  store: Store,
  ownerId: string,
  id: string,
): Promise<MadeScenario> {
  const session = await store.sessions.find(ownerId, id);
  const made =
    (session && (await findSimulatedScenario(store, session))) ??
    (await makeScenarioFromConversation(store, ownerId, id));
  if (!made) throw createNoLinesError(id);
  for (let nth = 1; nth <= SAME_IDS_MAX; nth += 1) {
    const scenario = { ...made.scenario, id: addNumber(made.scenario.id, nth) };
    const stored = await store.documents.find(ownerId, 'scenario', scenario.id);
    if (stored && stored.name !== scenario.name) continue;
    if (stored) return { scenario: stored, notes: [], isNew: false };
    const saved = await saveDocument(store, ownerId, 'scenario', scenario);
    return { scenario: saved, notes: made.notes, isNew: true };
  }
  throw new RequestError('conflict', `Too many scenarios have the id ${made.scenario.id}.`);
}

const SCENARIO_ID_CHARS_MAX = 128;

const addNumber = (id: string, nth: number): string =>
  nth === 1 ? id : `${id.slice(0, SCENARIO_ID_CHARS_MAX - 4)}-${nth}`;

/** Returns the scenario that a simulated session played, with its persona and evals inside. */
export async function findSimulatedScenario(
  { simulations }: Pick<Store, 'simulations'>,
  { ownerId, simulation, simulated }: Session,
): Promise<{ scenario: Scenario; notes: string[] } | undefined> {
  const plan = simulation && (await simulations.find(ownerId, simulation.id));
  const id = simulated?.scenario_id;
  const found = plan?.scenarios.find(({ scenario }) => scenario.id === id);
  if (!found) return undefined;
  const { scenario, persona, evals } = found;
  const inside = {
    ...(scenario.persona !== undefined && { persona: { ...persona } }),
    evals: evals.map((definition) => ({ ...definition })),
  };
  return { scenario: { ...scenario, ...inside }, notes: [] };
}
