/** Reads conversations as a whole, within limits of memory and of the time that blocks the event loop. */
import { setImmediate } from 'node:timers/promises';
import { createWeightLimit } from '../../platform/weight-limit.ts';
import { UnreadableConversationError, type TurnBuilder } from '../turns/turn-builder.ts';
import { findTurnLosses, type TurnLoss } from '../turns/turn-losses.ts';
import type { TracedTurn } from '../turns/turn-types.ts';
import type { Connections, Reader } from './connections.ts';
import { addSize, type ConversationSize } from './conversation-limits.ts';
import { listLinks, listSpans, type SpanPlace } from './conversation-spans.ts';
import type { CloseRequest, SpanLink, StoredSpan } from './records.ts';
import { describeTracedSession, type TracedSession } from './traced-sessions.ts';

/**
 * The bytes of large conversations that are read as a whole at the same time: one of the largest, or a few
 * others. Each takes ten times as much memory while its turns are built.
 */
const BYTES_READ_MAX = 16_777_216;

/** Smaller conversations are not counted, so that they never wait for large ones. */
const BYTES_COUNTED_MIN = 262_144;

/** What a span takes besides its texts. */
const SPAN_BYTES = 1_000;

/** The transaction itself reads no more of a conversation, so that it is short. */
export const SEARCHED_SPANS_MAX = 200;
const SEARCHED_BYTES_MAX = 100_000;

/** How much of several conversations is read together. SQLite blocks the event loop meanwhile. */
const GROUP_SPANS_MAX = 500;
const GROUP_BYTES_MAX = 1_000_000;

/** Creates the reads of conversations as a whole. */
export function createConversationReads(
  { reader, inPartitions }: Pick<Connections, 'reader'> & Partitioned,
  turnBuilder: TurnBuilder,
) {
  const memory = {
    read: createWeightLimit(BYTES_READ_MAX),
    // Scoring may wait for a model, and readers do not wait for it.
    score: createWeightLimit(BYTES_READ_MAX),
  };
  const holdBytes = (bytes: number, use: keyof typeof memory = 'read'): Promise<Disposable> =>
    memory[use].hold(bytes < BYTES_COUNTED_MIN ? 0 : bytes);
  /**
   * Builds the turns of a large conversation before the transaction, which would take too long otherwise.
   * Spans that arrive meanwhile are left out, but most of the summary is about the first turns anyway.
   */
  const prepareLarge = async ({
    ownerId,
    conversationId,
    evals,
  }: Pick<CloseRequest, 'ownerId' | 'conversationId' | 'evals'>): Promise<
    PreparedTurns | undefined
  > => {
    if (evals.length === 0) return undefined;
    const db = reader(ownerId);
    const place = await findPlace(db, { ownerId, conversationId, inPartitions });
    if (!place || !isLarge(place)) return undefined;
    const { spanCount, textBytes } = place;
    using _held = await holdBytes(textBytes + spanCount * SPAN_BYTES);
    const spans = await listSpans(db, place);
    const scored = spans.filter(({ late }) => !late);
    const turns = await turnBuilder
      .buildTurns(scored, await listLinks(db, place))
      .catch(emptyIfUnreadable);
    return { ...summarizeTurns(scored, turns), spanCount, textBytes };
  };
  return {
    prepareLarge,
    /** Returns conversations in groups that can be read together. A large one is alone. */
    groupBySize: (ownerId: string, conversationIds: readonly string[]): Promise<string[][]> =>
      listGroups(reader(ownerId), ownerId, conversationIds),
    /** Lists the spans by start, all or the first ones. */
    async listSpans(
      ownerId: string,
      conversationId: string,
      limit?: number,
    ): Promise<StoredSpan[]> {
      const query = { ownerId, conversationId, inPartitions };
      const place = await findPlace(reader(ownerId), query);
      // A statement blocks the event loop, and large conversations are read one after another.
      if (place && isLarge(place)) await setImmediate();
      return place ? listSpans(reader(ownerId), place, limit) : [];
    },
    /**
     * Waits until there is memory to read a conversation as a whole. Dispose of the result when its spans
     * and turns are no longer needed.
     */
    async holdMemory(
      ownerId: string,
      conversationId: string,
      use: 'read' | 'score' = 'read',
    ): Promise<Disposable> {
      const row = await reader(ownerId)
        .selectFrom('conversations')
        .select(['span_count', 'text_bytes'])
        .where('owner_id', '=', ownerId)
        .where('conversation_id', '=', conversationId)
        .executeTakeFirst();
      return holdBytes(row ? row.text_bytes + row.span_count * SPAN_BYTES : 0, use);
    },
    /** Lists the ignored spans in the traces of a conversation. */
    async listLinks(ownerId: string, conversationId: string): Promise<SpanLink[]> {
      const query = { ownerId, conversationId, inPartitions };
      const place = await findPlace(reader(ownerId), query);
      return place ? listLinks(reader(ownerId), place) : [];
    },
  };
}

