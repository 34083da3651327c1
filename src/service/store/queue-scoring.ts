import { isoDate } from '../../platform/clock.ts';
import { buildTurns } from '../turns/turns.ts';
import { addSession } from './add-sessions.ts';
import { selectExact, type Reader, type WriteTransaction } from './connections.ts';
import { SEARCHED_SPANS_MAX, toPlace, type Partitioned } from './conversation-reads.ts';
import { listLinks, listSpans, type SpanPlace } from './conversation-spans.ts';
import { findConversation, isUnscored } from './find-conversation.ts';
import { findOrInsertRun } from './names.ts';
import type { CloseRequest, CloseResult } from './records.ts';
import {
  describeTracedSession,
  insertTracedSession,
  type TracedSession,
} from './traced-sessions.ts';

/** How to queue the scoring of a conversation. */
interface ScoringRequest extends Omit<CloseRequest, 'runName'>, Partitioned {
  /** What the spans of a large conversation say; the transaction reads those of others. */
  traced: TracedSession | undefined;
}

/** Marks an open conversation as closed, adds it to its run, and queues its scoring. */
export async function closeAndQueueScoring(
  db: WriteTransaction,
  request: ScoringRequest & Pick<CloseRequest, 'runName'>,
): Promise<CloseResult | undefined> {
  const { ownerId, conversationId, atMs, idleBeforeMs } = request;
  // One statement both checks and changes the state, so only one of two concurrent calls matches.
  const row = await db
    .updateTable('conversations')
    .set({ state: 'closed', closed_at_ms: atMs })
    .where('owner_id', '=', ownerId)
    .where('conversation_id', '=', conversationId)
    .where('state', '=', 'open')
    .where('last_received_at_ms', '<', idleBeforeMs ?? Number.MAX_SAFE_INTEGER)
    .returning(['key', 'received_day', 'spans_removed_at_ms'])
    .returning([selectExact('first_start_ns'), selectExact('last_end_ns')])
    .executeTakeFirst();
  if (!row) return findEarlierClose(db, request);

  const bounds = boundsOf(row);
  const run = request.runName(isoDate(bounds.startedAtMs));
  await db
    .updateTable('conversations')
    .set({ run_key: await findOrInsertRun(db, ownerId, run) })
    .where('key', '=', row.key)
    .execute();
  // Without its spans, evals would score nothing.
  const queued =
    row.spans_removed_at_ms === null
      ? await addScoringSession(db, request, { place: toPlace(row, request), run, ...bounds })
      : 0;
  return { run, evaluationsQueued: queued, alreadyClosed: false };
}

async function findEarlierClose(
  db: WriteTransaction,
  request: CloseRequest,
): Promise<CloseResult | undefined> {
  const { ownerId, conversationId } = request;
  const { run } = (await findConversation(db, ownerId, conversationId)) ?? {};
  return run === undefined ? undefined : { run, evaluationsQueued: 0, alreadyClosed: true };
}

/** Queues the scoring of a conversation that is closed and unscored. */
export async function queueScoring(
  db: WriteTransaction,
  request: ScoringRequest,
): Promise<{ run: string; queued: number } | undefined> {
  // The update locks the row, so that only one of two concurrent calls finds it unscored.
  const row = await db
    .updateTable('conversations')
    .set((eb) => ({ state: eb.ref('state') }))
    .where('owner_id', '=', request.ownerId)
    .where('conversation_id', '=', request.conversationId)
    .where(isUnscored)
    .where('run_key', 'is not', null)
    .returning(['key', 'received_day', 'run_key'])
    .returning([selectExact('first_start_ns'), selectExact('last_end_ns')])
    .executeTakeFirst();
  if (!row) return undefined;
  const { name: run } = await db
    .selectFrom('runs')
    .select('name')
    .where('key', '=', row.run_key)
    .executeTakeFirstOrThrow();
  const conversation = { place: toPlace(row, request), run, ...boundsOf(row) };
  return { run, queued: await addScoringSession(db, request, conversation) };
}

/**
 * Adds the session that scores a closed conversation, with what its spans say, and jobs. Without evals, adds
 * nothing. Returns the number of jobs.
 */
async function addScoringSession(
  db: WriteTransaction,
  request: ScoringRequest,
  conversation: { place: SpanPlace; run: string; startedAtMs: number; endedAtMs: number },
): Promise<number> {
  const { ownerId, conversationId, atMs, evals, sessionId } = request;
  if (evals.length === 0) return 0;
  const existing = await db
    .selectFrom('sessions')
    .select('key')
    .where('owner_id', '=', ownerId)
    .where('id', '=', sessionId)
    .executeTakeFirst();
  // Adding the session would replace one that scores another conversation.
  if (existing) {
    throw new Error(`Session id ${sessionId} is already in use; each session needs a new id.`);
  }
  const session = {
    id: sessionId,
    kind: 'production',
    ownerId,
    status: 'evaluating',
    startedAtMs: conversation.startedAtMs,
    endedAtMs: conversation.endedAtMs,
    runName: conversation.run,
    sourceSessionId: conversationId,
    simulation: undefined,
    agent: undefined,
    scenario: undefined,
    persona: undefined,
    endReason: undefined,
    turns: [],
    outcomes: [],
    evals,
  } as const;
  const { key, queued } = await addSession(db, session, { dueAtMs: atMs, isNew: true });
  await db
    .updateTable('conversations')
    .set({ session_key: key })
    .where('key', '=', conversation.place.key)
    .execute();
  const traced = request.traced ?? (await describeSmall(db, conversation.place));
  // With the session, because what is written later is lost if the service dies meanwhile.
  const keys = { sessionKey: key, conversationKey: conversation.place.key };
  await insertTracedSession(db, keys, traced);
  return queued;
}

/** Describes the session of a conversation by its spans. */
async function describeSmall(db: Reader, place: SpanPlace): Promise<TracedSession> {
  const spans = await listSpans(db, place, SEARCHED_SPANS_MAX);
  const links = await listLinks(db, place);
  const scored = spans.filter(({ late }) => !late);
  return describeTracedSession(scored, buildTurns(scored, links));
}

const boundsOf = (row: { first_start_ns: string; last_end_ns: string }) => ({
  startedAtMs: toMs(row.first_start_ns),
  endedAtMs: toMs(row.last_end_ns),
});

const toMs = (ns: string): number => Number(BigInt(ns) / 1_000_000n);
