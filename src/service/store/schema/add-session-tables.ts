/** The pages that forms lead to are stored, and what the spans of a live conversation say about its session. */
export const addSessionTables = {
  sqlite: `
create table form_results (
  key integer primary key,
  owner_id text not null references owners (id),
  id text not null,
  expires_at_ms integer not null,
  bytes integer not null,
  content blob not null,
  unique (owner_id, id)
) strict;
create table traced_sessions (
  session_key integer not null references sessions (key) on delete cascade,
  agent text,
  channel text,
  turns integer not null,
  response_ms text not null,
  primary key (session_key)
) strict;`,
  postgres: `
create table form_results (
  owner_id text collate "C" not null references owners (id),
  key bigint not null default nextval('row_keys'),
  id text collate "C" not null,
  expires_at_ms bigint not null,
  bytes bigint not null,
  content bytea not null,
  primary key (owner_id, id)
);
create table traced_sessions (
  owner_id text collate "C" not null,
  session_key bigint not null,
  agent text,
  channel text,
  turns integer not null,
  response_ms text not null,
  primary key (owner_id, session_key),
  foreign key (owner_id, session_key) references sessions (owner_id, key) on delete cascade
);`,
};
