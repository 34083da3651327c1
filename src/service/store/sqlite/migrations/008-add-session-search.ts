/**
 * Adds the searched text and tags of sessions, indexes for the lists of sessions and conversations,
 * and the evidence of outcomes. Sessions of live traces that were scored before have no text.
 */
export const ADD_SESSION_SEARCH = `
-- JSON array or null: the places in the transcript that decided the outcome
alter table outcomes add column evidence text;

-- number of outcomes that errored
alter table sessions add column errored integer not null default 0;
update sessions set errored = (
  select count(*) from outcomes where session_key = sessions.key and outcome = 'error'
);
create index sessions_errored on sessions (owner_id, kind, started_at_ms desc, id)
  where errored > 0;
create index sessions_unfinished on sessions (owner_id, kind, started_at_ms desc, id)
  where status <> 'completed';
create index conversations_open on conversations (owner_id, key) where state = 'open';

create table session_texts (
  -- the lines of the user and the agent as normalizeForSearch returns them, cut if they are long
  session_key integer primary key references sessions (key) on delete cascade,
  text text not null
) strict;
insert into session_texts
  select session_key, substr(lower(group_concat(user_input || char(10) || agent_response, char(10))), 1, 20000)
  from (select * from turns order by session_key, sequence) group by session_key;

create table session_tags (
  -- the metadata of sessions without a live conversation, as text; values with parts are left out
  session_key integer not null references sessions (key) on delete cascade,
  name text not null,
  value text not null,
  primary key (session_key, name, value)
) strict, without rowid;
insert or ignore into session_tags
  select sessions.key, entry.key, case when entry.type in ('true', 'false') then entry.type else cast(entry.value as text) end
  from sessions, json_each(sessions.metadata) as entry
  where entry.type in ('text', 'integer', 'real', 'true', 'false');
`;
