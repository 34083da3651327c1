import { CREATE_RATE_LIMITS } from '../rate-limit.ts';

/** Text that sorts by its code points, as in SQLite. */
const TEXT = 'text collate "C"';

/**
 * Creates the tables. They have the columns of the SQLite tables, which describe them, with these
 * differences: every table but `owners`, `keys`, `service_values`, `shared_state`, and `replicas` has
 * `owner_id`, first in its primary key, unique keys, foreign keys, and indexes, so that the tables can be
 * distributed by owner. Keys of rows count up
 * over all owners.
 */
export const CREATE_TABLES = `
create function instr(haystack text, needle text) returns integer
  language sql immutable parallel safe return strpos(haystack, needle);

create table owners (
  id ${TEXT} primary key,
  name ${TEXT} not null unique
);

create table keys (
  digest ${TEXT} primary key,
  owner_id ${TEXT} not null references owners (id),
  configured integer not null,
  id ${TEXT} unique,
  label text,
  created_at_ms bigint
);

create table service_values (
  -- what all processes of the service share, such as the development key
  name ${TEXT} primary key,
  value text not null
);

create table shared_state (
  -- what a test sets through /__admin for all replicas, and how often it was changed
  only_row boolean primary key default true check (only_row),
  generation bigint not null,
  value text not null
);

create table replicas (
  -- the running processes, the generation of the shared state that each has applied, the digests of the
  -- keys with which it was started, sorted, and its options that must be the same on all, as JSON
  id ${TEXT} primary key,
  generation bigint not null,
  seen_at timestamptz not null,
  key_digests text[] collate "C" not null,
  settings text not null default '{}'
);

create table seed_documents (
  owner_id ${TEXT} primary key references owners (id),
  document text not null
);

${CREATE_RATE_LIMITS};

create sequence row_keys;

create table conversations (
  owner_id ${TEXT} not null references owners (id),
  key bigint not null default nextval('row_keys'),
  conversation_id ${TEXT} not null,
  state text not null default 'open' check (state in ('open', 'closed')),
  first_start_ns bigint not null,
  last_end_ns bigint not null,
  last_received_at_ms bigint not null,
  tag_count integer not null default 0,
  closed_at_ms bigint,
  run_key bigint,
  session_key bigint,
  received_day integer not null,
  spans_removed_at_ms bigint,
  primary key (owner_id, key),
  unique (owner_id, conversation_id)
);
create index conversations_idle on conversations (last_received_at_ms) where state = 'open';
create index conversations_open on conversations (owner_id, key) where state = 'open';
create index conversations_unscored on conversations (owner_id, closed_at_ms, key)
  where state = 'closed' and session_key is null;
create index conversations_with_spans on conversations (owner_id, received_day)
  where spans_removed_at_ms is null;

-- One partition per day, so that old spans are dropped and not deleted. All spans of a conversation
-- have its day. There is no foreign key, because dropping a partition would lock conversations.
create table spans (
  owner_id ${TEXT} not null,
  key bigint not null default nextval('row_keys'),
  conversation_key bigint not null,
  received_day integer not null,
  span_id ${TEXT} not null,
  trace_id ${TEXT} not null,
  parent_span_id ${TEXT},
  operation text not null,
  name text not null,
  start_ns bigint not null,
  end_ns bigint not null,
  failed integer not null,
  late integer not null,
  received_at_ms bigint not null,
  attributes text not null,
  input_messages text,
  output_messages text,
  primary key (owner_id, conversation_key, span_id, received_day)
) partition by range (received_day);
-- receives the spans of days that have no partition
create table spans_default partition of spans default;

-- The ids of all spans, because a unique key of a partitioned table has to contain the day.
create table span_ids (
  owner_id ${TEXT} not null,
  span_id ${TEXT} not null,
  conversation_key bigint not null,
  primary key (owner_id, span_id)
);

create table traces (
  owner_id ${TEXT} not null,
  trace_id ${TEXT} not null,
  conversation_key bigint not null,
  primary key (owner_id, trace_id)
);

-- counts links alone, so that old ones can be deleted as a range
create sequence link_keys;
create table span_links (
  owner_id ${TEXT} not null,
  key bigint not null default nextval('link_keys'),
  trace_id ${TEXT} not null,
  span_id ${TEXT} not null,
  parent_span_id ${TEXT} not null,
  primary key (owner_id, trace_id, span_id)
);
create index span_links_oldest on span_links (owner_id, key);

create table tags (
  owner_id ${TEXT} not null,
  conversation_key bigint not null,
  name ${TEXT} not null,
  -- values can be longer than an index entry, so their digest is in the key
  value ${TEXT} not null,
  value_digest text generated always as (md5(value)) stored,
  primary key (owner_id, conversation_key, name, value_digest),
  foreign key (owner_id, conversation_key) references conversations (owner_id, key) on delete cascade
);

create table runs (
  owner_id ${TEXT} not null,
  key bigint not null default nextval('row_keys'),
  name ${TEXT} not null,
  name_folded ${TEXT} not null,
  primary key (owner_id, key),
  unique (owner_id, name)
);

create table agents (
  owner_id ${TEXT} not null,
  key bigint not null default nextval('row_keys'),
  name ${TEXT} not null,
  url ${TEXT} not null,
  name_folded ${TEXT} not null,
  url_folded ${TEXT} not null,
  primary key (owner_id, key),
  unique (owner_id, name, url)
);

create table simulations (
  owner_id ${TEXT} not null,
  key bigint not null default nextval('row_keys'),
  id ${TEXT} not null,
  name ${TEXT} not null,
  name_folded ${TEXT} not null,
  deleted integer not null,
  primary key (owner_id, key),
  unique (owner_id, id)
);

create table simulation_plans (
  owner_id ${TEXT} not null,
  simulation_key bigint not null,
  seed text not null,
  request text not null,
  secret text,
  state text not null default 'running' check (state in ('running', 'ended', 'cancelled')),
  started_at_ms bigint not null,
  primary key (owner_id, simulation_key),
  foreign key (owner_id, simulation_key) references simulations (owner_id, key) on delete cascade
);
create index simulation_plans_running on simulation_plans (owner_id, simulation_key)
  where state = 'running';

create table simulation_leases (
  -- the process that runs a simulation, and its running sessions as JSON
  owner_id ${TEXT} not null,
  simulation_key bigint not null,
  token ${TEXT} not null,
  ends_at timestamptz not null,
  running text not null,
  primary key (owner_id, simulation_key),
  foreign key (owner_id, simulation_key) references simulations (owner_id, key) on delete cascade
);

create table eval_names (
  owner_id ${TEXT} not null,
  key bigint not null default nextval('row_keys'),
  eval_id ${TEXT} not null,
  name ${TEXT} not null,
  name_folded ${TEXT} not null,
  primary key (owner_id, key),
  unique (owner_id, eval_id, name)
);

create table sessions (
  owner_id ${TEXT} not null references owners (id),
  key bigint not null default nextval('row_keys'),
  id ${TEXT} not null,
  kind text not null check (kind in ('simulation', 'production')),
  status text not null,
  started_at_ms bigint not null,
  ended_at_ms bigint not null,
  run_key bigint,
  source_session_id ${TEXT},
  simulation_key bigint,
  agent_key bigint,
  scenario text,
  scenario_id ${TEXT},
  sample bigint not null default 1,
  persona text,
  end_reason text,
  metadata text,
  seed_digest text,
  simulated text,
  total integer not null default 0,
  passed integer not null default 0,
  failed integer not null default 0,
  errored integer not null default 0,
  verdict ${TEXT} not null default 'undecided',
  primary key (owner_id, key),
  unique (owner_id, id)
);
create index sessions_newest on sessions (owner_id, kind, started_at_ms desc, id) include (key);
create index sessions_scored on sessions (owner_id, kind, started_at_ms desc, id) include (key)
  where total > 0;
-- small, because entries with the same values share one; for counting
create index sessions_counted on sessions (owner_id, kind) where total > 0;
create index sessions_failed on sessions (owner_id, kind, started_at_ms desc, id) include (key)
  where failed > 0;
create index sessions_errored on sessions (owner_id, kind, started_at_ms desc, id) include (key)
  where errored > 0;
create index sessions_unfinished on sessions (owner_id, kind, started_at_ms desc, id) include (key)
  where status <> 'completed';
create index sessions_of_run on sessions (owner_id, run_key, started_at_ms desc, id)
  include (key, kind, status, total, passed, failed, errored, ended_at_ms)
  where run_key is not null;
create index sessions_of_simulation on sessions
  (owner_id, simulation_key, scenario_id, verdict, sample, id)
  include (status, total, passed, failed, errored, started_at_ms, ended_at_ms)
  where simulation_key is not null;
create index sessions_newest_of_simulation on sessions
  (owner_id, simulation_key, started_at_ms desc) where simulation_key is not null;
create index sessions_of_agent on sessions (owner_id, agent_key, started_at_ms desc, id)
  include (key, kind) where agent_key is not null;
create index sessions_of_agent_simulation on sessions
  (owner_id, agent_key, simulation_key, started_at_ms) where simulation_key is not null;

create table session_texts (
  owner_id ${TEXT} not null,
  session_key bigint not null,
  text ${TEXT} not null,
  primary key (owner_id, session_key),
  foreign key (owner_id, session_key) references sessions (owner_id, key) on delete cascade
);

create table session_tags (
  owner_id ${TEXT} not null,
  session_key bigint not null,
  name ${TEXT} not null,
  value ${TEXT} not null,
  value_digest text generated always as (md5(value)) stored,
  primary key (owner_id, session_key, name, value_digest),
  foreign key (owner_id, session_key) references sessions (owner_id, key) on delete cascade
);

create table recordings (
  owner_id ${TEXT} not null,
  session_key bigint not null,
  audio_bytes bigint not null,
  summary text not null,
  audio bytea,
  primary key (owner_id, session_key),
  foreign key (owner_id, session_key) references sessions (owner_id, key) on delete cascade
);

create table turns (
  owner_id ${TEXT} not null,
  session_key bigint not null,
  sequence bigint not null,
  user_input text not null,
  user_reason text,
  agent_response text not null,
  evaluation_metadata text,
  tool_calls text,
  latency_ms double precision,
  failed integer,
  primary key (owner_id, session_key, sequence),
  foreign key (owner_id, session_key) references sessions (owner_id, key) on delete cascade
);

create table outcomes (
  owner_id ${TEXT} not null,
  session_key bigint not null,
  eval_id ${TEXT} not null,
  position integer not null,
  eval_name_key bigint not null,
  category text not null,
  type text not null,
  outcome ${TEXT} not null check (outcome in ('pass', 'fail', 'error')),
  required integer not null default 1,
  reasoning text not null,
  evidence text,
  at_ms bigint,
  run_key bigint,
  simulation_key bigint,
  kind text not null,
  started_at_ms bigint not null,
  session_failed integer not null,
  primary key (owner_id, session_key, eval_id),
  foreign key (owner_id, session_key) references sessions (owner_id, key) on delete cascade
);
create index outcomes_by_name on outcomes
  (owner_id, eval_name_key, kind, started_at_ms desc, session_key desc)
  include (outcome)
  where outcome <> 'error';
create index outcomes_of_failed on outcomes
  (owner_id, eval_name_key, kind, started_at_ms desc, session_key desc)
  where session_failed > 0 and outcome <> 'error';
create index outcomes_of_run on outcomes (owner_id, run_key, eval_name_key, outcome)
  include (session_key, started_at_ms)
  where run_key is not null;
create index outcomes_of_simulation on outcomes (owner_id, simulation_key, eval_name_key, outcome)
  where simulation_key is not null;

create table jobs (
  owner_id ${TEXT} not null,
  id bigint not null default nextval('row_keys'),
  session_key bigint not null,
  eval_id ${TEXT} not null,
  position integer not null,
  definition text not null,
  state text not null default 'queued' check (state in ('queued', 'taken', 'done')),
  attempts integer not null default 0,
  worker text,
  due_at_ms bigint not null,
  primary key (owner_id, id),
  unique (owner_id, session_key, eval_id),
  foreign key (owner_id, session_key) references sessions (owner_id, key) on delete cascade
);
create index jobs_due on jobs (due_at_ms, id) where state <> 'done';

create table evals (
  owner_id ${TEXT} not null references owners (id),
  key bigint not null default nextval('row_keys'),
  id ${TEXT} not null,
  definition text not null,
  primary key (owner_id, id)
);

create table documents (
  owner_id ${TEXT} not null references owners (id),
  key bigint not null default nextval('row_keys'),
  kind text not null check (kind in ('agent', 'persona', 'scenario')),
  id ${TEXT} not null,
  document text not null,
  secret text,
  primary key (owner_id, kind, id)
);

create table agent_reports (
  owner_id ${TEXT} not null references owners (id),
  key bigint not null default nextval('row_keys'),
  agent_id ${TEXT} not null,
  kind text not null check (kind in ('connection', 'check', 'load')),
  at_ms bigint not null,
  summary text not null,
  report text not null,
  primary key (owner_id, key)
);
create index agent_reports_newest on agent_reports (owner_id, agent_id, kind, key desc);

create table settings (
  owner_id ${TEXT} primary key references owners (id),
  evals text not null,
  run_name text not null
);

create table ingest_log (
  owner_id ${TEXT} not null references owners (id),
  number bigint not null default nextval('row_keys'),
  at_ms bigint not null,
  level text not null,
  code text not null,
  message text not null,
  about text not null,
  primary key (owner_id, number)
);
`;
