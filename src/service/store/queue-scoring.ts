import { isoDate } from '../../platform/clock.ts';
import { buildTurns } from '../turns/turns.ts';
import type { TurnLoss } from '../turns/turn-losses.ts';
import { addNewSessions } from './add-sessions.ts';
import { selectExact, type Reader, type WriteTransaction } from './connections.ts';
import { isSameSize } from './conversation-limits.ts';
import {
  isLarge,
  placeColumns,
  SEARCHED_SPANS_MAX,
  summarizeTurns,
  toPlace,
  type Partitioned,
  type PreparedById,
  type SizedPlace,
} from './conversation-reads.ts';
import {
  listLinks,
  listLinksOfAll,
  listSpans,
  listSpansOfAll,
  type SpanPlace,
} from './conversation-spans.ts';
import { findConversation, isUnscored } from './find-conversation.ts';
import { findOrInsertRun } from './names.ts';
import type { CloseAllRequest, CloseRequest, NewSession, SpanLink, StoredSpan } from './records.ts';
import type { Dialect } from './schema/table.ts';
import { insertTracedSessions, type TracedSession } from './traced-sessions.ts';

/** The result of closing a conversation. */
export interface CloseResult {
  run: string;
  evaluationsQueued: number;
  alreadyClosed: boolean;
  /** What its turns lack; undefined if they were not built. */
  losses?: readonly TurnLoss[];
}

/** How to queue the scoring of conversations of one owner. */
interface ScoringRequest extends Pick<CloseRequest, 'ownerId' | 'atMs' | 'evals'>, Partitioned {
  /** The turns of large conversations. The transaction builds those of the others. */
  prepared: PreparedById;
}

/** A conversation that is closed. */
interface ClosedConversation {
  place: SizedPlace;
  run: string;
  startedAtMs: number;
  endedAtMs: number;
  /** The id of the session that scores it. */
  sessionId: string;
}

/** What was queued for a conversation, and what its turns lack if they were built. */
type Queued = Pick<CloseResult, 'losses'> & { queued: number };

/**
 * Marks those conversations that are open as closed, adds them to their runs, and queues their scoring.
 * Returns the results by conversation id; those of conversations that are unknown or stay open are missing.
 */
export async function closeAndQueueScoring(
  db: WriteTransaction,
  request: CloseAllRequest & ScoringRequest & { dialect: Dialect },
): Promise<Map<string, CloseResult>> {
  const { ownerId, atMs, conversations } = request;
  const rows = new Map((await lockOpen(db, request)).map((row) => [row.conversation_id, row]));
  const closed = conversations.flatMap(({ conversationId, sessionId }) => {
    const row = rows.get(conversationId);
    if (!row) return [];
    const bounds = boundsOf(row);
    const run = request.runName(isoDate(bounds.startedAtMs));
    const areSpansRemoved = row.spans_removed_at_ms !== null;
    return { place: toPlace(row, request), run, ...bounds, sessionId, areSpansRemoved };
  });
  for (const [run, ofRun] of Map.groupBy(closed, (conversation) => conversation.run)) {
    await db
      .updateTable('conversations')
      .set({
        state: 'closed',
        closed_at_ms: atMs,
        run_key: await findOrInsertRun(db, ownerId, run),
      })
      .where('key', 'in', listKeys(ofRun))
      .execute();
  }
  // Without its spans, evals would score nothing.
  const scored = closed.filter(({ areSpansRemoved }) => !areSpansRemoved);
  const queuedBySession = await addScoringSessions(db, request, scored);
  const results = new Map<string, CloseResult>();
  for (const { place, run, sessionId } of closed) {
    const { queued = 0, losses } = queuedBySession.get(sessionId) ?? {};
    const result = { run, evaluationsQueued: queued, alreadyClosed: false };
    results.set(place.conversationId, { ...result, ...(losses && { losses }) });
  }
  for (const { conversationId } of conversations) {
    if (results.has(conversationId)) continue;
    const { run } = (await findConversation(db, ownerId, conversationId)) ?? {};
    if (run === undefined) continue;
    results.set(conversationId, { run, evaluationsQueued: 0, alreadyClosed: true });
  }
  return results;
}

/**
 * Locks open conversations until the transaction ends, so that only one of two concurrent calls closes
 * them. Spans lock conversations in the same order.
 */
function lockOpen(
  db: WriteTransaction,
  request: Pick<CloseAllRequest, 'ownerId' | 'conversations' | 'idleBeforeMs'> & {
    dialect: Dialect;
  },
) {
  const { ownerId, conversations, idleBeforeMs, dialect } = request;
  const ids = conversations.map(({ conversationId }) => conversationId);
  return (
    db
      .selectFrom('conversations')
      .select([...placeColumns, 'spans_removed_at_ms'])
      .select([selectExact('first_start_ns'), selectExact('last_end_ns')])
      .where('owner_id', '=', ownerId)
      .where('conversation_id', 'in', ids)
      .where('state', '=', 'open')
      .where('last_received_at_ms', '<', idleBeforeMs ?? Number.MAX_SAFE_INTEGER)
      .orderBy('conversation_id')
      // SQLite has one writer at a time.
      .$if(dialect === 'postgres', (query) => query.forUpdate())
      .execute()
  );
}

