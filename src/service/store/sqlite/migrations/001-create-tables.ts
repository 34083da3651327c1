/**
 * Creates the tables. The comments inside the statements document the schema: SQLite stores them, and
 * `.schema` shows them.
 *
 * A `key` is the internal number of a row; callers see it only as the id of a run. An `id` is known
 * to callers. Times are integers since the Unix epoch, in milliseconds (`_ms`) or nanoseconds
 * (`_ns`). A `_folded` column holds a name as `normalizeForSearch` returns it.
 */
export const CREATE_TABLES = `
create table owners (
  -- keys belong to an owner; owners never see each other's data
  id text primary key,
  name text not null unique
) strict;

create table keys (
  -- SHA-256 of the key, lower-case hexadecimal; the key itself is not stored
  digest text primary key,
  owner_id text not null references owners (id),
  -- 1: from the configuration, replaced on the next start; 0: added later, permanent
  configured integer not null
) strict;

create table conversations (
  -- a production conversation built from spans (spec 3.1)
  key integer primary key,
  owner_id text not null references owners (id),
  -- gen_ai.conversation.id
  conversation_id text not null,
  -- changes from open to closed once
  state text not null default 'open' check (state in ('open', 'closed')),
  -- time range of the spans that were received while it was open
  first_start_ns integer not null,
  last_end_ns integer not null,
  -- server time of the last new span; the idle timeout counts from it
  last_received_at_ms integer not null,
  -- number of its rows in tags, so that checking the limit needs no count
  tag_count integer not null default 0,
  closed_at_ms integer,
  -- the daily run it joined when it was closed
  run_key integer,
  -- the session that scores it; null while it is unscored
  session_key integer,
  unique (owner_id, conversation_id)
) strict;
create index conversations_idle on conversations (last_received_at_ms) where state = 'open';
create index conversations_unscored on conversations (owner_id, closed_at_ms, key)
  where state = 'closed' and session_key is null;

create table spans (
  key integer primary key,
  conversation_key integer not null references conversations (key) on delete cascade,
  owner_id text not null,
  span_id text not null,
  trace_id text not null,
  parent_span_id text,
  -- gen_ai.operation.name
  operation text not null,
  name text not null,
  start_ns integer not null,
  end_ns integer not null,
  -- 1: status ERROR
  failed integer not null,
  -- 1: received after its conversation was closed
  late integer not null,
  received_at_ms integer not null,
  -- JSON object: the other gen_ai attributes
  attributes text not null,
  -- JSON text as received, even if not well-formed; last because they are long
  input_messages text,
  output_messages text,
  unique (owner_id, span_id)
) strict;
create index spans_of_conversation on spans (conversation_key);

create table traces (
  -- the conversation of the first span of each trace
  owner_id text not null,
  trace_id text not null,
  conversation_key integer not null,
  primary key (owner_id, trace_id)
) strict, without rowid;

create table tags (
  -- distinct attributes outside gen_ai.* for each conversation
  conversation_key integer not null references conversations (key) on delete cascade,
  name text not null,
  value text not null,
  primary key (conversation_key, name, value)
) strict, without rowid;

create table runs (
  -- a group of production sessions; its key is the evaluation id of deep links
  key integer primary key,
  owner_id text not null,
  name text not null,
  name_folded text not null,
  unique (owner_id, name)
) strict;

create table agents (
  key integer primary key,
  owner_id text not null,
  name text not null,
  url text not null,
  name_folded text not null,
  url_folded text not null,
  unique (owner_id, name, url)
) strict;

create table simulations (
  key integer primary key,
  owner_id text not null,
  id text not null,
  name text not null,
  -- 1: deleted; its sessions stay
  deleted integer not null,
  unique (owner_id, id)
) strict;

create table eval_names (
  -- all distinct eval names of outcomes, so that a search reads few rows
  key integer primary key,
  owner_id text not null,
  name text not null,
  name_folded text not null,
  unique (owner_id, name)
) strict;

create table sessions (
  key integer primary key,
  owner_id text not null references owners (id),
  id text not null,
  kind text not null check (kind in ('simulation', 'production')),
  status text not null,
  started_at_ms integer not null,
  ended_at_ms integer not null,
  run_key integer,
  -- the client's own conversation id
  source_session_id text,
  simulation_key integer,
  agent_key integer,
  scenario text,
  persona text,
  end_reason text,
  -- numbers of outcomes that pass or fail, that pass, and that fail; errors are not counted
  total integer not null default 0,
  passed integer not null default 0,
  failed integer not null default 0,
  unique (owner_id, id)
) strict;
create index sessions_newest on sessions (owner_id, kind, started_at_ms desc, id);
create index sessions_scored on sessions (owner_id, kind, started_at_ms desc, id)
  where total > 0;
create index sessions_failed on sessions (owner_id, kind, started_at_ms desc, id)
  where failed > 0;
create index sessions_of_run on sessions (run_key, started_at_ms desc, id) where total > 0;
create index sessions_of_agent on sessions (agent_key, started_at_ms desc, id);

create table turns (
  -- uploaded with a session; sessions of live traces have spans instead
  session_key integer not null references sessions (key) on delete cascade,
  sequence integer not null,
  user_input text not null,
  user_reason text,
  agent_response text not null,
  unique (session_key, sequence)
) strict;

create table outcomes (
  -- the result of each eval of a session
  session_key integer not null references sessions (key) on delete cascade,
  eval_id text not null,
  -- order among the outcomes of its session
  position integer not null,
  eval_name_key integer not null,
  category text not null,
  type text not null,
  outcome text not null check (outcome in ('pass', 'fail', 'error')),
  reasoning text not null,
  -- when it was written; null if it was uploaded with the session
  at_ms integer,
  unique (session_key, eval_id)
) strict;
create index outcomes_by_name on outcomes (eval_name_key, session_key)
  where outcome <> 'error';

create table jobs (
  -- an eval that has to score a session; ids are never reused, so a stale id matches no other job
  id integer primary key autoincrement,
  owner_id text not null,
  session_key integer not null references sessions (key) on delete cascade,
  eval_id text not null,
  position integer not null,
  -- JSON: the eval as defined when the job was queued
  definition text not null,
  -- queued or taken, finally done
  state text not null default 'queued' check (state in ('queued', 'taken', 'done')),
  -- how often it was taken; together with worker, the fencing token
  attempts integer not null default 0,
  worker text,
  -- queued: can be taken from then on; taken: the lease ends then
  due_at_ms integer not null,
  unique (session_key, eval_id)
) strict;
create index jobs_due on jobs (due_at_ms, id) where state <> 'done';

create table evals (
  key integer primary key,
  owner_id text not null references owners (id),
  id text not null,
  -- JSON: the whole definition
  definition text not null,
  unique (owner_id, id)
) strict;

create table documents (
  -- documents that simulations refer to
  key integer primary key,
  owner_id text not null references owners (id),
  kind text not null check (kind in ('agent', 'persona', 'scenario')),
  id text not null,
  -- JSON: the whole document without the secret
  document text not null,
  -- API key of an agent's sandbox in plain text, because it has to be sent; never listed
  secret text,
  unique (owner_id, kind, id)
) strict;

create table settings (
  -- settings of live traces (spec 2.2); without a row, the defaults apply
  owner_id text primary key references owners (id),
  -- JSON array of eval ids
  evals text not null,
  run_name text not null
) strict;

create table ingest_log (
  owner_id text not null references owners (id),
  -- counts up for each owner, so that old entries can be deleted as a range
  number integer not null,
  at_ms integer not null,
  level text not null,
  code text not null,
  message text not null,
  -- JSON object: ids and counts, never conversation text
  about text not null,
  primary key (owner_id, number)
) strict, without rowid;
`;
