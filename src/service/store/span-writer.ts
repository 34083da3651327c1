/** What the span writers of both databases share: what they store, drop, and report. */
import type { ConnectionCounts } from './connections.ts';
import { CONVERSATION_FULL_MESSAGE, type ConversationSize } from './conversation-limits.ts';
import { toEntryRows, type EntryRow } from './ingest-log-rows.ts';
import type {
  IngestLogEntry,
  InsertResult,
  LogMessage,
  NewSpan,
  Tag,
  TraceRequestRows,
} from './records.ts';

/** Writes the rows of trace requests. */
export interface SpanWriter {
  /**
   * Inserts several requests, with few transactions for all of them. What it returns for a request is
   * durable: its result, or an error if the request could not be inserted.
   */
  insert(requests: readonly TraceRequestRows[]): Promise<(InsertResult | Error)[]>;
  /** Returns the conversations of traces that are already stored, by trace id. */
  findConversations(ownerId: string, traceIds: readonly string[]): Promise<Map<string, string>>;
  /** Counts its connections to a database, and who waits for one; undefined for a file. */
  countConnections(): ConnectionCounts | undefined;
  close(): Promise<void>;
}

/** A conversation that receives spans. */
export interface TargetConversation extends ConversationSize {
  key: number;
  /** Whether the request creates it. */
  isNew: boolean;
  /** Whether it was closed. Its run and session depend on its time range, so late spans don't change it. */
  isClosed: boolean;
  /** Whether its spans were removed because of their age. It receives no others. */
  isRemoved: boolean;
  tagCount: number;
}

/** The spans that one request brings for one conversation, and what a span writer did with them. */
export interface SpanPart {
  request: TraceRequestRows;
  conversationId: string;
  spans: readonly NewSpan[];
  conversation: TargetConversation;
  inserted: NewSpan[];
  /** Spans whose id is already stored for another trace or conversation. */
  conflicting: NewSpan[];
  /** Spans beyond the limits of the conversation. */
  exceeding: NewSpan[];
  droppedTags: number;
}

/** Returns the result of a request, and all entries that it adds to the ingest log. */
export function summarizeRequest(
  { receivedAtMs, logEntries, exporter }: TraceRequestRows,
  parts: readonly SpanPart[],
): { result: InsertResult; entryRows: EntryRow[] } {
  const result = { inserted: 0, repeated: 0, late: 0, rejected: 0 };
  const notes = new StoredSpanNotes();
  for (const { conversationId, conversation, spans, ...part } of parts) {
    if (conversation.isRemoved) {
      notes.add('removed_conversation', conversationId, spans.length);
      continue;
    }
    const inserted = part.inserted.length;
    const exceeding = part.exceeding.length;
    const repeated = spans.length - inserted - exceeding;
    const { length: conflicts, 0: firstConflict } = part.conflicting;
    result.inserted += inserted;
    result.repeated += repeated;
    result.rejected += exceeding;
    if (conversation.isClosed) result.late += inserted;
    notes.add('repeated_spans', conversationId, repeated - conflicts);
    notes.add('span_id_taken', conversationId, conflicts, { span_id: firstConflict?.spanId ?? '' });
    notes.add('conversation_full', conversationId, exceeding);
    notes.add('late_spans', conversationId, conversation.isClosed ? inserted : 0);
    notes.add('tags_left_out', conversationId, part.droppedTags);
  }
  const entries = [...logEntries, ...notes.entries()].map((entry) =>
    exporter === undefined ? entry : { ...entry, about: { ...entry.about, exporter } },
  );
  return { result, entryRows: toEntryRows(receivedAtMs, entries) };
}

/** Tags stored for each conversation. A limit keeps clients from storing message text as tags. */
const TAGS_PER_CONVERSATION_MAX = 256;

/** Selects the tags that are new to a conversation, up to its limit, and counts those beyond it. */
export function selectNewTags(
  tags: readonly Tag[],
  storedCount: number,
  isStored: (tag: Tag) => boolean,
): { added: Tag[]; dropped: number } {
  const added = new Map<string, Tag>();
  let dropped = 0;
  for (const tag of tags) {
    const id = JSON.stringify([tag.key, tag.value]);
    if (added.has(id) || isStored(tag)) continue;
    if (storedCount + added.size < TAGS_PER_CONVERSATION_MAX) added.set(id, tag);
    else dropped += 1;
  }
  return { added: [...added.values()], dropped };
}

