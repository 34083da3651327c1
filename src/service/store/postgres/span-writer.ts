/**
 * Writes spans to PostgreSQL.
 *
 * - One transaction holds the requests of one owner, so that many requests share one durable commit. If
 *   it fails because of its content, each request is inserted alone, so that only the bad one fails.
 * - One statement inserts all rows of a table, in the order of their keys. Replicas that insert the same
 *   rows therefore wait for each other, and never deadlock. Spans are numbered in order of arrival.
 * - Conversations are locked first, so their spans can't be inserted while they are closed.
 */
import type { Pool, PoolClient } from 'pg';
import { toDay } from '../../../platform/clock.ts';
import { toError } from '../../../platform/error-origin.ts';
import { addSize, hasRoom, measureText, type ConversationSize } from '../conversation-limits.ts';
import type { EntryRow } from '../ingest-log-rows.ts';
import { LinkDeletions } from '../row-limits.ts';
import {
  findBounds,
  selectNewTags,
  summarizeRequest,
  toSpanRow,
  type SpanPart,
  type SpanWriter,
  type TargetConversation,
} from '../span-writer.ts';
import type { InsertResult, NewSpan, Tag, TraceRequestRows } from '../records.ts';
import { findPostgresProblem } from './database-problem.ts';
import { countConnections, openPool } from './pool.ts';
import { isPartitionAttached } from './span-partitions.ts';
import { replaceNul } from './replace-nul.ts';
import { retryConflicts } from './retry-conflicts.ts';
import * as statements from './span-statements.ts';
import { encodeTextArray } from './text-array.ts';
import { inTransaction } from './transaction.ts';

/** Exporters wait for 10 s, and a batch waits for the one before it. */
const LIMITS = { connectMsMax: 3_000, statementMsMax: 5_000, lockMsMax: 3_000 };

/** Opens a span writer with its own connections; the database must have its tables. */
export function openSpanWriter(databaseUrl: string): SpanWriter {
  const pool = openPool(databaseUrl, LIMITS);
  pool.on('connect', (client) => {
    // A connection that breaks meanwhile reports it to its next statement.
    client.query(statements.COMPRESS_FAST).catch(() => undefined);
  });
  const linkDeletions = new LinkDeletions();
  return {
    async insert(requests) {
      const byOwner = Map.groupBy(requests, ({ ownerId }) => ownerId);
      const results = new Map<TraceRequestRows, InsertResult | Error>();
      await Promise.all(
        Array.from(byOwner.values(), async (ofOwner) => {
          const inserted = await insertOfOwner(pool, linkDeletions, ofOwner);
          for (const [nth, result] of inserted.entries()) {
            const request = ofOwner[nth];
            if (request) results.set(request, result);
          }
        }),
      );
      return requests.map((request) => results.get(request) ?? new Error('There is no result.'));
    },
    async findConversations(ownerId, traceIds) {
      const { rows } = await pool.query<{ trace_id: string; conversation_id: string }>(
        statements.FIND_CONVERSATIONS_OF_TRACES,
        [ownerId, traceIds],
      );
      return new Map(rows.map((row) => [row.trace_id, row.conversation_id]));
    },
    countConnections: () => countConnections(pool),
    close: () => pool.end(),
  };
}

async function insertOfOwner(
  pool: Pool,
  linkDeletions: LinkDeletions,
  requests: readonly TraceRequestRows[],
): Promise<(InsertResult | Error)[]> {
  try {
    const insert = () =>
      retryConflicts(() =>
        inTransaction(pool, (client) => insertRequests(client, linkDeletions, requests)),
      );
    return await insert().catch((error: unknown) => {
      if (!isPartitionAttached(error)) throw error;
      return insert();
    });
  } catch (error) {
    const cause = toError(error);
    // A problem with the database affects every request.
    if (requests.length === 1 || findPostgresProblem(cause)) return requests.map(() => cause);
    const results: (InsertResult | Error)[] = [];
    for (const request of requests) {
      results.push(...(await insertOfOwner(pool, linkDeletions, [request])));
    }
    return results;
  }
}

/** What one request brings for one conversation, which the transaction has locked. */
interface Part extends SpanPart {
  conversation: LockedConversation;
}

interface LockedConversation extends TargetConversation {
  /** The day when its first span was received. All its spans are in the partition of that day. */
  receivedDay: number;
}

