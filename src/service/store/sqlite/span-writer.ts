/**
 * Writes spans on a separate connection in the ingest thread.
 *
 * - One transaction holds a batch of requests, so that many requests share one durable commit. Within
 *   it, each request has a savepoint: a request that fails is rolled back alone. If the commit fails
 *   or the disk is full, the whole batch is lost, and every request of it gets the error. So does it
 *   if the file was deleted or replaced before the batch is acknowledged.
 * - Inserting is idempotent. The key of a span is its owner and span id; a span that arrives again
 *   changes nothing, so a client can repeat a request safely.
 * - A conversation is created by its first span. Its time bounds grow while it is open. Once it is
 *   closed, its run and session depend on them, so later spans are stored as `late` and change no bounds.
 */
import type { Database } from 'better-sqlite3';
import { toError } from '../../../platform/error-origin.ts';
import { ENTRIES_PER_OWNER_MAX, toEntryRows } from '../ingest-log-rows.ts';
import { guardFile } from './file-identity.ts';
import { isBusy, LOCK_WAIT_MS_MAX, LOCKED_WAIT_MS_MAX, openFile } from './open-file.ts';
import {
  prepareStatements,
  type ConversationState,
  type SpanWriterStatements,
} from './span-statements.ts';
import {
  clampNs,
  findBounds,
  LINKS_MAX,
  LogEntryCollector,
  TAGS_PER_CONVERSATION_MAX,
  toDay,
  type SpanWriter,
} from '../span-writer.ts';
import type { InsertResult, NewSpan, Tag, TraceRequestRows } from '../store.ts';

/** Options for opening a span writer. */
export interface SpanWriterOptions {
  file: string;
  /** The file is deleted on shutdown, so commits need not survive a power failure. */
  isTemporary?: boolean;
  /** How long it blocks its thread to wait for the write lock (default: 5 s). */
  lockWaitMsMax?: number;
}

/** Opens a span writer, creating the file if necessary. */
export function openSpanWriter({
  file,
  isTemporary = false,
  lockWaitMsMax = LOCK_WAIT_MS_MAX,
}: SpanWriterOptions): SpanWriter {
  const db = openFile(file, { busyMs: lockWaitMsMax, isTemporary });
  const statements = prepareStatements(db);
  const assertFileUnchanged = guardFile(file);
  let isLocked = false;
  return {
    async insert(requests) {
      const results = insertBatch(db, statements, requests, assertFileUnchanged);
      if (isLocked !== results.some(isBusy)) {
        isLocked = !isLocked;
        const waitMs = Math.min(lockWaitMsMax, isLocked ? LOCKED_WAIT_MS_MAX : Infinity);
        db.pragma(`busy_timeout = ${waitMs}`);
      }
      return Promise.resolve(results);
    },
    async findConversations(ownerId, traceIds) {
      const conversationIds = new Map<string, string>();
      for (const traceId of traceIds) {
        const row = statements.findConversationOfTrace.get(ownerId, traceId);
        if (row) conversationIds.set(traceId, row.id);
      }
      return Promise.resolve(conversationIds);
    },
    countConnections: () => undefined,
    async close() {
      db.close();
      return Promise.resolve();
    },
  };
}

function insertBatch(
  db: Database,
  statements: SpanWriterStatements,
  requests: readonly TraceRequestRows[],
  assertFileUnchanged: () => void,
): (InsertResult | Error)[] {
  try {
    assertFileUnchanged();
    statements.begin.run();
    const results = requests.map((request) => insertOrRollBack(db, statements, request));
    statements.commit.run();
    assertFileUnchanged();
    return results;
  } catch (error) {
    // The lock, the disk, the commit or the file failed: nothing is stored, so every request gets the error.
    if (db.inTransaction) statements.rollback.run();
    const cause = toError(error);
    return requests.map(() => cause);
  }
}

function insertOrRollBack(
  db: Database,
  statements: SpanWriterStatements,
  request: TraceRequestRows,
): InsertResult | Error {
  statements.savepoint.run();
  try {
    const result = insertRequest(statements, request);
    statements.release.run();
    return result;
  } catch (error) {
    // A full disk ends the whole transaction, not only this savepoint.
    if (!db.inTransaction) throw error;
    statements.rollbackToSavepoint.run();
    statements.release.run();
    return toError(error);
  }
}

