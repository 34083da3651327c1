import { toError } from '../../platform/error-origin.ts';
import type { Database } from 'better-sqlite3';
import { openFile } from './open-file.ts';
import { toEntryRows, entriesPerOwnerMax } from './ingest-log-rows.ts';
import { prepareStatements, type Statements } from './span-statements.ts';
import type { SpanWriter } from './span-sink.ts';
import type { IngestLogEntry, InsertResult, NewSpan, TraceRequestRows, Tag } from './store.ts';

/** Tags that a conversation keeps; more would make a search of the conversation's own text. */
export const tagsPerConversationMax = 256;

/** The largest integer that SQLite keeps; a sender's clock may say more. */
const nsMax = 2n ** 63n - 1n;

/** How to open the span sink. */
export interface SpanWriterOptions {
  file: string;
  /** Removed at the stop, so that no power cut matters to it. */
  isTemporary?: boolean;
  /** How long it stops its thread for other connections' writes; 10 s unless given. */
  lockWaitMsMax?: number;
}

/** Opens the place where spans go in, on a connection of its own; makes the file if there is none. */
export function openSpanWriter({
  file,
  isTemporary = false,
  lockWaitMsMax = 10_000,
}: SpanWriterOptions): SpanWriter {
  const db = openFile(file, { busyMs: lockWaitMsMax, isTemporary });
  const statements = prepareStatements(db);
  return {
    insert: (requests) => keep(db, statements, requests),
    findConversations(ownerId, traceIds) {
      const found = new Map<string, string>();
      for (const traceId of traceIds) {
        const row = statements.conversationOfTrace.get(ownerId, traceId);
        if (row) found.set(traceId, row.id);
      }
      return found;
    },
    close: () => {
      db.close();
    },
  };
}

function keep(
  db: Database,
  statements: Statements,
  requests: readonly TraceRequestRows[],
): (InsertResult | Error)[] {
  try {
    statements.begin.run();
    const results = requests.map((request) => keepOrUndo(db, statements, request));
    statements.commit.run();
    return results;
  } catch (error) {
    // The lock, the disk or the commit: nothing of anyone is kept, and nobody is told that it is.
    if (db.inTransaction) statements.rollback.run();
    const why = toError(error);
    return requests.map(() => why);
  }
}

function keepOrUndo(
  db: Database,
  statements: Statements,
  request: TraceRequestRows,
): InsertResult | Error {
  statements.savepoint.run();
  try {
    const kept = keepRequest(statements, request);
    statements.release.run();
    return kept;
  } catch (error) {
    // A full disk ends the whole transaction, neighbours included.
    if (!db.inTransaction) throw error;
    statements.undo.run();
    statements.release.run();
    return toError(error);
  }
}

function keepRequest(statements: Statements, request: TraceRequestRows): InsertResult {
  const { ownerId, receivedAtMs, tags } = request;
  const kept = { inserted: 0, repeated: 0, late: 0 };
  const found = new LogEntryCounts();
  const tagsBy = Map.groupBy(tags, ({ conversationId }) => conversationId);
  for (const [conversationId, spans] of Map.groupBy(request.spans, (span) => span.conversationId)) {
    const arrival = { ownerId, conversationId, receivedAtMs };
    const part = keepConversation(statements, arrival, spans);
    const repeated = spans.length - part.inserted;
    kept.inserted += part.inserted;
    kept.repeated += repeated;
    const { length: taken, 0: first } = part.taken;
    found.add('repeated_spans', conversationId, repeated - taken);
    found.add('span_id_taken', conversationId, taken, { span_id: first?.spanId ?? '' });
    if (part.inserted === 0) continue;
    if (part.late) {
      kept.late += part.inserted;
      found.add('late_spans', conversationId, part.inserted);
    }
    const lost = keepTags(statements, part, tagsBy.get(conversationId) ?? []);
    found.add('tags_left_out', conversationId, lost);
  }
  const notes = [...request.logEntries, ...found.notes()];
  for (const row of toEntryRows(ownerId, receivedAtMs, notes))
    statements.insertLogEntry.run(...row);
  if (notes.length > 0) statements.deleteOldLogEntries.run(ownerId, ownerId, entriesPerOwnerMax);
  return kept;
}

interface Arrival {
  ownerId: string;
  conversationId: string;
  receivedAtMs: number;
}

interface KeptOfConversation {
  key: number;
  tagCount: number;
  inserted: number;
  /** Spans whose ids other traces or conversations have. */
  taken: readonly NewSpan[];
  late: boolean;
}