/** Whether spans are in a partition for each day. A query that names the day reads only one. */
export interface Partitioned {
  inPartitions: boolean;
}

interface SpansQuery extends Partitioned {
  ownerId: string;
  conversationId: string;
}

/** A conversation with the size of its spans. */
interface SizedPlace extends SpanPlace, ConversationSize {}

/** Whether building its turns takes too long for a transaction. */
export const isLarge = ({ spanCount, textBytes }: ConversationSize): boolean =>
  spanCount > SEARCHED_SPANS_MAX || textBytes > SEARCHED_BYTES_MAX;

/** Returns conversations in groups whose spans one statement reads. */
export function groupBySize<Sized extends ConversationSize>(
  conversations: readonly Sized[],
): Sized[][] {
  const groups: Sized[][] = [];
  let sum: ConversationSize = { spanCount: Infinity, textBytes: Infinity };
  for (const conversation of conversations) {
    addSize(sum, conversation);
    if (sum.spanCount > GROUP_SPANS_MAX || sum.textBytes > GROUP_BYTES_MAX) {
      groups.push([]);
      sum = { spanCount: conversation.spanCount, textBytes: conversation.textBytes };
    }
    groups.at(-1)?.push(conversation);
  }
  return groups;
}

async function listGroups(
  db: Reader,
  ownerId: string,
  conversationIds: readonly string[],
): Promise<string[][]> {
  const rows = await db
    .selectFrom('conversations')
    .select(['conversation_id', 'span_count as spanCount', 'text_bytes as textBytes'])
    .where('owner_id', '=', ownerId)
    .where('conversation_id', 'in', conversationIds)
    .execute();
  const large = rows.filter(isLarge).map((row) => [row]);
  const small = groupBySize(rows.filter((row) => !isLarge(row)));
  return [...small, ...large].map((group) => group.map((row) => row.conversation_id));
}

/** What a close takes from the turns of a conversation, so that it builds them once. */
interface TurnsSummary {
  traced: TracedSession;
  losses: readonly TurnLoss[];
}

/** Summarizes the turns that were built of spans. */
export const summarizeTurns = (
  spans: readonly StoredSpan[],
  turns: readonly TracedTurn[],
): TurnsSummary => ({
  traced: describeTracedSession(spans, turns),
  losses: findTurnLosses(turns),
});

/** The summary of the turns of a large conversation, and how large it was. */
export interface PreparedTurns extends TurnsSummary, ConversationSize {}

/** A conversation that can't be read is closed nevertheless, and found, but not by its text. */
function emptyIfUnreadable(error: unknown): [] {
  if (error instanceof UnreadableConversationError) return [];
  throw error;
}

export const toPlace = (
  row: { key: number; received_day: number },
  { ownerId, conversationId, inPartitions }: SpansQuery,
): SpanPlace => ({
  ownerId,
  conversationId,
  key: row.key,
  receivedDay: inPartitions ? row.received_day : undefined,
});

async function findPlace(db: Reader, query: SpansQuery): Promise<SizedPlace | undefined> {
  const row = await db
    .selectFrom('conversations')
    .select(['key', 'received_day', 'span_count', 'text_bytes'])
    .where('owner_id', '=', query.ownerId)
    .where('conversation_id', '=', query.conversationId)
    .executeTakeFirst();
  return row && { ...toPlace(row, query), spanCount: row.span_count, textBytes: row.text_bytes };
}
