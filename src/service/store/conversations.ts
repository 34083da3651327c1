import { sql } from 'kysely';
import { isoTime, toDay } from '../../platform/clock.ts';
import type { TurnBuilder } from '../turns/turn-builder.ts';
import { buildTurns } from '../turns/turns.ts';
import { addSession, toSearchText } from './add-sessions.ts';
import {
  selectExact,
  type Connections,
  type Reader,
  type WriteTransaction,
} from './connections.ts';
import {
  createConversationReads,
  SEARCHED_SPANS_MAX,
  toPlace,
  type Partitioned,
} from './conversation-reads.ts';
import { listLinks, listSpans, type SpanPlace } from './conversation-spans.ts';
import { findOrInsertRun } from './names.ts';
import type {
  CloseRequest,
  CloseResult,
  Conversation,
  Page,
  WaitingConversation,
} from './records.ts';
import { endOfPrefix } from './text-search.ts';

/**
 * Creates the store of live-trace conversations. A conversation is open until it is closed, once and
 * for good. A closed conversation is unscored until a session scores it.
 */
export function createConversationStore(
  { dialect, reader, read, write, directory }: Connections,
  turnBuilder: TurnBuilder,
) {
  const inPartitions = dialect === 'postgres';
  const { prepareSearchText, ...reads } = createConversationReads(
    { reader, inPartitions },
    turnBuilder,
  );
  return {
    ...reads,
    find: (ownerId: string, conversationId: string): Promise<Conversation | undefined> =>
      find(reader(ownerId), ownerId, conversationId),
    listTags: (
      ownerId: string,
      conversationId: string,
    ): Promise<{ key: string; value: string }[]> =>
      reader(ownerId)
        .selectFrom('tags')
        .innerJoin('conversations', 'conversations.key', 'tags.conversation_key')
        .select(['tags.name as key', 'value'])
        .where('conversations.owner_id', '=', ownerId)
        .where('conversation_id', '=', conversationId)
        .orderBy('tags.name')
        .orderBy('value')
        .execute(),
    /**
     * Closes a conversation and, in the same transaction, adds it to its run and queues its scoring.
     * Concurrent calls close it once; later calls return `alreadyClosed`. Returns undefined for an
     * unknown conversation, and for one that received a span at or after `idleBeforeMs`.
     */
    async close(request: CloseRequest): Promise<CloseResult | undefined> {
      const searchText = await prepareSearchText(request);
      return write(request.ownerId, (db) => close(db, { ...request, searchText, inPartitions }));
    },
    /** Lists open conversations of all owners whose last span was received before `ms`, oldest first. */
    async listIdle(
      ms: number,
      limit: number,
    ): Promise<{ ownerId: string; conversationId: string }[]> {
      const rows = await directory.reader
        .selectFrom('conversations')
        .select(['owner_id', 'conversation_id'])
        .where('state', '=', sql.lit('open'))
        .where('last_received_at_ms', '<', ms)
        .orderBy('last_received_at_ms')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ownerId: row.owner_id, conversationId: row.conversation_id }));
    },
    /**
     * Sets receive times in the future to `nowMs`, for open conversations of all owners, and returns
     * how many there were. Future times come from an earlier process whose clock was advanced.
     */
    capReceivedAt: (nowMs: number): Promise<number> => capReceivedAt({ directory, write }, nowMs),
    /** Lists open or unscored conversations, newest first, and the number of all of them. */
    listWaiting: (
      ownerId: string,
      state: 'open' | 'unscored',
      page: Page,
    ): Promise<{ conversations: WaitingConversation[]; total: number }> =>
      read(ownerId, (db) => listWaiting(db, { ownerId, state, ...page })),
    /** Lists the ids of conversations that begin with a text, in their order. */
    listByIdPrefix: (ownerId: string, prefix: string, limit: number): Promise<string[]> =>
      listByIdPrefix(reader(ownerId), { ownerId, prefix, limit }),
    /** Lists conversations that were closed but never scored, oldest first. */
    listUnscored: (ownerId: string, limit: number): Promise<string[]> =>
      listUnscored(reader(ownerId), ownerId, limit),
    /**
     * Creates the session and the jobs of a closed, unscored conversation in one transaction. Returns
     * undefined for any other conversation. Without evals, the conversation stays unscored.
     */
    async queueScoring(
      request: Omit<CloseRequest, 'runName'>,
    ): Promise<{ run: string; queued: number } | undefined> {
      const searchText = await prepareSearchText(request);
      return write(request.ownerId, (db) =>
        queueScoring(db, { ...request, searchText, inPartitions }),
      );
    },
  };
}