async function insertRequests(
  client: PoolClient,
  linkDeletions: LinkDeletions,
  requests: readonly TraceRequestRows[],
): Promise<InsertResult[]> {
  const ownerId = requests[0]?.ownerId ?? '';
  const parts = await lockConversations(client, ownerId, requests);
  await insertSpans(client, ownerId, parts);
  const stored = parts.filter(({ inserted }) => inserted.length > 0);
  await insertTags(client, ownerId, stored);
  await updateConversations(client, ownerId, parts);
  await insertTraces(client, ownerId, stored);
  const newLinks = await insertLinks(client, ownerId, requests);
  if (linkDeletions.isDue(ownerId, newLinks)) {
    await client.query(statements.DELETE_OLD_LINKS, [ownerId, ownerId]);
  }
  const partsByRequest = Map.groupBy(parts, ({ request }) => request);
  const summaries = requests.map((request) =>
    summarizeRequest(request, partsByRequest.get(request) ?? []),
  );
  await insertLog(
    client,
    ownerId,
    summaries.flatMap(({ entryRows }) => entryRows),
  );
  return summaries.map(({ result }) => result);
}

/** Inserts the conversations that are missing, and locks all of them. */
async function lockConversations(
  client: PoolClient,
  ownerId: string,
  requests: readonly TraceRequestRows[],
): Promise<Part[]> {
  const groups = requests.flatMap((request) =>
    Array.from(
      Map.groupBy(request.spans, (span) => replaceNul(span.conversationId)),
      ([conversationId, spans]) => ({ request, conversationId, spans }),
    ),
  );
  if (groups.length === 0) return [];
  const dayById = new Map(
    // The first request of a conversation counts.
    groups
      .toReversed()
      .map(({ conversationId, request }) => [conversationId, toDay(request.receivedAtMs)]),
  );
  const ids = [...dayById.keys()].sort();
  const { rows } = await client.query<{
    conversation_id: string;
    key: number;
    state: string;
    tag_count: number;
    span_count: number;
    text_bytes: number;
    received_day: number;
    is_new: boolean;
    is_removed: boolean;
  }>(statements.LOCK_CONVERSATIONS, [ownerId, ids, ids.map((id) => dayById.get(id))]);
  const byId = new Map(
    rows.map((row) => [
      row.conversation_id,
      {
        key: row.key,
        receivedDay: row.received_day,
        tagCount: row.tag_count,
        spanCount: row.span_count,
        textBytes: row.text_bytes,
        isNew: row.is_new,
        isClosed: row.state === 'closed',
        isRemoved: row.is_removed,
      },
    ]),
  );
  return groups.map((group) => {
    const conversation = byId.get(group.conversationId);
    if (!conversation) throw new Error('A conversation was not locked.');
    const lists = { inserted: [], conflicting: [], exceeding: [] };
    return { ...group, conversation, ...lists, droppedTags: 0 };
  });
}

/**
 * Inserts the spans whose ids are new, up to the limits of their conversations, and finds out which of
 * the others are stored elsewhere.
 */
async function insertSpans(
  client: PoolClient,
  ownerId: string,
  parts: readonly Part[],
): Promise<void> {
  const arrived = parts
    .filter(({ conversation }) => !conversation.isRemoved)
    .flatMap((part) => part.spans.map((span) => toCandidate(part, span)))
    .map((candidate, arrival) => ({ ...candidate, arrival }));
  const exceeding = await findExceeding(client, ownerId, arrived);
  for (const { part, span } of exceeding) part.exceeding.push(span);
  const candidates = arrived
    .filter((candidate) => !exceeding.has(candidate))
    // Sorting is stable: of spans with one id, the first is inserted.
    .sort((left, right) => compare(left.span.spanId, right.span.spanId));
  if (candidates.length === 0) return;
  const first = candidates.filter(
    ({ span }, nth) => span.spanId !== candidates[nth - 1]?.span.spanId,
  );
  const { rows } = await client.query<{ span_id: string }>(statements.INSERT_SPANS, [
    ownerId,
    ...toColumns(first),
    first.map(({ arrival }) => arrival),
  ]);
  const insertedIds = new Set(rows.map((row) => row.span_id));
  const others: Candidate[] = [];
  for (const candidate of candidates) {
    // A second span with this id is a repeated one.
    if (insertedIds.delete(candidate.span.spanId)) {
      candidate.part.inserted.push(candidate.span);
      addSize(candidate.part.conversation, candidate.size);
    } else others.push(candidate);
  }
  if (others.length === 0) return;
  const located = await client.query<{
    span_id: string;
    trace_id: string;
    conversation_key: number;
  }>(statements.LOCATE_SPANS, [ownerId, others.map(({ span }) => span.spanId)]);
  const byId = new Map(located.rows.map((row) => [row.span_id, row]));
  for (const { part, span } of others) {
    const location = byId.get(span.spanId);
    const isSame =
      location?.trace_id === span.traceId && location.conversation_key === part.conversation.key;
    if (!isSame) part.conflicting.push(span);
  }
}

