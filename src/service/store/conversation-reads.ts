/** Reads conversations as a whole, within limits of memory and of the time that blocks the event loop. */
import { setImmediate } from 'node:timers/promises';
import { createWeightLimit } from '../../platform/weight-limit.ts';
import { UnreadableConversationError, type TurnBuilder } from '../turns/turn-builder.ts';
import type { Connections, Reader } from './connections.ts';
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
   * Describes the session of a large conversation, before the transaction, which would take too long
   * otherwise. Spans that arrive meanwhile are left out, but most of it is about the first turns anyway.
   */
  const describeLarge = async ({
    ownerId,
    conversationId,
    evals,
  }: Pick<CloseRequest, 'ownerId' | 'conversationId' | 'evals'>): Promise<
    TracedSession | undefined
  > => {
    if (evals.length === 0) return undefined;
    const db = reader(ownerId);
    const place = await findPlace(db, { ownerId, conversationId, inPartitions });
    if (!place || !isLarge(place)) return undefined;
    using _held = await holdBytes(place.textBytes + place.spanCount * SPAN_BYTES);
    const spans = await listSpans(db, place);
    const scored = spans.filter(({ late }) => !late);
    const turns = await turnBuilder
      .buildTurns(scored, await listLinks(db, place))
      .catch(emptyIfUnreadable);
    return describeTracedSession(scored, turns);
  };
  return {
    describeLarge,
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
interface SizedPlace extends SpanPlace {
  spanCount: number;
  textBytes: number;
}

/** Whether building its turns takes too long for a transaction. */
const isLarge = ({ spanCount, textBytes }: SizedPlace): boolean =>
  spanCount > SEARCHED_SPANS_MAX || textBytes > SEARCHED_BYTES_MAX;

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
