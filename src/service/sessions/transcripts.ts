/** Reads the turns of sessions from the store: those that are stored, or those that their spans make. */
import type { ShownTurn } from '../../report-kit/transcript.ts';
import { RequestError } from '../requests/errors.ts';
import type { Conversation, JsonObject, Session, Store } from '../store/store.ts';
import { UnreadableConversationError } from '../turns/turn-builder.ts';
import type { ScoredTurn, SessionTurn, TracedTurn } from '../turns/turn-types.ts';
import type { ScoredSession } from './scored-session.ts';

/**
 * Returns the turns of a session: the stored ones, or those derived from its spans.
 * @param late Whether to include spans that arrived after the close. They are shown, but not scored.
 */
export async function loadTurns(
  store: Store,
  session: Session,
  { late = true }: { late?: boolean } = {},
): Promise<SessionTurn[]> {
  const { ownerId, id, sourceSessionId } = session;
  const stored = await store.sessions.listTurns(ownerId, id);
  if (stored.length > 0 || session.kind === 'simulation' || sourceSessionId === undefined) {
    return stored;
  }
  return buildConversationTurns(store, { ownerId, conversationId: sourceSessionId, late });
}

/** The turns of a session as evals see them, and as pages show them, with those that arrived late. */
export interface Transcript {
  scored: readonly SessionTurn[];
  shown: readonly ShownTurn[];
}

/** Returns the transcript of a session: the stored one, or the one derived from its spans. */
export async function loadTranscript(store: Store, session: Session): Promise<Transcript> {
  const stored = await store.sessions.listTurns(session.ownerId, session.id);
  const conversationId = conversationOf(session);
  return stored.length > 0 || conversationId === undefined
    ? { scored: stored, shown: stored }
    : buildConversationTranscript(store, session.ownerId, conversationId);
}

/**
 * Waits until there is memory for the turns of a session. Dispose of the result when they are no longer
 * needed, and do not hold another one meanwhile.
 */
export async function holdTurns({ conversations }: Store, session: Session): Promise<Disposable> {
  return conversations.holdMemory(session.ownerId, conversationOf(session) ?? '');
}

/** Builds the transcript of a conversation from its spans. */
export async function buildConversationTranscript(
  { conversations, turnBuilder }: Store,
  ownerId: string,
  conversationId: string,
): Promise<Transcript> {
  const spans = await conversations.listSpans(ownerId, conversationId);
  const links = await conversations.listLinks(ownerId, conversationId);
  return turnBuilder.buildTranscript(spans, links).catch(rejectUnreadable);
}

/** @throws RequestError if a conversation can't be read; any other error stays the same. */
function rejectUnreadable(error: unknown): never {
  if (error instanceof UnreadableConversationError) {
    throw new RequestError('failed', error.message);
  }
  throw error;
}

/**
 * Builds the turns of a conversation from its spans.
 * @param late Whether to include spans that arrived after the close.
 */
export async function buildConversationTurns(
  { conversations, turnBuilder }: Store,
  conversation: { ownerId: string; conversationId: string; late?: boolean },
): Promise<TracedTurn[]> {
  const { ownerId, conversationId, late = true } = conversation;
  const spans = await conversations.listSpans(ownerId, conversationId);
  const links = await conversations.listLinks(ownerId, conversationId);
  return turnBuilder.buildTurns(late ? spans : spans.filter((span) => !span.late), links);
}

/**
 * Returns a session in the form that evals read; undefined when it no longer exists, or its spans were
 * removed.
 */
export async function findScoredSession(
  store: Store,
  ownerId: string,
  sessionId: string,
): Promise<ScoredSession | undefined> {
  const session = await store.sessions.find(ownerId, sessionId);
  if (!session) return undefined;
  const { sourceSessionId, agent, scenario, persona } = session;
  const { turn_taking: turnTaking, heard } = session.simulated ?? {};
  const metadata =
    session.metadata ?? (await findTags(store, session.ownerId, conversationOf(session)));
  const turns = await loadTurns(store, session, { late: false });
  if (turns.length === 0 && (await findRemovedSpans(store, session))) return undefined;
  return {
    sessionId,
    ...(sourceSessionId !== undefined && { sourceSessionId }),
    ...(agent && { agent: agent.name }),
    ...(scenario !== undefined && { scenario }),
    ...(persona !== undefined && { persona }),
    ...(metadata && { metadata }),
    turns: turns.map(toScoredTurn),
    ...(turnTaking && { turnTaking }),
    ...(heard && { heard }),
  };
}

