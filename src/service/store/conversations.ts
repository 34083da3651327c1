import { sql } from 'kysely';
import type { TurnBuilder } from '../turns/turn-builder.ts';
import type { Connections, Reader, WriteTransaction } from './connections.ts';
import { createConversationReads } from './conversation-reads.ts';
import { findConversation, isUnscored, type Conversation } from './find-conversation.ts';
import { closeAndQueueScoring, queueScoring, type CloseResult } from './queue-scoring.ts';
import type { CloseAllRequest, CloseRequest, Page } from './records.ts';
import { readScoredConversations } from './scored-conversations.ts';
import { endOfPrefix } from './text-search.ts';

/** A conversation without a session, in a list. */
export interface WaitingConversation {
  conversationId: string;
  spans: number;
  lastReceivedAtMs: number;
  closedAtMs: number | undefined;
  /** The first tags. */
  tags: { key: string; value: string }[];
}

/**
 * Creates the store of live-trace conversations. A conversation is open until it is closed, once and
 * for good. A closed conversation is unscored until a session scores it.
 */
export function createConversationStore(
  { dialect, reader, read, write, directory }: Connections,
  turnBuilder: TurnBuilder,
) {
  const inPartitions = dialect === 'postgres';
  const reads = createConversationReads({ reader, inPartitions }, turnBuilder);
  /**
   * Closes conversations that `groupBySize` returns together and, in the same transaction, adds them to
   * their runs and queues their scoring. Returns the results by conversation id. Concurrent calls close a
   * conversation once; later calls return `alreadyClosed`. Unknown conversations are missing, and those
   * that received a span at or after `idleBeforeMs`.
   */
  const closeAll = async (request: CloseAllRequest): Promise<Map<string, CloseResult>> => {
    const prepared = await reads.prepareLarge(request);
    return write(request.ownerId, (db) =>
      closeAndQueueScoring(db, { ...request, prepared, inPartitions, dialect }),
    );
  };
  return {
    ...reads,
    find: (ownerId: string, conversationId: string): Promise<Conversation | undefined> =>
      findConversation(reader(ownerId), ownerId, conversationId),
    listTags: (
      ownerId: string,
      conversationId: string,
    ): Promise<{ key: string; value: string }[]> =>
      listTags(reader(ownerId), ownerId, conversationId),
    /**
     * Reads the conversations that sessions score, in groups of limited size. Leaves out large ones, and
     * sessions that have something else than their conversation.
     */
    readScored: (ownerId: string, sessionIds: readonly string[]) =>
      readScoredConversations(reader(ownerId), { ownerId, sessionIds, inPartitions }),
    closeAll,
    /** Closes one conversation like `closeAll`. */
    async close({
      conversationId,
      sessionId,
      ...request
    }: CloseRequest): Promise<CloseResult | undefined> {
      const conversations = [{ conversationId, sessionId }];
      return (await closeAll({ ...request, conversations })).get(conversationId);
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
      const prepared = await reads.prepareLarge({ ...request, conversations: [request] });
      return write(request.ownerId, (db) =>
        queueScoring(db, { ...request, prepared, inPartitions }),
      );
    },
  };
}

function listTags(
  db: Reader,
  ownerId: string,
  conversationId: string,
): Promise<{ key: string; value: string }[]> {
  return db
    .selectFrom('tags')
    .innerJoin('conversations', 'conversations.key', 'tags.conversation_key')
    .select(['tags.name as key', 'value'])
    .where('conversations.owner_id', '=', ownerId)
    .where('conversation_id', '=', conversationId)
    .orderBy('tags.name')
    .orderBy('value')
    .execute();
}

async function listUnscored(db: Reader, ownerId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('conversations')
    .select('conversation_id')
    .where('owner_id', '=', ownerId)
    .where(isUnscored)
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
  const all = db
    .selectFrom('conversations')
    .where('owner_id', '=', ownerId)
    .$if(state === 'open', (query) => query.where('state', '=', sql.lit('open')))
    .$if(state === 'unscored', (query) => query.where(isUnscored));
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