function keepConversation(
  statements: Statements,
  arrival: Arrival,
  spans: readonly NewSpan[],
): KeptOfConversation {
  const { ownerId, conversationId, receivedAtMs } = arrival;
  const known = statements.findConversation.get(ownerId, conversationId);
  const key = known?.key ?? addConversation(statements, arrival, spans);
  const late = known?.state === 'closed';
  const fresh: NewSpan[] = [];
  const taken: NewSpan[] = [];
  for (const span of spans) {
    if (addSpan(statements, span, { ...arrival, key, late })) fresh.push(span);
    else if (!isAgain(statements, span, { ownerId, key })) taken.push(span);
  }
  const part = { key, tagCount: known?.tag_count ?? 0, inserted: fresh.length, taken, late };
  if (fresh.length === 0) {
    // All its spans are known, under other conversations: there is none of this name.
    if (!known) statements.removeConversation.run(key);
    return part;
  }
  const [first, last] = bounds(fresh, receivedAtMs);
  if (!known) {
    // It was made with the bounds of all; those of known spans are not its own.
    if (fresh.length < spans.length) statements.setBounds.run(first, last, key);
  } else if (!late) {
    // A closed one keeps its bounds: its run and its session were made of them.
    statements.widen.run(first, last, receivedAtMs, key);
  }
  for (const traceId of new Set(fresh.map((span) => span.traceId))) {
    statements.addTrace.run(ownerId, traceId, key);
  }
  return part;
}

function addConversation(
  { addConversation: add }: Statements,
  { ownerId, conversationId, receivedAtMs }: Arrival,
  spans: readonly NewSpan[],
): number {
  const [first, last] = bounds(spans, receivedAtMs);
  return Number(add.run(ownerId, conversationId, first, last, receivedAtMs).lastInsertRowid);
}

function addSpan(
  statements: Statements,
  span: NewSpan,
  of: Arrival & { key: number; late: boolean },
): boolean {
  const { changes } = statements.addSpan.run(
    of.key,
    of.ownerId,
    span.spanId,
    span.traceId,
    span.parentSpanId ?? null,
    span.operation,
    span.name,
    inRange(span.startNs),
    inRange(span.endNs),
    span.failed ? 1 : 0,
    of.late ? 1 : 0,
    of.receivedAtMs,
    JSON.stringify(span.attributes),
    span.inputMessages ?? null,
    span.outputMessages ?? null,
  );
  return changes > 0;
}

/** Whether a span that was not added is there as the same: in its trace and its conversation. */
function isAgain(
  { placeOfSpan }: Statements,
  { spanId, traceId }: NewSpan,
  { ownerId, key }: { ownerId: string; key: number },
): boolean {
  const place = placeOfSpan.get(ownerId, spanId);
  return place?.trace_id === traceId && place.conversation_key === key;
}

/** First start and last end. A span that brings no time is taken to have been when it came. */
function bounds(spans: readonly NewSpan[], receivedAtMs: number): [bigint, bigint] {
  const receivedNs = BigInt(receivedAtMs) * 1_000_000n;
  let first = nsMax;
  let last = 0n;
  for (const { startNs, endNs } of spans) {
    const start = startNs > 0n ? inRange(startNs) : receivedNs;
    const end = endNs > start ? inRange(endNs) : start;
    if (start < first) first = start;
    if (end > last) last = end;
  }
  return [first, last];
}

function inRange(ns: bigint): bigint {
  if (ns < 0n) return 0n;
  return ns < nsMax ? ns : nsMax;
}

/** How many tags found no room. */
function keepTags(
  statements: Statements,
  { key, tagCount }: KeptOfConversation,
  tags: readonly Tag[],
): number {
  let count = tagCount;
  let lost = 0;
  for (const { key: name, value } of tags) {
    if (count < tagsPerConversationMax) count += statements.addTag.run(key, name, value).changes;
    else if (!statements.findTag.get(key, name, value)) lost += 1;
  }
  if (count > tagCount) statements.countTags.run(count, key);
  return lost;
}

/** One note of a kind for a request, about the first conversation of which it is true. */
class LogEntryCounts {
  readonly #found = new Map<
    keyof typeof logMessages,
    IngestLogEntry['about'] & { count: number }
  >();

  add(
    code: keyof typeof logMessages,
    conversationId: string,
    count: number,
    more: IngestLogEntry['about'] = {},
  ): void {
    if (count === 0) return;
    const known = this.#found.get(code) ?? { conversation_id: conversationId, ...more, count: 0 };
    this.#found.set(code, { ...known, count: known.count + count });
  }

  notes(): IngestLogEntry[] {
    return Array.from(this.#found, ([code, about]) => ({ ...logMessages[code], code, about }));
  }
}

/** What ingest can't know before it asks the store; the rest it says itself. */
const logMessages = {
  late_spans: {
    level: 'warn',
    message:
      'Kept and shown, not scored: spans that came after their conversation was closed. Flush the ' +
      'exporter before ending a conversation.',
  },
  repeated_spans: {
    level: 'info',
    message:
      'Nothing changed: spans that had been received before, such as those of a request that was ' +
      'sent again.',
  },
  span_id_taken: {
    level: 'warn',
    message:
      'Dropped: spans whose ids had been received before, in another trace or conversation. A span ' +
      'id counts once for each owner; make a new id for each span, at random.',
  },
  tags_left_out: {
    level: 'warn',
    message:
      `Dropped: tags beyond the ${tagsPerConversationMax} that a conversation keeps. Keep what ` +
      'differs from span to span out of the export.',
  },
} as const satisfies Record<string, Pick<IngestLogEntry, 'level' | 'message'>>;