/** A span with its row, and where it goes. */
interface Candidate {
  part: Part;
  span: NewSpan;
  row: ReturnType<typeof toSpanRow>;
  size: ConversationSize;
}

function toCandidate(part: Part, span: NewSpan): Candidate {
  const row = toSpanRow(span, part);
  return { part, span, row, size: { spanCount: 1, textBytes: measureText(row) } };
}

/**
 * Returns the candidates that exceed the limits of their conversations, in their order of arrival. A span
 * that is stored already is not one of them.
 */
async function findExceeding<Each extends Candidate>(
  client: PoolClient,
  ownerId: string,
  candidates: readonly Each[],
): Promise<Set<Each>> {
  const sizes = new Map<LockedConversation, ConversationSize>();
  for (const { part, size } of candidates) {
    const { spanCount, textBytes } = part.conversation;
    const sum = sizes.get(part.conversation) ?? { spanCount, textBytes };
    addSize(sum, size);
    sizes.set(part.conversation, sum);
  }
  const exceeding = new Set<Each>();
  const nothing = { spanCount: 0, textBytes: 0 };
  if ([...sizes.values()].every((size) => hasRoom(size, nothing))) return exceeding;
  const ids = candidates.map(({ span }) => span.spanId);
  const { rows } = await client.query<{ span_id: string }>(statements.FIND_SPAN_IDS, [
    ownerId,
    ids,
  ]);
  const known = new Set(rows.map((row) => row.span_id));
  const used = new Map<LockedConversation, ConversationSize>();
  for (const candidate of candidates) {
    const { part, span, size } = candidate;
    if (known.has(span.spanId)) continue;
    const { spanCount, textBytes } = part.conversation;
    const sum = used.get(part.conversation) ?? { spanCount, textBytes };
    used.set(part.conversation, sum);
    if (hasRoom(sum, size)) {
      addSize(sum, size);
      known.add(span.spanId);
    } else exceeding.add(candidate);
  }
  return exceeding;
}

/** Returns the values of each column of `INSERT_SPANS`. */
function toColumns(candidates: readonly Candidate[]): unknown[] {
  const rows = candidates.map(({ part, row }) => ({
    ...row,
    received_day: part.conversation.receivedDay,
  }));
  return statements.SPAN_COLUMNS.map((name) =>
    statements.isTextColumn(name)
      ? encodeTextArray(rows.map((row) => replaceNul(row[name])))
      : rows.map((row) => row[name]),
  );
}

/** Inserts tags up to the limit of each conversation, and counts the others. */
async function insertTags(
  client: PoolClient,
  ownerId: string,
  parts: readonly Part[],
): Promise<void> {
  const wanted = parts.map((part) => ({ part, tags: tagsOf(part) }));
  const candidates = wanted
    .filter(({ part }) => part.conversation.tagCount > 0)
    .flatMap(({ part, tags }) => tags.map((tag) => ({ key: part.conversation.key, tag })));
  const columns = (of: typeof candidates): unknown[][] => [
    of.map(({ key }) => key),
    of.map(({ tag }) => tag.key),
    of.map(({ tag }) => tag.value),
  ];
  const known =
    candidates.length > 0
      ? await client.query<{ conversation_key: number; name: string; value: string }>(
          statements.FIND_TAGS,
          [ownerId, ...columns(candidates)],
        )
      : { rows: [] };
  const idOf = (key: number, name: string, value: string): string =>
    JSON.stringify([key, name, value]);
  const stored = new Set(known.rows.map((row) => idOf(row.conversation_key, row.name, row.value)));
  const inserted: typeof candidates = [];
  for (const { part, tags } of wanted) {
    const { conversation } = part;
    const { key } = conversation;
    const { added, dropped } = selectNewTags(tags, conversation.tagCount, (tag) =>
      stored.has(idOf(key, tag.key, tag.value)),
    );
    part.droppedTags = dropped;
    // Another request of the transaction may have the same conversation.
    conversation.tagCount += added.length;
    for (const tag of added) stored.add(idOf(key, tag.key, tag.value));
    inserted.push(...added.map((tag) => ({ key, tag })));
  }
  if (inserted.length > 0) {
    await client.query(statements.INSERT_TAGS, [ownerId, ...columns(inserted)]);
  }
}

