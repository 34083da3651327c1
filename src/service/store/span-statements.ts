import type { Database, Statement } from 'better-sqlite3';
import { deleteOldEntriesSql, insertEntrySql, type EntryRow } from './ingest-log-rows.ts';

/** What the span sink says to the database, prepared once: kysely makes each statement anew. */
export interface Statements
  extends ForTransactions, ForConversations, ForSpans, ForTags, ForNotes {}

/** Prepares the sink's statements. */
export function prepareStatements(db: Database): Statements {
  return {
    ...forTransactions(db),
    ...forConversations(db),
    ...forSpans(db),
    ...forTags(db),
    insertLogEntry: db.prepare(insertEntrySql),
    deleteOldLogEntries: db.prepare(deleteOldEntriesSql),
  };
}

interface ForTransactions {
  /** At once with the write lock, so that no transaction fails half-way for it. */
  begin: Statement<[]>;
  commit: Statement<[]>;
  rollback: Statement<[]>;
  savepoint: Statement<[]>;
  release: Statement<[]>;
  /** Back to the savepoint, which stays. */
  undo: Statement<[]>;
}

function forTransactions(db: Database): ForTransactions {
  return {
    begin: db.prepare('begin immediate'),
    commit: db.prepare('commit'),
    rollback: db.prepare('rollback'),
    savepoint: db.prepare('savepoint request'),
    release: db.prepare('release request'),
    undo: db.prepare('rollback to request'),
  };
}

interface ConversationState {
  key: number;
  state: 'open' | 'closed';
  tag_count: number;
}

interface ForConversations {
  findConversation: Statement<[ownerId: string, id: string], ConversationState>;
  addConversation: Statement<
    [ownerId: string, id: string, firstNs: bigint, lastNs: bigint, receivedAtMs: number]
  >;
  removeConversation: Statement<[key: number]>;
  setBounds: Statement<[firstNs: bigint, lastNs: bigint, key: number]>;
  widen: Statement<[firstNs: bigint, lastNs: bigint, receivedAtMs: number, key: number]>;
}

function forConversations(db: Database): ForConversations {
  return {
    findConversation: db.prepare(`
      select key, state, tag_count from conversations
      where owner_id = ? and conversation_id = ?`),
    addConversation: db.prepare(`
      insert into conversations
        (owner_id, conversation_id, first_start_ns, last_end_ns, last_received_at_ms)
      values (?, ?, ?, ?, ?)`),
    removeConversation: db.prepare('delete from conversations where key = ?'),
    setBounds: db.prepare(`
      update conversations set first_start_ns = ?, last_end_ns = ? where key = ?`),
    widen: db.prepare(`
      update conversations set
        first_start_ns = min(first_start_ns, ?),
        last_end_ns = max(last_end_ns, ?),
        last_received_at_ms = max(last_received_at_ms, ?)
      where key = ?`),
  };
}

interface ForSpans {
  /** In the order of the columns; changes nothing when the owner has a span of that id. */
  addSpan: Statement<(string | number | bigint | null)[]>;
  /** Of a span id that the owner has: where it belongs. */
  placeOfSpan: Statement<
    [ownerId: string, spanId: string],
    { trace_id: string; conversation_key: number }
  >;
  /** The first conversation of a trace stays its conversation. */
  addTrace: Statement<[ownerId: string, traceId: string, key: number]>;
  conversationOfTrace: Statement<[ownerId: string, traceId: string], { id: string }>;
}

function forSpans(db: Database): ForSpans {
  return {
    addSpan: db.prepare(`
      insert into spans
        (conversation_key, owner_id, span_id, trace_id, parent_span_id, operation, name,
         start_ns, end_ns, failed, late, received_at_ms,
         attributes, input_messages, output_messages)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      on conflict (owner_id, span_id) do nothing`),
    placeOfSpan: db.prepare(`
      select trace_id, conversation_key from spans where owner_id = ? and span_id = ?`),
    addTrace: db.prepare(`
      insert into traces (owner_id, trace_id, conversation_key) values (?, ?, ?)
      on conflict do nothing`),
    conversationOfTrace: db.prepare(`
      select conversation_id as id
      from traces join conversations on conversations.key = traces.conversation_key
      where traces.owner_id = ? and trace_id = ?`),
  };
}

interface ForTags {
  addTag: Statement<[key: number, name: string, value: string]>;
  findTag: Statement<[key: number, name: string, value: string], { found: number }>;
  countTags: Statement<[count: number, key: number]>;
}

function forTags(db: Database): ForTags {
  return {
    addTag: db.prepare(`
      insert into tags (conversation_key, name, value) values (?, ?, ?)
      on conflict do nothing`),
    findTag: db.prepare(`
      select 1 as found from tags where conversation_key = ? and name = ? and value = ?`),
    countTags: db.prepare('update conversations set tag_count = ? where key = ?'),
  };
}

interface ForNotes {
  insertLogEntry: Statement<EntryRow>;
  deleteOldLogEntries: Statement<[ownerId: string, again: string, bound: number]>;
}
