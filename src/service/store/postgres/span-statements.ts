/**
 * The statements of the span writer. Their first parameter is the owner; the others are columns, or the
 * owner again.
 */
import { deleteOldest } from '../row-limits.ts';
import { columnsIn } from '../schema/table.ts';
import { tables, type Tables } from '../schema/tables.ts';

/**
 * Compresses the texts that a connection stores with LZ4, unless the server can't, or its operator chose
 * something else. The default takes several times as long.
 */
export const COMPRESS_FAST = `
  select set_config(name, 'lz4', false) from pg_settings
  where name = 'default_toast_compression' and source = 'default' and 'lz4' = any(enumvals)`;

/**
 * Inserts missing conversations without a time range, and locks and returns all of them. Only the
 * transaction that inserts a conversation sees it without a time of receipt (-1). The system columns
 * would tell it, too, but an insert into a partitioned table can't return them.
 */
export const LOCK_CONVERSATIONS = `
  insert into conversations
    (owner_id, conversation_id, received_day, first_start_ns, last_end_ns, last_received_at_ms)
  select $1, id, day, 0, 0, -1 from unnest($2::text[], $3::integer[]) as given (id, day)
  order by id collate "C"
  on conflict (owner_id, conversation_id) do update set tag_count = conversations.tag_count
  returning conversation_id, key, state, tag_count, span_count, text_bytes, received_day,
    (last_received_at_ms = -1) as is_new, (spans_removed_at_ms is not null) as is_removed`;

/** The columns that `INSERT_SPANS` takes after the owner. */
export const SPAN_COLUMNS = Object.keys(columnsIn(tables.spans, 'postgres')).filter(
  (name): name is Exclude<keyof Tables['spans'], 'key' | 'owner_id'> =>
    name !== 'key' && name !== 'owner_id',
);

type SpanColumn = (typeof SPAN_COLUMNS)[number];

type TextColumn = {
  [Name in SpanColumn]: Tables['spans'][Name] extends string | null ? Name : never;
}[SpanColumn];

/** Whether the values of a column are texts or null. */
export const isTextColumn = (name: SpanColumn): name is TextColumn =>
  tables.spans.columns[name].types.postgres === 'text';

/** Returns the parameter with the values of a column of spans. */
const valuesOf = (name: SpanColumn): string =>
  `$${SPAN_COLUMNS.indexOf(name) + 2}::${tables.spans.columns[name].types.postgres}[]`;

/**
 * Inserts spans with new ids, and returns their ids. Each id is given once. Ids are claimed in the given
 * order; rows are then numbered by the last parameter, their order of arrival.
 */
export const INSERT_SPANS = `
  with claimed as (
    insert into span_ids (owner_id, conversation_key, span_id)
    select $1, * from unnest(${valuesOf('conversation_key')}, ${valuesOf('span_id')})
    on conflict (owner_id, span_id) do nothing
    returning span_id as claimed_id)
  insert into spans (owner_id, ${SPAN_COLUMNS.join()})
  select $1, ${SPAN_COLUMNS.map((name) => `given.${name}`).join()}
  from unnest(${SPAN_COLUMNS.map(valuesOf).join()}, $${SPAN_COLUMNS.length + 2}::integer[])
    as given (${SPAN_COLUMNS.join()}, arrival)
  join claimed on claimed_id = given.span_id
  order by arrival
  returning span_id`;

/** Returns those of several ids that spans have. */
export const FIND_SPAN_IDS = `
  select span_id from span_ids where owner_id = $1 and span_id = any($2::text[])`;

export const LOCATE_SPANS = `
  select spans.span_id, trace_id, spans.conversation_key from span_ids
  join conversations on conversations.owner_id = $1
    and conversations.key = span_ids.conversation_key
  join spans on spans.owner_id = $1 and spans.received_day = conversations.received_day
    and spans.conversation_key = conversations.key and spans.span_id = span_ids.span_id
  where span_ids.owner_id = $1 and span_ids.span_id = any($2::text[])`;

export const FIND_TAGS = `
  select tags.conversation_key, tags.name, tags.value
  from unnest($2::bigint[], $3::text[], $4::text[]) as given (key, name, value)
  join tags on tags.owner_id = $1 and tags.conversation_key = given.key
    and tags.name = given.name and tags.value_digest = md5(given.value)`;

export const INSERT_TAGS = `
  insert into tags (owner_id, conversation_key, name, value)
  select $1, * from unnest($2::bigint[], $3::text[], $4::text[])
  on conflict do nothing`;

/** Sets the numbers of tags, spans, and bytes, and sets or extends the time range unless it is closed. */
export const UPDATE_CONVERSATIONS = `
  update conversations set
    tag_count = given.tag_count,
    span_count = given.span_count,
    text_bytes = given.text_bytes,
    first_start_ns = case
      when state = 'closed' then first_start_ns
      when is_new then first else least(first_start_ns, first) end,
    last_end_ns = case
      when state = 'closed' then last_end_ns
      when is_new then last else greatest(last_end_ns, last) end,
    last_received_at_ms = case
      when state = 'closed' then last_received_at_ms
      else greatest(last_received_at_ms, received_at_ms) end
  from unnest($2::bigint[], $3::boolean[], $4::integer[], $5::integer[], $6::integer[],
      $7::bigint[], $8::bigint[], $9::bigint[])
    as given (key, is_new, tag_count, span_count, text_bytes, first, last, received_at_ms)
  where conversations.owner_id = $1 and conversations.key = given.key`;

export const DELETE_CONVERSATIONS = `
  delete from conversations where owner_id = $1 and key = any($2::bigint[])`;

export const INSERT_TRACES = `
  insert into traces (owner_id, trace_id, conversation_key)
  select $1, * from unnest($2::text[], $3::bigint[])
  on conflict do nothing`;

export const FIND_CONVERSATIONS_OF_TRACES = `
  select trace_id, conversation_id from traces
  join conversations on conversations.owner_id = traces.owner_id
    and conversations.key = traces.conversation_key
  where traces.owner_id = $1 and trace_id = any($2::text[])`;

export const INSERT_LINKS = `
  insert into span_links (owner_id, trace_id, span_id, parent_span_id)
  select $1, * from unnest($2::text[], $3::text[], $4::text[])
  on conflict do nothing`;

export const DELETE_OLD_LINKS = deleteOldest('span_links', 'postgres');

export const INSERT_LOG_ENTRIES = `
  insert into ingest_log (owner_id, at_ms, level, code, message, about)
  select $1, * from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])`;

export const DELETE_OLD_LOG_ENTRIES = deleteOldest('ingest_log', 'postgres');
