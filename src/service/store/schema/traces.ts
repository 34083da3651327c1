import {
  integer,
  keyOf,
  long,
  nanoseconds,
  nullable,
  oneOf,
  onlyInPostgres,
  owner,
  rowKey,
  sortedText,
  table,
  text,
  withDefault,
} from './table.ts';

/** The tables that traces fill. */
export const traceTables = {
  /** A production conversation built from spans (spec 3.1). */
  conversations: table(
    {
      key: rowKey,
      owner_id: owner,
      /** `gen_ai.conversation.id`. */
      conversation_id: sortedText,
      /** Changes from open to closed once. */
      state: withDefault(oneOf(['open', 'closed']), 'open'),
      /** The time range of the spans that were received while it was open. */
      first_start_ns: nanoseconds,
      last_end_ns: nanoseconds,
      /** Server time of the last new span; the idle timeout counts from it. */
      last_received_at_ms: long,
      /** Number of its rows in `tags`, so that checking the limit needs no count. */
      tag_count: withDefault(integer, 0),
      /** Number of its rows in `spans`, and the bytes of their texts, so that a limit needs no count. */
      span_count: withDefault(integer, 0),
      text_bytes: withDefault(integer, 0),
      closed_at_ms: nullable(long),
      /** The daily run that it joined when it was closed. */
      run_key: nullable(long),
      /** The session that scores it; null while it is unscored. */
      session_key: nullable(long),
      /** Days since the Unix epoch until its first span was received. */
      received_day: integer,
      /** When its spans were removed because of their age; later spans are dropped. */
      spans_removed_at_ms: nullable(long),
    },
    {
      primaryKey: ['key'],
      unique: [['owner_id', 'conversation_id']],
      indexes: {
        conversations_idle: {
          on: ['last_received_at_ms'],
          where: "state = 'open'",
          isAcrossOwners: true,
        },
        conversations_open: { on: ['owner_id', 'key'], where: "state = 'open'" },
        conversations_unscored: {
          on: ['owner_id', 'closed_at_ms', 'key'],
          where: "state = 'closed' and session_key is null",
        },
        conversations_with_spans: {
          on: ['owner_id', 'received_day'],
          where: 'spans_removed_at_ms is null',
        },
      },
    },
  ),

  /**
   * PostgreSQL has one partition per day, so that old spans are dropped and not deleted. All spans of a
   * conversation have its day. There is no foreign key, because dropping a partition would lock
   * conversations.
   */
  spans: table(
    {
      key: rowKey,
      conversation_key: keyOf('conversations', { only: 'sqlite' }),
      received_day: onlyInPostgres(integer),
      owner_id: sortedText,
      span_id: sortedText,
      trace_id: sortedText,
      parent_span_id: nullable(sortedText),
      /** `gen_ai.operation.name`. */
      operation: text,
      name: text,
      start_ns: nanoseconds,
      end_ns: nanoseconds,
      /** 1: status ERROR. */
      failed: integer,
      /** 1: received after its conversation was closed. */
      late: integer,
      received_at_ms: long,
      /** JSON object: the other gen_ai attributes. */
      attributes: text,
      /** JSON text as received, even if not well-formed. */
      input_messages: nullable(text),
      output_messages: nullable(text),
    },
    {
      primaryKey: ['key'],
      sqlite: { unique: [['owner_id', 'span_id']] },
      postgres: {
        primaryKey: ['conversation_key', 'span_id', 'received_day'],
        partitionBy: 'range (received_day)',
      },
      indexes: { spans_of_conversation: { on: ['conversation_key'], only: 'sqlite' } },
    },
  ),

  /** The ids of all spans, because a unique key of a partitioned table has to contain the day. */
  span_ids: table(
    { span_id: sortedText, conversation_key: long },
    { primaryKey: ['span_id'], only: 'postgres' },
  ),

  /** The conversation of the first span of each trace. */
  traces: table(
    { owner_id: sortedText, trace_id: sortedText, conversation_key: long },
    { primaryKey: ['owner_id', 'trace_id'], isClustered: true },
  ),

  /** An ignored span with a parent; the oldest are deleted beyond a limit. */
  span_links: table(
    {
      // Counts links alone in PostgreSQL, so that their numbers stay small.
      key: { ...rowKey, sequence: 'link_keys' },
      owner_id: sortedText,
      trace_id: sortedText,
      span_id: sortedText,
      parent_span_id: sortedText,
    },
    {
      primaryKey: ['owner_id', 'trace_id', 'span_id'],
      indexes: { span_links_oldest: { on: ['owner_id', 'key'] } },
    },
  ),

  /** Distinct attributes outside gen_ai.* for each conversation. */
  tags: table(
    {
      conversation_key: keyOf('conversations'),
      name: sortedText,
      value: { ...sortedText, isLong: true },
    },
    { primaryKey: ['conversation_key', 'name', 'value'], isClustered: true },
  ),
};
