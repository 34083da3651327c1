import type { EvalDefinition, Scenario } from '../../contract/index.ts';
import { findLiveEvals } from './evals.ts';
import { loadTurns, type SessionTurn } from './sessions.ts';
import type { Session, Store } from '../store/store.ts';
import { buildTurns } from '../turns/turns.ts';

/** A conversation as a scenario that says the same again. */
export interface ConversationScenario {
  scenario: Scenario;
  /** What a reader should know of it, in sentences. */
  notes: string[];
}

const turnsMaxDefault = 10;
const stepsMax = 999;
const lineCharsMax = 10_000;
const evalsMax = 100;
const newestMax = 500;

/**
 * Makes a scenario of a production conversation, by its own id or by that of its session: the user's
 * lines become steps; the evals that scored it, and the tools that were called, become its evals.
 * Undefined where there is no such conversation, or nobody said a word in it.
 */
export async function makeScenarioFromConversation(
  store: Store,
  ownerId: string,
  id: string,
): Promise<ConversationScenario | undefined> {
  const found = await findConversation(store, ownerId, id);
  const lines = (found?.turns ?? []).flatMap(({ userInput }) => {
    const line = userInput.trim().slice(0, lineCharsMax).toWellFormed();
    return line === '' ? [] : line;
  });
  const [opening, ...rest] = lines;
  if (!found || opening === undefined) return undefined;
  const { session, turns } = found;
  const { evals, notes } = await evalsOf(store, ownerId, session);
  const tools = toolEvals(turns).filter((one) => !evals.some((other) => other.id === one.id));
  if (rest.length > stepsMax) notes.push(`Only the first ${stepsMax + 1} lines were taken.`);
  if (evals.length + tools.length === 0) notes.push('It has no evals yet: nothing would score it.');
  return {
    notes,
    scenario: {
      id: idFrom(`from-${id}`),
      name: `Conversation ${id.replaceAll(/\s+/g, ' ')}`.slice(0, 200),
      category: 'regression',
      tags: ['from-conversation'],
      ...(session?.metadata && { metadata: { ...session.metadata } }),
      user: {
        mode: 'scripted',
        opening,
        steps: rest.slice(0, stepsMax).map((say) => ({ say })),
      },
      ...(lines.length > turnsMaxDefault && {
        limits: { max_turns: Math.min(lines.length, stepsMax + 1) },
      }),
      evals: [...evals, ...tools].slice(0, evalsMax),
    },
  };
}

interface Found {
  session: Session | undefined;
  turns: SessionTurn[];
}

async function findConversation(
  store: Store,
  ownerId: string,
  id: string,
): Promise<Found | undefined> {
  const conversation = await store.conversations.find(ownerId, id);
  const sessionId = conversation?.sessionId ?? id;
  const session =
    (await store.sessions.find(ownerId, sessionId)) ??
    (await store.sessions.listNewest(ownerId, newestMax)).find((one) => one.sourceSessionId === id);
  if (session) return { session, turns: await loadTurns(store, session) };
  if (!conversation) return undefined;
  return { session, turns: buildTurns(await store.conversations.listSpans(ownerId, id)) };
}

/** Those that scored it as they are now; the live set where none did. */
async function evalsOf(
  store: Store,
  ownerId: string,
  session: Session | undefined,
): Promise<{ evals: EvalDefinition[]; notes: string[] }> {
  const known = await store.evals.list(ownerId);
  const scored = session?.outcomes.map(({ evalId }) => evalId) ?? [];
  if (scored.length === 0)
    return { evals: (await findLiveEvals(store.evals, ownerId)).evals, notes: [] };
  const gone = scored.filter((id) => !known.some((one) => one.id === id));
  const notes = gone.map((id) => `The eval ${id} that scored it is not there any more.`);
  return { evals: known.filter(({ id }) => scored.includes(id)), notes };
}

/** That the tools of then are called again is expected, and no proof: so it is not required. */
function toolEvals(turns: readonly SessionTurn[]): EvalDefinition[] {
  const names = new Set(turns.flatMap(({ toolCalls = [] }) => toolCalls.map(({ name }) => name)));
  return [...names].map((name) => ({
    id: idFrom(`calls-${name}`).slice(0, 64),
    name: `Calls ${name}`.replaceAll(/\s+/g, ' ').slice(0, 200),
    category: 'tool_use',
    kind: 'tool_called',
    params: { name },
    required: false,
  }));
}

const idFrom = (text: string): string => text.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 128);