/** Returns the tags of a request for the conversation of a part, as PostgreSQL stores them. */
const tagsOf = ({ request, conversationId }: Part): Tag[] =>
  request.tags
    .filter((tag) => replaceNul(tag.conversationId) === conversationId)
    .map((tag) => ({ conversationId, key: replaceNul(tag.key), value: replaceNul(tag.value) }));

/** Sets the time range of open conversations, and deletes new ones that got no span. */
async function updateConversations(
  client: PoolClient,
  ownerId: string,
  parts: readonly Part[],
): Promise<void> {
  const changed = [];
  const empty: number[] = [];
  for (const [conversation, ofConversation] of Map.groupBy(parts, (part) => part.conversation)) {
    const stored = ofConversation.filter(({ inserted }) => inserted.length > 0);
    if (stored.length > 0) changed.push({ conversation, ...boundsOf(stored) });
    else if (conversation.isNew) empty.push(conversation.key);
  }
  if (changed.length > 0) {
    await client.query(statements.UPDATE_CONVERSATIONS, [
      ownerId,
      changed.map(({ conversation }) => conversation.key),
      changed.map(({ conversation }) => conversation.isNew),
      changed.map(({ conversation }) => conversation.tagCount),
      changed.map(({ conversation }) => conversation.spanCount),
      changed.map(({ conversation }) => conversation.textBytes),
      changed.map(({ first }) => String(first)),
      changed.map(({ last }) => String(last)),
      changed.map(({ receivedAtMs }) => receivedAtMs),
    ]);
  }
  if (empty.length > 0) await client.query(statements.DELETE_CONVERSATIONS, [ownerId, empty]);
}

function boundsOf(parts: readonly Part[]): { first: bigint; last: bigint; receivedAtMs: number } {
  const bounds = parts.map(({ inserted, request }) => findBounds(inserted, request.receivedAtMs));
  return {
    first: bounds.map(([first]) => first).reduce((low, first) => (first < low ? first : low)),
    last: bounds.map(([, last]) => last).reduce((high, last) => (last > high ? last : high)),
    receivedAtMs: Math.max(...parts.map(({ request }) => request.receivedAtMs)),
  };
}

async function insertTraces(
  client: PoolClient,
  ownerId: string,
  parts: readonly Part[],
): Promise<void> {
  const keyByTrace = new Map<string, number>();
  for (const { inserted, conversation } of parts) {
    for (const { traceId } of inserted) {
      if (!keyByTrace.has(traceId)) keyByTrace.set(traceId, conversation.key);
    }
  }
  if (keyByTrace.size === 0) return;
  const traceIds = [...keyByTrace.keys()].sort(compare);
  const keys = traceIds.map((id) => keyByTrace.get(id));
  await client.query(statements.INSERT_TRACES, [ownerId, traceIds, keys]);
}

/** Inserts the ids of ignored spans, and returns how many there were. */
async function insertLinks(
  client: PoolClient,
  ownerId: string,
  requests: readonly TraceRequestRows[],
): Promise<number> {
  const links = requests
    .flatMap((request) => request.links)
    .sort((left, right) => compare(left.traceId + left.spanId, right.traceId + right.spanId));
  if (links.length === 0) return 0;
  await client.query(statements.INSERT_LINKS, [
    ownerId,
    links.map(({ traceId }) => traceId),
    links.map(({ spanId }) => spanId),
    links.map(({ parentSpanId }) => parentSpanId),
  ]);
  return links.length;
}

async function insertLog(
  client: PoolClient,
  ownerId: string,
  rows: readonly EntryRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const columns = (['at_ms', 'level', 'code', 'message', 'about'] as const).map((name) =>
    rows.map((row) => replaceNul(row[name])),
  );
  await client.query(statements.INSERT_LOG_ENTRIES, [ownerId, ...columns]);
  await client.query(statements.DELETE_OLD_LOG_ENTRIES, [ownerId, ownerId]);
}

/** Orders texts as the collation "C" of PostgreSQL does for ids, which are ASCII. */
const compare = (left: string, right: string): number => (left < right ? -1 : Number(left > right));
