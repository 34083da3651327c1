import {
  CHAT_RESPONSE_MS_TARGET,
  type EvalDefinition,
  type Scenario,
} from '../../contract/index.ts';
import { findInterruptionTimes, readLines, type ConversationLine } from './conversation-lines.ts';
import { findLiveEvals } from '../evals/definitions.ts';
import { renumberEvals } from './renumber-evals.ts';
import { TURNS_MAX_DEFAULT } from './complete-scenario.ts';
import { buildConversationTurns, holdScorable, loadTurns } from '../sessions/transcripts.ts';
import type { SessionTurn } from '../turns/turn-types.ts';
import type { Session, Store } from '../store/store.ts';

/** A scenario that repeats the user's side of a conversation. */
export interface ConversationScenario {
  scenario: Scenario;
  /** What the scenario leaves out, in sentences for the user. */
  notes: string[];
}

/** The most lines of a scenario: the opening, and its steps. */
const LINES_MAX = 1_000;
/** The largest `max_turns` of a scenario. */
const TURNS_MAX = 1_000;
const EVALS_MAX = 100;
const SESSIONS_SEARCHED_MAX = 500;

/** The eval of a scenario that would have none, which a run would refuse. */
const replyEval: EvalDefinition = {
  id: 'replies-in-time',
  name: `Every turn takes at most ${CHAT_RESPONSE_MS_TARGET / 1_000} s`,
  kind: 'max_latency',
  params: { ms: CHAT_RESPONSE_MS_TARGET },
};

/**
 * Makes a scenario from a conversation. The user's lines become its steps; the evals that scored
 * the conversation and the tools that were called become its evals.
 * @param id The conversation id or the session id.
 * @returns Undefined if the conversation doesn't exist or contains no user input.
 */
export async function makeScenarioFromConversation(
  store: Store,
  ownerId: string,
  id: string,
): Promise<ConversationScenario | undefined> {
  using _held = await holdScorable(store, ownerId, id);
  const conversation = await findConversation(store, ownerId, id);
  if (!conversation) return undefined;
  const { session, turns, hasLateSpans } = conversation;
  const read = readLines(turns, await findInterruptionTimes(store, session));
  const lines = read.lines.slice(0, LINES_MAX);
  const [opening, ...steps] = lines;
  if (!opening) return undefined;
  const scoring = await findScoringEvals(store, ownerId, session);
  const { evals, notes: evalNotes } = renumberEvals(scoring.evals, turns, lines);
  const notes = [...scoring.notes, ...evalNotes, ...read.notes];
  if (hasLateSpans) {
    notes.push('The scenario omits spans that arrived after the conversation was closed.');
  }
  const evalIds = new Set(evals.map((definition) => definition.id));
  const toolEvals = makeToolEvals(turns).filter((definition) => !evalIds.has(definition.id));
  const found = [...evals, ...toolEvals];
  if (read.lines.length > LINES_MAX) {
    notes.push(`The scenario contains only the first ${LINES_MAX} user lines.`);
  }
  if (found.length === 0) {
    notes.push(
      `No eval scored the conversation, so the only eval of the scenario is "${replyEval.name}". Add evals for what the agent must say and do.`,
    );
  }
  return {
    notes,
    scenario: {
      id: toDocumentId(`from-${id}`),
      name: `Conversation ${id.replaceAll(/\s+/g, ' ')}`.slice(0, 200),
      category: 'regression',
      tags: ['from-conversation'],
      ...(session?.metadata && { metadata: { ...session.metadata } }),
      ...describeUser(opening, steps),
      evals: found.length > 0 ? found.slice(0, EVALS_MAX) : [replyEval],
    },
  };
}

/** Returns the part of a scenario that says these lines. Only a call has interruptions. */
function describeUser(
  opening: ConversationLine,
  steps: readonly ConversationLine[],
): Pick<Scenario, 'channel' | 'user' | 'limits'> {
  const lines = [opening, ...steps];
  const interruptions = lines.filter(({ interrupt }) => interrupt !== undefined).length;
  const turns = lines.length + interruptions;
  return {
    ...(interruptions > 0 && { channel: 'voice' }),
    user: {
      mode: 'scripted',
      opening: opening.say,
      ...(opening.interrupt && { opening_delivery: { interrupt: opening.interrupt } }),
      steps: steps.map(({ say, interrupt }) => ({ say, ...(interrupt && { interrupt }) })),
    },
    ...(turns > TURNS_MAX_DEFAULT && { limits: { max_turns: Math.min(turns, TURNS_MAX) } }),
  };
}

interface StoredConversation {
  /** Undefined while the conversation is open. */
  session: Session | undefined;
  /** Without what arrived after the close. */
  turns: SessionTurn[];
  hasLateSpans: boolean;
}

async function findConversation(
  store: Store,
  ownerId: string,
  id: string,
): Promise<StoredConversation | undefined> {
  const conversation = await store.conversations.find(ownerId, id);
  const sessionId = conversation?.sessionId ?? id;
  const session =
    (await store.sessions.find(ownerId, sessionId)) ??
    (await store.sessions.listNewest(ownerId, SESSIONS_SEARCHED_MAX)).find(
      ({ sourceSessionId }) => sourceSessionId === id,
    );
  const load = async (late: boolean): Promise<SessionTurn[]> => {
    if (session) return loadTurns(store, session, { late });
    return buildConversationTurns(store, { ownerId, conversationId: id, late });
  };
  if (!session && !conversation) return undefined;
  const all = await load(true);
  const hasLateSpans = all.some(({ late }) => late !== undefined);
  return { session, turns: hasLateSpans ? await load(false) : all, hasLateSpans };
}

/**
 * Returns the current definitions of the evals that scored a session, or the live evals if none
 * did. Notes name the evals that were deleted since.
 */
async function findScoringEvals(
  store: Store,
  ownerId: string,
  session: Session | undefined,
): Promise<{ evals: EvalDefinition[]; notes: string[] }> {
  const scoringIds = session?.outcomes.map(({ evalId }) => evalId) ?? [];
  if (scoringIds.length === 0) {
    return { evals: (await findLiveEvals(store, ownerId)).evals, notes: [] };
  }
  const known = await store.evals.list(ownerId);
  const knownIds = new Set(known.map((definition) => definition.id));
  const deletedIds = scoringIds.filter((id) => !knownIds.has(id));
  return {
    evals: known.filter(({ id }) => scoringIds.includes(id)),
    notes: deletedIds.map((id) => `The eval ${id} that scored the conversation no longer exists.`),
  };
}

/** Makes an eval for each tool that was called. Not required: another path may be just as good. */
function makeToolEvals(turns: readonly SessionTurn[]): EvalDefinition[] {
  const names = new Set(turns.flatMap(({ toolCalls = [] }) => toolCalls.map(({ name }) => name)));
  return [...names].map((name) => ({
    id: toDocumentId(`calls-${name}`).slice(0, 64),
    name: `Calls ${name}`.replaceAll(/\s+/g, ' ').slice(0, 200),
    category: 'tool_use',
    kind: 'tool_called',
    params: { name },
    required: false,
  }));
}

const toDocumentId = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9_.-]+/g, '-').slice(0, 128);
