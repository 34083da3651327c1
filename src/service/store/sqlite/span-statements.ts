import type { Database, Statement } from 'better-sqlite3';
import { deleteOldest } from '../row-limits.ts';
import { columnsIn } from '../schema/table.ts';
import { tables, type Tables } from '../schema/tables.ts';

/** The statements of the span writer, prepared once. Kysely would compile them for each call. */
export interface SpanWriterStatements
  extends
    TransactionStatements,
    ConversationStatements,
    SpanStatements,
    TagStatements,
    LogStatements {}

/** Prepares the statements of the span writer on a connection. */
export function prepareStatements(db: Database): SpanWriterStatements {
  return {
    ...prepareTransactions(db),
    ...prepareConversations(db),
    ...prepareSpans(db),
    ...prepareTags(db),
    insertLogEntry: db.prepare(`
      insert into ingest_log (owner_id, at_ms, level, code, message, about, number)
      select ?, ?, ?, ?, ?, ?, coalesce(max(number), 0) + 1 from ingest_log where owner_id = ?`),
    deleteOldLogEntries: db.prepare(deleteOldest('ingest_log', 'sqlite')),
  };
}

interface TransactionStatements {
  /** Takes the write lock, so the transaction can't fail halfway for lack of it. */
  begin: Statement<[]>;
  commit: Statement<[]>;
  rollback: Statement<[]>;
}

function prepareTransactions(db: Database): TransactionStatements {
  return {
    begin: db.prepare('begin immediate'),
    commit: db.prepare('commit'),
    rollback: db.prepare('rollback'),
  };
}

/** A stored conversation. */
interface ConversationState {
  key: number;
  state: 'open' | 'closed';
  tag_count: number;
  span_count: number;
  text_bytes: number;
  spans_removed_at_ms: number | null;
}

interface ConversationStatements {
  findConversation: Statement<[ownerId: string, id: string], ConversationState>;
  insertConversation: Statement<
    [
      ownerId: string,
      id: string,
      firstNs: bigint,
      lastNs: bigint,
      receivedAtMs: number,
      receivedDay: number,
    ]
  >;
  deleteConversation: Statement<[key: number]>;
  /** Sets how much of its limits a conversation uses. */
  setSize: Statement<[tagCount: number, spanCount: number, textBytes: number, key: number]>;
  setBounds: Statement<[firstNs: bigint, lastNs: bigint, key: number]>;
  extendBounds: Statement<[firstNs: bigint, lastNs: bigint, receivedAtMs: number, key: number]>;
}

function prepareConversations(db: Database): ConversationStatements {
  return {
    findConversation: db.prepare(`
      select key, state, tag_count, span_count, text_bytes, spans_removed_at_ms from conversations
      where owner_id = ? and conversation_id = ?`),
    insertConversation: db.prepare(`
      insert into conversations
        (owner_id, conversation_id, first_start_ns, last_end_ns, last_received_at_ms, received_day)
      values (?, ?, ?, ?, ?, ?)`),
    deleteConversation: db.prepare('delete from conversations where key = ?'),
    setSize: db.prepare(`
      update conversations set tag_count = ?, span_count = ?, text_bytes = ? where key = ?`),
    setBounds: db.prepare(`
      update conversations set first_start_ns = ?, last_end_ns = ? where key = ?`),
    extendBounds: db.prepare(`
      update conversations set
        first_start_ns = min(first_start_ns, ?),
        last_end_ns = max(last_end_ns, ?),
        last_received_at_ms = max(last_received_at_ms, ?)
      where key = ?`),
  };
}

interface SpanStatements {
  /** Takes `SPAN_COLUMNS`; changes nothing if the owner has a span with this id. */
  insertSpan: Statement<(string | number | bigint | null)[]>;
  /** Finds the trace and the conversation of a stored span. */
  locateSpan: Statement<
    [ownerId: string, spanId: string],
    { trace_id: string; conversation_key: number }
  >;
  /** Assigns a trace to a conversation; the first assignment stays. */
  insertTrace: Statement<[ownerId: string, traceId: string, key: number]>;
  findConversationOfTrace: Statement<[ownerId: string, traceId: string], { id: string }>;
  insertLink: Statement<[ownerId: string, traceId: string, spanId: string, parentSpanId: string]>;
  deleteOldLinks: Statement<[ownerId: string, again: string]>;
}

/** The columns of an inserted span. */
export const SPAN_COLUMNS = Object.keys(columnsIn(tables.spans, 'sqlite')).filter(
  (name): name is Exclude<keyof Tables['spans'], 'key' | 'received_day'> => name !== 'key',
);

function prepareSpans(db: Database): SpanStatements {
  return {
    insertSpan: db.prepare(`
      insert into spans (${SPAN_COLUMNS.join()})
      values (${SPAN_COLUMNS.map(() => '?').join()})
      on conflict (owner_id, span_id) do nothing`),
    locateSpan: db.prepare(`
      select trace_id, conversation_key from spans where owner_id = ? and span_id = ?`),
    insertTrace: db.prepare(`
      insert into traces (owner_id, trace_id, conversation_key) values (?, ?, ?)
      on conflict do nothing`),
    findConversationOfTrace: db.prepare(`
      select conversation_id as id
      from traces join conversations on conversations.key = traces.conversation_key
      where traces.owner_id = ? and trace_id = ?`),
    insertLink: db.prepare(`
      insert into span_links (owner_id, trace_id, span_id, parent_span_id) values (?, ?, ?, ?)
      on conflict do nothing`),
    deleteOldLinks: db.prepare(deleteOldest('span_links', 'sqlite')),
  };
}

interface TagStatements {
  insertTag: Statement<[key: number, name: string, value: string]>;
  findTag: Statement<[key: number, name: string, value: string], { found: number }>;
}

function prepareTags(db: Database): TagStatements {
  return {
    insertTag: db.prepare(`
      insert into tags (conversation_key, name, value) values (?, ?, ?)
      on conflict do nothing`),
    findTag: db.prepare(`
      select 1 as found from tags where conversation_key = ? and name = ? and value = ?`),
  };
}

interface LogStatements {
  insertLogEntry: Statement<
    [
      ownerId: string,
      atMs: number,
      level: string,
      code: string,
      message: string,
      about: string,
      again: string,
    ]
  >;
  deleteOldLogEntries: Statement<[ownerId: string, again: string]>;
}
