/**
 * Writes spans on a separate connection in the ingest thread.
 *
 * - One transaction holds a batch of requests, so that many requests share one durable commit. If a
 *   request fails because of its content, each request is inserted alone, so that only the bad one
 *   fails. (With a savepoint for each request, SQLite copies every page before its first change.) If
 *   the commit fails or the disk is full, the whole batch is lost, and every request of it gets the
 *   error. So does it if the file was deleted or replaced before the batch is acknowledged.
 * - Inserting is idempotent. The key of a span is its owner and span id; a span that arrives again
 *   changes nothing, so a client can repeat a request safely.
 * - A conversation is created by its first span. Its time bounds grow while it is open.
 */
import type { Database } from 'better-sqlite3';
import { toDay } from '../../../platform/clock.ts';
import { toError } from '../../../platform/error-origin.ts';
import { addSize, hasRoom, measureText } from '../conversation-limits.ts';
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
import { guardFile } from './file-identity.ts';
import { isBusy, LOCK_WAIT_MS_MAX, LOCKED_WAIT_MS_MAX, openFile } from './open-file.ts';
import { prepareStatements, SPAN_COLUMNS, type SpanWriterStatements } from './span-statements.ts';

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
  const batches: Batches = {
    db,
    statements: prepareStatements(db),
    linkDeletions: new LinkDeletions(),
    assertFileUnchanged: guardFile(file),
  };
  let isLocked = false;
  return {
    async insert(requests) {
      const results = insertBatch(batches, requests);
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
        const row = batches.statements.findConversationOfTrace.get(ownerId, traceId);
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

/** What inserting batches needs. */
interface Batches {
  db: Database;
  statements: SpanWriterStatements;
  linkDeletions: LinkDeletions;
  assertFileUnchanged: () => void;
}

function insertBatch(
  batches: Batches,
  requests: readonly TraceRequestRows[],
): (InsertResult | Error)[] {
  const { db, statements } = batches;
  let isInserting = false;
  try {
    batches.assertFileUnchanged();
    statements.begin.run();
    isInserting = true;
    const inserted = requests.map((request) => insertRequest(statements, request));
    isInserting = false;
    deleteOldRows(batches, requests, inserted);
    statements.commit.run();
    batches.assertFileUnchanged();
    return inserted.map(({ result }) => result);
  } catch (error) {
    // A full disk has ended the transaction.
    const isOpen = db.inTransaction;
    if (isOpen) statements.rollback.run();
    if (isOpen && isInserting && requests.length > 1) {
      return requests.flatMap((request) => insertBatch(batches, [request]));
    }
    // The lock, the disk, the commit, or the file failed: nothing is stored, so every request gets the error.
    const cause = toError(error);
    return requests.map(() => cause);
  }
}

/** Deletes the rows of owners beyond their limits, once for all requests of a batch. */
function deleteOldRows(
  { statements, linkDeletions }: Batches,
  requests: readonly TraceRequestRows[],
  inserted: readonly InsertedRequest[],
): void {
  const logging = requests.filter((_, nth) => inserted[nth]?.hasLogged);
  for (const ownerId of new Set(logging.map((request) => request.ownerId)))
    statements.deleteOldLogEntries.run(ownerId, ownerId);
  for (const [ownerId, ofOwner] of Map.groupBy(requests, (request) => request.ownerId)) {
    const newLinks = ofOwner.reduce((sum, { links }) => sum + links.length, 0);
    if (linkDeletions.isDue(ownerId, newLinks)) statements.deleteOldLinks.run(ownerId, ownerId);
  }
}

interface InsertedRequest {
  result: InsertResult;
  /** Whether it added entries to the ingest log. */
  hasLogged: boolean;
}

function insertRequest(
  statements: SpanWriterStatements,
  request: TraceRequestRows,
): InsertedRequest {
  const { ownerId } = request;
  const tagsByConversation = Map.groupBy(request.tags, ({ conversationId }) => conversationId);
  const parts = Array.from(
    Map.groupBy(request.spans, (span) => span.conversationId),
    ([conversationId, spans]) => {
      const tags = tagsByConversation.get(conversationId) ?? [];
      return insertPart(statements, { request, conversationId, spans }, tags);
    },
  );
  for (const { traceId, spanId, parentSpanId } of request.links) {
    statements.insertLink.run(ownerId, traceId, spanId, parentSpanId);
  }
  const { result, entryRows } = summarizeRequest(request, parts);
  for (const { at_ms: atMs, level, code, message, about } of entryRows) {
    statements.insertLogEntry.run(ownerId, atMs, level, code, message, about, ownerId);
  }
  return { result, hasLogged: entryRows.length > 0 };
}

/** What one request brings for one conversation. */
type NewPart = Pick<SpanPart, 'request' | 'conversationId' | 'spans'>;

function insertPart(
  statements: SpanWriterStatements,
  wanted: NewPart,
  tags: readonly Tag[],
): SpanPart {
  const { request, spans } = wanted;
  const conversation =
    findConversation(statements, wanted) ?? insertConversation(statements, wanted);
  const { key } = conversation;
  const part: SpanPart = {
    ...wanted,
    conversation,
    inserted: [],
    conflicting: [],
    exceeding: [],
    droppedTags: 0,
  };
  if (conversation.isRemoved) return part;
  for (const span of spans) {
    const row = { owner_id: request.ownerId, ...toSpanRow(span, part) };
    const size = { spanCount: 1, textBytes: measureText(row) };
    const isInserted =
      hasRoom(conversation, size) &&
      statements.insertSpan.run(...SPAN_COLUMNS.map((name) => row[name])).changes > 0;
    if (isInserted) {
      part.inserted.push(span);
      addSize(conversation, size);
      continue;
    }
    const location = statements.locateSpan.get(request.ownerId, span.spanId);
    if (!location) part.exceeding.push(span);
    else if (!isSame(location, span, part)) part.conflicting.push(span);
  }
  if (part.inserted.length === 0) {
    // All spans belong to other conversations, or are too large, so the new one would be empty.
    if (conversation.isNew) statements.deleteConversation.run(key);
    return part;
  }
  const [first, last] = findBounds(part.inserted, request.receivedAtMs);
  if (conversation.isNew) {
    // The row was created with the bounds of all spans, including those that were not inserted.
    if (part.inserted.length < spans.length) statements.setBounds.run(first, last, key);
  } else if (!conversation.isClosed) {
    statements.extendBounds.run(first, last, request.receivedAtMs, key);
  }
  for (const traceId of new Set(part.inserted.map((span) => span.traceId))) {
    statements.insertTrace.run(request.ownerId, traceId, key);
  }
  part.droppedTags = insertTags(statements, conversation, tags);
  const { tagCount, spanCount, textBytes } = conversation;
  statements.setSize.run(tagCount, spanCount, textBytes, key);
  return part;
}

function findConversation(
  statements: SpanWriterStatements,
  { request, conversationId }: NewPart,
): TargetConversation | undefined {
  const row = statements.findConversation.get(request.ownerId, conversationId);
  return (
    row && {
      key: row.key,
      isNew: false,
      tagCount: row.tag_count,
      spanCount: row.span_count,
      textBytes: row.text_bytes,
      isClosed: row.state === 'closed',
      isRemoved: row.spans_removed_at_ms !== null,
    }
  );
}

function insertConversation(
  statements: SpanWriterStatements,
  { request, conversationId, spans }: NewPart,
): TargetConversation {
  const { ownerId, receivedAtMs } = request;
  const [first, last] = findBounds(spans, receivedAtMs);
  const { lastInsertRowid } = statements.insertConversation.run(
    ownerId,
    conversationId,
    first,
    last,
    receivedAtMs,
    toDay(receivedAtMs),
  );
  const key = Number(lastInsertRowid);
  return {
    key,
    isNew: true,
    isClosed: false,
    isRemoved: false,
    tagCount: 0,
    spanCount: 0,
    textBytes: 0,
  };
}

/** Returns whether the stored span with this id is the same one: same trace, same conversation. */
function isSame(
  location: { trace_id: string; conversation_key: number },
  { traceId }: NewSpan,
  { conversation }: SpanPart,
): boolean {
  return location.trace_id === traceId && location.conversation_key === conversation.key;
}

/** Inserts tags up to the limit of the conversation, counts them, and returns how many were dropped. */
function insertTags(
  statements: SpanWriterStatements,
  conversation: TargetConversation,
  tags: readonly Tag[],
): number {
  const { key, tagCount } = conversation;
  const { added, dropped } = selectNewTags(
    tags,
    tagCount,
    (tag) => tagCount > 0 && statements.findTag.get(key, tag.key, tag.value) !== undefined,
  );
  for (const tag of added) statements.insertTag.run(key, tag.key, tag.value);
  conversation.tagCount += added.length;
  return dropped;
}