/**
 * Returns sessions of live traces in the form that evals read, in groups that are read together. Leaves
 * out those that have to be read alone.
 */
export async function* readScoredSessions(
  { conversations, turnBuilder }: Pick<Store, 'conversations' | 'turnBuilder'>,
  ownerId: string,
  sessionIds: readonly string[],
): AsyncGenerator<ScoredSession[]> {
  for await (const group of conversations.readScored(ownerId, sessionIds)) {
    const sessions: ScoredSession[] = [];
    for (const { sessionId, conversationId, spans, links, tags } of group) {
      const scored = spans.filter(({ late }) => !late);
      const turns = await turnBuilder.buildTurns(scored, links);
      const metadata = toMetadata(tags);
      sessions.push({
        sessionId,
        sourceSessionId: conversationId,
        ...(metadata && { metadata }),
        turns: turns.map(toScoredTurn),
      });
    }
    yield sessions;
  }
}

/** Returns when the spans of a session were removed because of their age; undefined if they were not. */
async function findRemovedSpans(
  { conversations }: Store,
  session: Session,
): Promise<Conversation['spansRemoved']> {
  const id = conversationOf(session);
  return id === undefined
    ? undefined
    : (await conversations.find(session.ownerId, id))?.spansRemoved;
}

/**
 * Returns a session, or a conversation of live traces that is open or unscored, in the form that evals
 * read; undefined when nothing has this id, or its spans were removed.
 */
export async function findScorable(
  store: Store,
  ownerId: string,
  id: string,
): Promise<ScoredSession | undefined> {
  const session = await findScoredSession(store, ownerId, id);
  if (session) return session;
  const conversation = await store.conversations.find(ownerId, id);
  if (!conversation || conversation.spansRemoved) return undefined;
  if (conversation.sessionId !== undefined) {
    return findScoredSession(store, ownerId, conversation.sessionId);
  }
  const metadata = await findTags(store, ownerId, id);
  const conversationId = { ownerId, conversationId: id, late: false };
  const turns = await buildConversationTurns(store, conversationId);
  return {
    sessionId: id,
    sourceSessionId: id,
    ...(metadata && { metadata }),
    turns: turns.map(toScoredTurn),
  };
}

/** Waits until there is memory for a session or conversation in the form that evals read. */
export async function holdScorable(store: Store, ownerId: string, id: string): Promise<Disposable> {
  const session = await store.sessions.find(ownerId, id);
  const conversationId = session ? (conversationOf(session) ?? '') : id;
  return store.conversations.holdMemory(ownerId, conversationId, 'score');
}

function toScoredTurn(turn: SessionTurn): ScoredTurn {
  return {
    sequence: turn.sequence,
    userInput: turn.userInput,
    agentResponse: turn.agentResponse,
    toolCalls: turn.toolCalls ?? [],
    ...(turn.latencyMs !== undefined && { latencyMs: turn.latencyMs }),
    ...(turn.failed !== undefined && { failed: turn.failed }),
    ...(turn.evaluationMetadata && { evaluationMetadata: turn.evaluationMetadata }),
    ...(turn.scenarioLine !== undefined && { scenarioLine: turn.scenarioLine }),
    ...(turn.interrupts && { interrupts: true }),
  };
}

/** Returns the id of the conversation whose tags a session has. */
const conversationOf = ({ kind, sourceSessionId }: Session): string | undefined =>
  kind === 'simulation' ? undefined : sourceSessionId;

async function findTags(
  store: Store,
  ownerId: string,
  conversationId: string | undefined,
): Promise<JsonObject | undefined> {
  if (conversationId === undefined) return undefined;
  return toMetadata(await store.conversations.listTags(ownerId, conversationId));
}

/** Returns the tags of a conversation as metadata: a string, or an array for a repeated tag. */
function toMetadata(
  tags: readonly { key: string; value: string }[],
): Record<string, unknown> | undefined {
  if (tags.length === 0) return undefined;
  const byKey = Map.groupBy(tags, ({ key }) => key);
  return Object.fromEntries(
    Array.from(byKey, ([key, [first, ...more]]) => {
      const values = [first, ...more].map((tag) => tag?.value);
      return [key, more.length === 0 ? values[0] : values];
    }),
  );
}
