/** Reads conversations as a whole, within limits of memory and of the time that blocks the event loop. */
import { setImmediate } from 'node:timers/promises';
import type { Selectable } from 'kysely';
import { createWeightLimit } from '../../platform/weight-limit.ts';
import { UnreadableConversationError, type TurnBuilder } from '../turns/turn-builder.ts';
import { findTurnLosses, type TurnLoss } from '../turns/turn-losses.ts';
import type { TracedTurn } from '../turns/turn-types.ts';
import type { Connections, Reader } from './connections.ts';
import { addSize, type ConversationSize } from './conversation-limits.ts';
import { listLinks, listSpans, type SpanPlace } from './conversation-spans.ts';
import type { CloseAllRequest, SpanLink, StoredSpan } from './records.ts';
import type { Tables } from './schema/tables.ts';
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

const measureBytes = ({ spanCount, textBytes }: ConversationSize): number =>
  textBytes + spanCount * SPAN_BYTES;

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
  const findPlace = async (
    ownerId: string,
    conversationId: string,
  ): Promise<SizedPlace | undefined> => {
    const conversationIds = [conversationId];
    const [place] = await findPlaces(reader(ownerId), { ownerId, conversationIds, inPartitions });
    return place;
  };
  return {
    /**
     * Builds the turns of large conversations before the transaction that closes or scores them, which
     * would take too long otherwise. Spans that arrive meanwhile are left out, but most of a summary is
     * about the first turns anyway.
     */
    async prepareLarge({
      ownerId,
      conversations,
      evals,
    }: Pick<CloseAllRequest, 'ownerId' | 'conversations' | 'evals'>): Promise<PreparedById> {
      const prepared = new Map<string, PreparedTurns>();
      if (evals.length === 0) return prepared;
      const db = reader(ownerId);
      const conversationIds = conversations.map(({ conversationId }) => conversationId);
      const places = await findPlaces(db, { ownerId, conversationIds, inPartitions });
      for (const place of places.filter(isLarge)) {
        using _held = await holdBytes(measureBytes(place));
        prepared.set(place.conversationId, await summarizeLarge(db, place, turnBuilder));
      }
      return prepared;
    },
    /** Returns conversations in groups that can be read together. A large one is alone. */
    async groupBySize(ownerId: string, conversationIds: readonly string[]): Promise<string[][]> {
      const query = { ownerId, conversationIds, inPartitions };
      const places = await findPlaces(reader(ownerId), query);
      const large = places.filter(isLarge).map((place) => [place]);
      const small = groupBySize(places.filter((place) => !isLarge(place)));
      return [...small, ...large].map((group) => group.map((place) => place.conversationId));
    },
    /** Lists the spans by start, all or the first ones. */
    async listSpans(
      ownerId: string,
      conversationId: string,
      limit?: number,
    ): Promise<StoredSpan[]> {
      const place = await findPlace(ownerId, conversationId);
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
      const place = await findPlace(ownerId, conversationId);
      return holdBytes(place ? measureBytes(place) : 0, use);
    },
    /** Lists the ignored spans in the traces of a conversation. */
    async listLinks(ownerId: string, conversationId: string): Promise<SpanLink[]> {
      const place = await findPlace(ownerId, conversationId);
      return place ? listLinks(reader(ownerId), place) : [];
    },
  };
}

/** Whether spans are in a partition for each day. A query that names the day reads only one. */
export interface Partitioned {
  inPartitions: boolean;
}

/** A conversation with the size of its spans. */
export interface SizedPlace extends SpanPlace, ConversationSize {}

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

/** The summaries of large conversations by conversation id. */
export type PreparedById = ReadonlyMap<string, PreparedTurns>;

async function summarizeLarge(
  db: Reader,
  place: SizedPlace,
  turnBuilder: TurnBuilder,
): Promise<PreparedTurns> {
  const scored = (await listSpans(db, place)).filter(({ late }) => !late);
  const links = await listLinks(db, place);
  const turns = await turnBuilder.buildTurns(scored, links).catch(emptyIfUnreadable);
  const { spanCount, textBytes } = place;
  return { ...summarizeTurns(scored, turns), spanCount, textBytes };
}

/** A conversation that can't be read is closed nevertheless, and found, but not by its text. */
function emptyIfUnreadable(error: unknown): [] {
  if (error instanceof UnreadableConversationError) return [];
  throw error;
}

/** Selects the columns of a conversation for `toPlace`. */
export const placeColumns = [
  'key',
  'conversation_id',
  'received_day',
  'span_count',
  'text_bytes',
] as const;

export const toPlace = (
  row: Pick<Selectable<Tables['conversations']>, (typeof placeColumns)[number]>,
  { ownerId, inPartitions }: { ownerId: string } & Partitioned,
): SizedPlace => ({
  ownerId,
  conversationId: row.conversation_id,
  key: row.key,
  receivedDay: inPartitions ? row.received_day : undefined,
  spanCount: row.span_count,
  textBytes: row.text_bytes,
});

async function findPlaces(
  db: Reader,
  query: { ownerId: string; conversationIds: readonly string[] } & Partitioned,
): Promise<SizedPlace[]> {
  const rows = await db
    .selectFrom('conversations')
    .select(placeColumns)
    .where('owner_id', '=', query.ownerId)
    .where('conversation_id', 'in', query.conversationIds)
    .execute();
  return rows.map((row) => toPlace(row, query));
}
