/**
 * Lists count their matches in advance. Sessions that exist are counted later, in small
 * transactions (see `eval_set_key`).
 */
export const addSessionCounts = {
  sqlite: `
create table eval_sets (
  key integer primary key,
  owner_id text not null,
  digest text not null,
  unique (owner_id, digest)
) strict;
create table eval_set_members (
  eval_set_key integer not null references eval_sets (key) on delete cascade,
  eval_name_key integer not null,
  primary key (eval_set_key, eval_name_key)
) strict, without rowid;
create index eval_sets_of_name on eval_set_members (eval_name_key, eval_set_key);
create table session_counts (
  key integer primary key,
  owner_id text not null,
  kind text not null,
  run_key integer not null,
  simulation_key integer not null,
  agent_key integer not null,
  eval_set_key integer not null,
  day integer not null,
  sessions integer not null,
  scored integer not null,
  failed integer not null,
  errored integer not null,
  unfinished integer not null,
  evaluating integer not null,
  evaluations integer not null,
  passed_evaluations integer not null,
  unique (owner_id, kind, run_key, simulation_key, agent_key, eval_set_key, day)
) strict;
alter table sessions add column eval_set_key integer;
drop index sessions_scored;
create index sessions_scored
  on sessions (owner_id, kind, started_at_ms desc, id, total, eval_set_key) where total > 0;
drop index sessions_failed;
create index sessions_failed
  on sessions (owner_id, kind, started_at_ms desc, id, failed, eval_set_key) where failed > 0;
create index sessions_uncounted
  on sessions (owner_id, kind, started_at_ms desc, id) where eval_set_key is null;
drop index sessions_of_run;
create index sessions_of_run on sessions (
  run_key, started_at_ms desc, id,
  kind, status, total, passed, failed, errored, ended_at_ms, eval_set_key
) where run_key is not null;
`,
  postgres: `
create table eval_sets (
  key bigint not null default nextval('row_keys'),
  owner_id text collate "C" not null,
  digest text collate "C" not null,
  primary key (owner_id, key),
  unique (owner_id, digest)
);
create table eval_set_members (
  owner_id text collate "C" not null,
  eval_set_key bigint not null,
  eval_name_key bigint not null,
  primary key (owner_id, eval_set_key, eval_name_key),
  foreign key (owner_id, eval_set_key) references eval_sets (owner_id, key) on delete cascade
);
create index eval_sets_of_name on eval_set_members (owner_id, eval_name_key, eval_set_key);
create table session_counts (
  key bigint not null default nextval('row_keys'),
  owner_id text collate "C" not null,
  kind text collate "C" not null,
  run_key bigint not null,
  simulation_key bigint not null,
  agent_key bigint not null,
  eval_set_key bigint not null,
  day integer not null,
  sessions integer not null,
  scored integer not null,
  failed integer not null,
  errored integer not null,
  unfinished integer not null,
  evaluating integer not null,
  evaluations integer not null,
  passed_evaluations integer not null,
  primary key (owner_id, key)
);
create index session_counts_of on session_counts
  (owner_id, kind, run_key, simulation_key, agent_key, eval_set_key, day);
alter table sessions add column eval_set_key bigint;
drop index sessions_counted;
drop index sessions_scored;
create index sessions_scored on sessions (owner_id, kind, started_at_ms desc, id)
  include (key, eval_set_key) where total > 0;
drop index sessions_failed;
create index sessions_failed on sessions (owner_id, kind, started_at_ms desc, id)
  include (key, eval_set_key) where failed > 0;
create index sessions_uncounted on sessions (owner_id, kind, started_at_ms desc, id)
  where eval_set_key is null;
drop index sessions_of_run;
create index sessions_of_run on sessions (owner_id, run_key, started_at_ms desc, id)
  include (key, kind, status, total, passed, failed, errored, ended_at_ms, eval_set_key)
  where run_key is not null;
`,
};