/** Queues the scoring of a conversation that is closed and unscored. */
export async function queueScoring(
  db: WriteTransaction,
  request: ScoringRequest & Pick<CloseRequest, 'conversationId' | 'sessionId'>,
): Promise<{ run: string; queued: number } | undefined> {
  const { ownerId, conversationId, sessionId } = request;
  // The update locks the row, so that only one of two concurrent calls finds it unscored.
  const row = await db
    .updateTable('conversations')
    .set((eb) => ({ state: eb.ref('state') }))
    .where('owner_id', '=', ownerId)
    .where('conversation_id', '=', conversationId)
    .where(isUnscored)
    .where('run_key', 'is not', null)
    .returning([...placeColumns, 'run_key'])
    .returning([selectExact('first_start_ns'), selectExact('last_end_ns')])
    .executeTakeFirst();
  if (!row) return undefined;
  const { name: run } = await db
    .selectFrom('runs')
    .select('name')
    .where('key', '=', row.run_key)
    .executeTakeFirstOrThrow();
  const conversation = { place: toPlace(row, request), run, ...boundsOf(row), sessionId };
  const queued = await addScoringSessions(db, request, [conversation]);
  return { run, queued: queued.get(sessionId)?.queued ?? 0 };
}

/**
 * Adds the sessions that score closed conversations, with what their spans say, and jobs. Without evals,
 * adds nothing. Returns what it queued by session id.
 */
async function addScoringSessions(
  db: WriteTransaction,
  request: ScoringRequest,
  conversations: readonly ClosedConversation[],
): Promise<Map<string, Queued>> {
  const { ownerId, atMs, evals } = request;
  if (evals.length === 0 || conversations.length === 0) return new Map();
  const ids = conversations.map(({ sessionId }) => sessionId);
  const existing = await db
    .selectFrom('sessions')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('id', 'in', ids)
    .executeTakeFirst();
  // Adding the session would replace one that scores another conversation.
  if (existing) {
    throw new Error(`Session id ${existing.id} is already in use; each session needs a new id.`);
  }
  const sessions = conversations.map((conversation) => toSession(conversation, { ownerId, evals }));
  const added = await addNewSessions(db, sessions, atMs);
  await db
    .updateTable('conversations')
    .from('sessions')
    .set((eb) => ({ session_key: eb.ref('sessions.key') }))
    .where('conversations.key', 'in', listKeys(conversations))
    .where('sessions.owner_id', '=', ownerId)
    .where(
      'sessions.key',
      'in',
      added.map(({ key }) => key),
    )
    .whereRef('sessions.source_session_id', '=', 'conversations.conversation_id')
    .execute();
  const places = conversations.map(({ place }) => place);
  const summaries = await summarizeAll(db, places, request);
  // With the sessions, because what is written later is lost if the service dies meanwhile.
  await insertTracedSessions(
    db,
    conversations.flatMap(({ place }, nth) => {
      const [sessionKey, summary] = [added[nth]?.key, summaries[nth]];
      return sessionKey === undefined || !summary
        ? []
        : { sessionKey, conversationKey: place.key, traced: summary.traced };
    }),
  );
  return new Map(
    added.map(({ queued }, nth) => {
      const losses = summaries[nth]?.losses;
      return [ids[nth] ?? '', { queued, ...(losses && { losses }) }];
    }),
  );
}

const toSession = (
  conversation: ClosedConversation,
  { ownerId, evals }: Pick<ScoringRequest, 'ownerId' | 'evals'>,
): NewSession => ({
  id: conversation.sessionId,
  kind: 'production',
  ownerId,
  status: 'evaluating',
  startedAtMs: conversation.startedAtMs,
  endedAtMs: conversation.endedAtMs,
  runName: conversation.run,
  sourceSessionId: conversation.place.conversationId,
  simulation: undefined,
  agent: undefined,
  scenario: undefined,
  persona: undefined,
  endReason: undefined,
  turns: [],
  outcomes: [],
  evals,
});

/** Summarizes the turns of conversations: what the spans say about the session, and what they lack. */
async function summarizeAll(
  db: Reader,
  places: readonly SizedPlace[],
  { ownerId, prepared }: Pick<ScoringRequest, 'ownerId' | 'prepared'>,
): Promise<{ traced: TracedSession; losses?: readonly TurnLoss[] }[]> {
  const small = places.filter((place) => !prepared.has(place.conversationId) && !isLarge(place));
  const spans = await listSpansOfAll(db, small);
  const links = await listLinksOfAll(db, ownerId, spans);
  const summaries = [];
  for (const place of places) {
    const own = spans.get(place);
    const before = prepared.get(place.conversationId);
    if (own) summaries.push(summarizeScored(own, links.get(place) ?? []));
    else if (before && isSameSize(before, place)) summaries.push(before);
    else summaries.push({ traced: before?.traced ?? (await describeStart(db, place)) });
  }
  return summaries;
}

function summarizeScored(spans: readonly StoredSpan[], links: readonly SpanLink[]) {
  const scored = spans.filter(({ late }) => !late);
  return summarizeTurns(scored, buildTurns(scored, links));
}

/** Describes a conversation that has become large meanwhile by its first spans. */
async function describeStart(db: Reader, place: SpanPlace): Promise<TracedSession> {
  const spans = await listSpans(db, place, SEARCHED_SPANS_MAX);
  return summarizeScored(spans, await listLinks(db, place)).traced;
}

const listKeys = (conversations: readonly { place: SpanPlace }[]): number[] =>
  conversations.map(({ place: { key } }) => key);

const boundsOf = (row: { first_start_ns: string; last_end_ns: string }) => ({
  startedAtMs: toMs(row.first_start_ns),
  endedAtMs: toMs(row.last_end_ns),
});

const toMs = (ns: string): number => Number(BigInt(ns) / 1_000_000n);