function insertRequest(statements: SpanWriterStatements, request: TraceRequestRows): InsertResult {
  const { ownerId, receivedAtMs, tags } = request;
  const result = { inserted: 0, repeated: 0, late: 0 };
  const collector = new LogEntryCollector();
  const tagsByConversation = Map.groupBy(tags, ({ conversationId }) => conversationId);
  for (const [conversationId, spans] of Map.groupBy(request.spans, (span) => span.conversationId)) {
    const existing = statements.findConversation.get(ownerId, conversationId);
    if (existing && existing.spans_removed_at_ms !== null) {
      collector.add('removed_conversation', conversationId, spans.length);
      continue;
    }
    const target = { ownerId, conversationId, receivedAtMs, existing };
    const part = insertConversationSpans(statements, target, spans);
    const repeated = spans.length - part.inserted;
    result.inserted += part.inserted;
    result.repeated += repeated;
    const { length: conflicts, 0: firstConflict } = part.conflicting;
    collector.add('repeated_spans', conversationId, repeated - conflicts);
    collector.add('span_id_taken', conversationId, conflicts, {
      span_id: firstConflict?.spanId ?? '',
    });
    if (part.inserted === 0) continue;
    if (part.late) {
      result.late += part.inserted;
      collector.add('late_spans', conversationId, part.inserted);
    }
    const dropped = insertTags(statements, part, tagsByConversation.get(conversationId) ?? []);
    collector.add('tags_left_out', conversationId, dropped);
  }
  for (const { traceId, spanId, parentSpanId } of request.links) {
    statements.insertLink.run(ownerId, traceId, spanId, parentSpanId);
  }
  if (request.links.length > 0) statements.deleteOldLinks.run(LINKS_MAX);
  const entries = [...request.logEntries, ...collector.entries()];
  for (const row of toEntryRows(receivedAtMs, entries)) {
    const { level, code, message, about } = row;
    statements.insertLogEntry.run(ownerId, row.at_ms, level, code, message, about, ownerId);
  }
  if (entries.length > 0)
    statements.deleteOldLogEntries.run(ownerId, ownerId, ENTRIES_PER_OWNER_MAX);
  return result;
}

interface Target {
  ownerId: string;
  conversationId: string;
  receivedAtMs: number;
  /** The conversation, if it is stored already. */
  existing: ConversationState | undefined;
}

interface InsertedPart {
  /** Row key of the conversation. */
  key: number;
  tagCount: number;
  inserted: number;
  /** Spans whose id is already stored for another trace or conversation. */
  conflicting: readonly NewSpan[];
  late: boolean;
}

function insertConversationSpans(
  statements: SpanWriterStatements,
  target: Target,
  spans: readonly NewSpan[],
): InsertedPart {
  const { ownerId, receivedAtMs, existing } = target;
  const key = existing?.key ?? insertConversation(statements, target, spans);
  const late = existing?.state === 'closed';
  const inserted: NewSpan[] = [];
  const conflicting: NewSpan[] = [];
  for (const span of spans) {
    if (insertSpan(statements, span, { ...target, key, late })) inserted.push(span);
    else if (!isStored(statements, span, { ownerId, key })) conflicting.push(span);
  }
  const part = {
    key,
    tagCount: existing?.tag_count ?? 0,
    inserted: inserted.length,
    conflicting,
    late,
  };
  if (inserted.length === 0) {
    // All spans belong to other conversations, so the new conversation would be empty.
    if (!existing) statements.deleteConversation.run(key);
    return part;
  }
  const [first, last] = findBounds(inserted, receivedAtMs);
  if (!existing) {
    // The row was created with the bounds of all spans, including those that were not inserted.
    if (inserted.length < spans.length) statements.setBounds.run(first, last, key);
  } else if (!late) {
    statements.extendBounds.run(first, last, receivedAtMs, key);
  }
  for (const traceId of new Set(inserted.map((span) => span.traceId))) {
    statements.insertTrace.run(ownerId, traceId, key);
  }
  return part;
}

function insertConversation(
  statements: SpanWriterStatements,
  { ownerId, conversationId, receivedAtMs }: Target,
  spans: readonly NewSpan[],
): number {
  const [first, last] = findBounds(spans, receivedAtMs);
  const { lastInsertRowid } = statements.insertConversation.run(
    ownerId,
    conversationId,
    first,
    last,
    receivedAtMs,
    toDay(receivedAtMs),
  );
  return Number(lastInsertRowid);
}

/** Inserts a span; returns false if the owner already has a span with this id. */
function insertSpan(
  statements: SpanWriterStatements,
  span: NewSpan,
  target: Target & { key: number; late: boolean },
): boolean {
  const { changes } = statements.insertSpan.run(
    target.key,
    target.ownerId,
    span.spanId,
    span.traceId,
    span.parentSpanId ?? null,
    span.operation,
    span.name,
    clampNs(span.startNs),
    clampNs(span.endNs),
    span.failed ? 1 : 0,
    target.late ? 1 : 0,
    target.receivedAtMs,
    JSON.stringify(span.attributes),
    span.inputMessages ?? null,
    span.outputMessages ?? null,
  );
  return changes > 0;
}

/** Returns whether the stored span with this id is the same one: same trace, same conversation. */
function isStored(
  { locateSpan }: SpanWriterStatements,
  { spanId, traceId }: NewSpan,
  { ownerId, key }: { ownerId: string; key: number },
): boolean {
  const location = locateSpan.get(ownerId, spanId);
  return location?.trace_id === traceId && location.conversation_key === key;
}

/** Inserts tags up to the limit of the conversation and returns how many were dropped. */
function insertTags(
  statements: SpanWriterStatements,
  { key, tagCount }: InsertedPart,
  tags: readonly Tag[],
): number {
  let count = tagCount;
  let dropped = 0;
  for (const { key: name, value } of tags) {
    if (count < TAGS_PER_CONVERSATION_MAX) {
      count += statements.insertTag.run(key, name, value).changes;
    } else if (!statements.findTag.get(key, name, value)) dropped += 1;
  }
  if (count > tagCount) statements.setTagCount.run(count, key);
  return dropped;
}
