import { setImmediate } from 'node:timers/promises';
import { selectExact, type Reader } from './connections.ts';
import type { SpanLink, StoredSpan } from './records.ts';

/** Where the spans of a conversation are. */
export interface SpanPlace {
  ownerId: string;
  conversationId: string;
  /** The key of the conversation. */
  key: number;
  /** The day whose partition has the spans; undefined without partitions. */
  receivedDay: number | undefined;
}

/** Spans that one statement reads. SQLite blocks the event loop meanwhile. */
const SPANS_READ_MAX = 500;

/**
 * Lists spans of a conversation by start and then arrival, up to `limit` if there is one. Reads them in
 * parts, so that other work gets its turn.
 */
export async function listSpans(
  db: Reader,
  place: SpanPlace,
  limit = Infinity,
): Promise<StoredSpan[]> {
  const first = await readSpans(db, place, { limit: Math.min(limit, SPANS_READ_MAX + 1) });
  if (first.length <= SPANS_READ_MAX) return first;
  const keys = await listSpanKeys(db, place, limit);
  const spans: StoredSpan[] = [];
  for (let at = 0; at < keys.length; at += SPANS_READ_MAX) {
    await setImmediate();
    spans.push(...(await readSpans(db, place, { keys: keys.slice(at, at + SPANS_READ_MAX) })));
  }
  return spans;
}

async function listSpanKeys(
  db: Reader,
  { key, receivedDay }: SpanPlace,
  limit: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('spans')
    .select('spans.key')
    .where('conversation_key', '=', key)
    .$if(receivedDay !== undefined, (spans) => spans.where('received_day', '=', receivedDay ?? 0))
    .orderBy('spans.start_ns')
    .orderBy('spans.key')
    .$if(limit !== Infinity, (spans) => spans.limit(limit))
    .execute();
  return rows.map((row) => row.key);
}

async function readSpans(
  db: Reader,
  { conversationId, key, receivedDay }: SpanPlace,
  { limit, keys }: { limit?: number; keys?: readonly number[] },
): Promise<StoredSpan[]> {
  const rows = await selectSpans(db)
    .where('conversation_key', '=', key)
    .$if(receivedDay !== undefined, (spans) => spans.where('received_day', '=', receivedDay ?? 0))
    .$if(keys !== undefined, (spans) => spans.where('spans.key', 'in', keys ?? []))
    .$if(limit !== undefined, (spans) => spans.limit(limit ?? 0))
    .execute();
  return rows.map((row) => toSpan(row, conversationId));
}

/** Lists the spans of several small conversations with one statement, like `listSpans` for each. */
export async function listSpansOfAll(
  db: Reader,
  places: readonly SpanPlace[],
): Promise<Map<SpanPlace, StoredSpan[]>> {
  if (places.length === 0) return new Map();
  const days = new Set(places.flatMap(({ receivedDay }) => receivedDay ?? []));
  const keys = places.map(({ key }) => key);
  const rows = await selectSpans(db)
    .select('conversation_key')
    .where('conversation_key', 'in', keys)
    .$if(days.size > 0, (spans) => spans.where('received_day', 'in', [...days]))
    .execute();
  const byKey = Map.groupBy(rows, (row) => row.conversation_key);
  return new Map(
    places.map((place) => [
      place,
      (byKey.get(place.key) ?? []).map((row) => toSpan(row, place.conversationId)),
    ]),
  );
}

/** Selects spans by start and then arrival. */
const selectSpans = (db: Reader) =>
  db
    .selectFrom('spans')
    .select(['trace_id', 'span_id', 'parent_span_id', 'operation', 'name', 'failed', 'late'])
    .select(['received_at_ms', 'attributes', 'input_messages', 'output_messages'])
    .select([selectExact('start_ns'), selectExact('end_ns')])
    .orderBy('spans.start_ns')
    .orderBy('spans.key');

type SpanRow = Awaited<ReturnType<ReturnType<typeof selectSpans>['execute']>>[number];

const toSpan = (row: SpanRow, conversationId: string): StoredSpan => ({
  conversationId,
  traceId: row.trace_id,
  spanId: row.span_id,
  parentSpanId: row.parent_span_id ?? undefined,
  operation: row.operation,
  name: row.name,
  startNs: BigInt(row.start_ns),
  endNs: BigInt(row.end_ns),
  failed: row.failed === 1,
  inputMessages: row.input_messages ?? undefined,
  outputMessages: row.output_messages ?? undefined,
  attributes: JSON.parse(row.attributes) as StoredSpan['attributes'],
  receivedAtMs: row.received_at_ms,
  late: row.late === 1,
});

/** More links than a real conversation has; a limit keeps its turns fast to build. */
const LINKS_PER_CONVERSATION_MAX = 100_000;

/** Lists the ignored spans in the traces of a conversation. */
export async function listLinks(
  db: Reader,
  { ownerId, key, receivedDay }: SpanPlace,
): Promise<SpanLink[]> {
  const rows = await selectLinks(db, ownerId)
    .where('trace_id', 'in', (eb) =>
      eb
        .selectFrom('spans')
        .select('trace_id')
        .where('conversation_key', '=', key)
        .$if(receivedDay !== undefined, (spans) =>
          spans.where('received_day', '=', receivedDay ?? 0),
        ),
    )
    .limit(LINKS_PER_CONVERSATION_MAX)
    .execute();
  return rows.map(toLink);
}

/** Lists the ignored spans in the traces of several conversations, whose spans are given. */
export async function listLinksOfAll(
  db: Reader,
  ownerId: string,
  spans: ReadonlyMap<SpanPlace, readonly StoredSpan[]>,
): Promise<Map<SpanPlace, SpanLink[]>> {
  const tracesOf = (own: readonly StoredSpan[]): string[] => [
    ...new Set(own.map(({ traceId }) => traceId)),
  ];
  const traceIds = tracesOf([...spans.values()].flat());
  if (traceIds.length === 0) return new Map();
  const rows = await selectLinks(db, ownerId)
    .where('trace_id', 'in', traceIds)
    .limit(LINKS_PER_CONVERSATION_MAX)
    .execute();
  // One conversation may have all of them, and the others none.
  if (rows.length === LINKS_PER_CONVERSATION_MAX && spans.size > 1) {
    const read = new Map<SpanPlace, SpanLink[]>();
    for (const place of spans.keys()) read.set(place, await listLinks(db, place));
    return read;
  }
  const byTrace = Map.groupBy(rows.map(toLink), ({ traceId }) => traceId);
  return new Map(
    Array.from(spans, ([place, own]) => [
      place,
      tracesOf(own).flatMap((traceId) => byTrace.get(traceId) ?? []),
    ]),
  );
}

const selectLinks = (db: Reader, ownerId: string) =>
  db
    .selectFrom('span_links')
    .select(['trace_id', 'span_id', 'parent_span_id'])
    .where('owner_id', '=', ownerId)
    .orderBy('key');

const toLink = (row: { trace_id: string; span_id: string; parent_span_id: string }): SpanLink => ({
  traceId: row.trace_id,
  spanId: row.span_id,
  parentSpanId: row.parent_span_id,
});