/** The largest value of a signed 64-bit column, in the year 2262; a wrong client clock can exceed it. */
const NS_MAX = 2n ** 63n - 1n;

/** Returns the first start and the last end. A span without a time counts as the time of receipt. */
export function findBounds(
  spans: readonly Pick<NewSpan, 'startNs' | 'endNs'>[],
  receivedAtMs: number,
): [bigint, bigint] {
  // A test can set the clock to the year 9999.
  const receivedNs = clampNs(BigInt(receivedAtMs) * 1_000_000n);
  let first = NS_MAX;
  let last = 0n;
  for (const { startNs, endNs } of spans) {
    const start = startNs > 0n ? clampNs(startNs) : receivedNs;
    const end = endNs > start ? clampNs(endNs) : start;
    if (start < first) first = start;
    if (end > last) last = end;
  }
  return [first, last];
}

/** Returns the columns of a span that do not depend on where it is stored. */
export function toSpanRow(
  span: NewSpan,
  { request, conversation }: Pick<SpanPart, 'request' | 'conversation'>,
) {
  return {
    conversation_key: conversation.key,
    span_id: span.spanId,
    trace_id: span.traceId,
    parent_span_id: span.parentSpanId ?? null,
    operation: span.operation,
    name: span.name,
    start_ns: clampNs(span.startNs),
    end_ns: clampNs(span.endNs),
    failed: span.failed ? 1 : 0,
    late: conversation.isClosed ? 1 : 0,
    received_at_ms: request.receivedAtMs,
    attributes: JSON.stringify(span.attributes),
    input_messages: span.inputMessages ?? null,
    output_messages: span.outputMessages ?? null,
  };
}

/** Cuts a time that is negative or too large. */
function clampNs(ns: bigint): bigint {
  if (ns < 0n) return 0n;
  return ns < NS_MAX ? ns : NS_MAX;
}

/** Collects one log entry per code, about the first affected conversation, with a total count. */
class StoredSpanNotes {
  readonly #byCode = new Map<
    keyof typeof storedSpanMessages,
    IngestLogEntry['about'] & { count: number }
  >();

  add(
    code: keyof typeof storedSpanMessages,
    conversationId: string,
    count: number,
    details: IngestLogEntry['about'] = {},
  ): void {
    if (count === 0) return;
    const known = this.#byCode.get(code) ?? {
      conversation_id: conversationId,
      ...details,
      count: 0,
    };
    this.#byCode.set(code, { ...known, count: known.count + count });
  }

  entries(): IngestLogEntry[] {
    return Array.from(this.#byCode, ([code, about]) => {
      const { level, message } = storedSpanMessages[code];
      return { level, code, message, about };
    });
  }
}

/** Messages about what only the stored data shows. The others are in `ingest/log-messages.ts`. */
export const storedSpanMessages = {
  conversation_full: { level: 'error', solvedBy: 'nothing', message: CONVERSATION_FULL_MESSAGE },
  late_spans: {
    level: 'warn',
    solvedBy: 'nothing',
    message:
      'Stored but not scored: spans that were received after their conversation was closed. Flush ' +
      'the exporter before you end a conversation.',
  },
  removed_conversation: {
    level: 'warn',
    solvedBy: 'nothing',
    message:
      'Dropped: spans of a conversation whose spans were removed because of their age. Use a new id ' +
      'for each conversation.',
  },
  repeated_spans: {
    level: 'info',
    message:
      'Ignored: spans that were received before, for example because a request was sent again.',
  },
  span_id_taken: {
    level: 'warn',
    solvedBy: 'nothing',
    message:
      'Dropped: spans whose ids were received before in another trace or conversation. Generate a ' +
      'new random id for each span.',
  },
  tags_left_out: {
    level: 'warn',
    solvedBy: 'nothing',
    message:
      `Dropped: tags beyond the limit of ${TAGS_PER_CONVERSATION_MAX} per conversation. Don't export ` +
      'attributes whose values differ from span to span.',
  },
} as const satisfies Record<string, LogMessage>;