export type ConversationStore = ReturnType<typeof createConversationStore>;

async function listUnscored(db: Reader, ownerId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('conversations')
    .select('conversation_id')
    .where('owner_id', '=', ownerId)
    .where('state', '=', sql.lit('closed'))
    .where('session_key', 'is', null)
    .where('spans_removed_at_ms', 'is', null)
    .orderBy('closed_at_ms')
    .orderBy('key')
    .limit(limit)
    .execute();
  return rows.map(({ conversation_id: id }) => id);
}

async function capReceivedAt(
  { directory, write }: Pick<Connections, 'directory' | 'write'>,
  nowMs: number,
): Promise<number> {
  const inFuture = await directory.reader
    .selectFrom('conversations')
    .select('owner_id')
    .distinct()
    .where('state', '=', sql.lit('open'))
    .where('last_received_at_ms', '>', nowMs)
    .execute();
  let count = 0;
  for (const { owner_id: ownerId } of inFuture) {
    count += await write(ownerId, (db) => capReceivedAtOfOwner(db, ownerId, nowMs));
  }
  return count;
}

async function capReceivedAtOfOwner(
  db: WriteTransaction,
  ownerId: string,
  nowMs: number,
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('conversations')
    .set({ last_received_at_ms: nowMs })
    .where('owner_id', '=', ownerId)
    .where('state', '=', sql.lit('open'))
    .where('last_received_at_ms', '>', nowMs)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** How to queue the scoring of a conversation. */
interface ScoringRequest extends Omit<CloseRequest, 'runName'>, Partitioned {
  /** The text that a search finds a large conversation by; of others, the transaction reads it. */
  searchText: string | undefined;
}

async function close(
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

  const bounds = { startedAtMs: toMs(row.first_start_ns), endedAtMs: toMs(row.last_end_ns) };
  const run = request.runName(isoTime(bounds.startedAtMs).slice(0, 10));
  await db
    .updateTable('conversations')
    .set({ run_key: await findOrInsertRun(db, ownerId, run) })
    .where('key', '=', row.key)
    .execute();
  // Without its spans, evals would score nothing.
  const queued =
    row.spans_removed_at_ms === null
      ? await queueJobs(db, request, { place: toPlace(row, request), run, ...bounds })
      : 0;
  return { run, evaluationsQueued: queued, alreadyClosed: false };
}

async function findEarlierClose(
  db: WriteTransaction,
  request: CloseRequest,
): Promise<CloseResult | undefined> {
  const { ownerId, conversationId } = request;
  const { run } = (await find(db, ownerId, conversationId)) ?? {};
  return run === undefined ? undefined : { run, evaluationsQueued: 0, alreadyClosed: true };
}

async function queueScoring(
  db: WriteTransaction,
  request: ScoringRequest,
): Promise<{ run: string; queued: number } | undefined> {
  // The update locks the row, so that only one of two concurrent calls finds it unscored.
  const row = await db
    .updateTable('conversations')
    .set((eb) => ({ state: eb.ref('state') }))
    .where('owner_id', '=', request.ownerId)
    .where('conversation_id', '=', request.conversationId)
    .where('state', '=', 'closed')
    .where('session_key', 'is', null)
    .where('spans_removed_at_ms', 'is', null)
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
  const bounds = { startedAtMs: toMs(row.first_start_ns), endedAtMs: toMs(row.last_end_ns) };
  const queued = await queueJobs(db, request, { place: toPlace(row, request), run, ...bounds });
  return { run, queued };
}

/** Creates the session of a closed conversation with its search text and jobs; nothing without evals. */
async function queueJobs(
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
  const text = request.searchText ?? (await readSearchText(db, conversation.place));
  // With the session, because a text that is written later is lost if the service dies meanwhile.
  await db.insertInto('session_texts').values({ session_key: key, text }).execute();
  return queued;
}

/** Returns the text that a search finds the session of a conversation by. */
async function readSearchText(db: Reader, place: SpanPlace): Promise<string> {
  const spans = await listSpans(db, place, SEARCHED_SPANS_MAX);
  const links = await listLinks(db, place);
  return toSearchText(
    buildTurns(
      spans.filter(({ late }) => !late),
      links,
    ),
  );
}

async function find(
  db: Reader,
  ownerId: string,
  conversationId: string,
): Promise<Conversation | undefined> {
  const row = await db
    .selectFrom('conversations')
    .leftJoin('runs', 'runs.key', 'conversations.run_key')
    .leftJoin('sessions', 'sessions.key', 'conversations.session_key')
    .select(['state', 'last_received_at_ms', 'span_count', 'closed_at_ms'])
    .select(['received_day', 'spans_removed_at_ms'])
    .select(['runs.name as run', 'sessions.id as session_id'])
    .select([selectExact('first_start_ns'), selectExact('last_end_ns')])
    .where('conversations.owner_id', '=', ownerId)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst();
  const removedAtMs = row?.spans_removed_at_ms ?? undefined;
  return (
    row && {
      conversationId,
      state: row.state,
      firstStartNs: BigInt(row.first_start_ns),
      lastEndNs: BigInt(row.last_end_ns),
      lastReceivedAtMs: row.last_received_at_ms,
      spanCount: row.span_count,
      closedAtMs: row.closed_at_ms ?? undefined,
      run: row.run ?? undefined,
      sessionId: row.session_id ?? undefined,
      spansRemoved:
        removedAtMs === undefined
          ? undefined
          : { atMs: removedAtMs, afterDays: toDay(removedAtMs) - row.received_day },
    }
  );
}

/** The tags of a conversation that a list shows. */
const LISTED_TAGS_MAX = 5;

interface WaitingQuery extends Page {
  ownerId: string;
  state: 'open' | 'unscored';
}

async function listByIdPrefix(
  db: Reader,
  { ownerId, prefix, limit }: { ownerId: string; prefix: string; limit: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom('conversations')
    .select('conversation_id')
    .where('owner_id', '=', ownerId)
    .where('conversation_id', '>=', prefix)
    .where('conversation_id', '<', endOfPrefix(prefix))
    .orderBy('conversation_id')
    .limit(limit)
    .execute();
  return rows.map(({ conversation_id: id }) => id);
}

/** Lists open or unscored conversations. Call it in a transaction, so that the total fits. */
async function listWaiting(
  db: Reader,
  { ownerId, state, skip, limit }: WaitingQuery,
): Promise<{ conversations: WaitingConversation[]; total: number }> {
  // States are literals, because SQLite uses a partial index only if the query repeats its condition.
  const all = db
    .selectFrom('conversations')
    .where('owner_id', '=', ownerId)
    .$if(state === 'open', (query) => query.where('state', '=', sql.lit('open')))
    .$if(state === 'unscored', (query) =>
      query.where('state', '=', sql.lit('closed')).where('session_key', 'is', null),
    );
  const { total } = await all
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await all
    .select(['key', 'conversation_id', 'span_count', 'last_received_at_ms', 'closed_at_ms'])
    .$if(state === 'unscored', (query) => query.orderBy('closed_at_ms', 'desc'))
    .orderBy('key', 'desc')
    .limit(limit)
    .offset(skip)
    .execute();
  const conversations = [];
  for (const row of rows) {
    const tags = await db
      .selectFrom('tags')
      .select(['name as key', 'value'])
      .where('conversation_key', '=', row.key)
      .orderBy('name')
      .orderBy('value')
      .limit(LISTED_TAGS_MAX)
      .execute();
    conversations.push({
      conversationId: row.conversation_id,
      spans: row.span_count,
      lastReceivedAtMs: row.last_received_at_ms,
      closedAtMs: row.closed_at_ms ?? undefined,
      tags,
    });
  }
  return { conversations, total };
}

function toMs(ns: string): number {
  return Number(BigInt(ns) / 1_000_000n);
}
