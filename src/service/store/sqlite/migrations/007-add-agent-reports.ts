/** Adds what is known about an agent: connection checks, and attached reports. */
export const ADD_AGENT_REPORTS = `
create table agent_reports (
  -- the newest reports of each kind about an agent; ids are never reused, so links stay right
  key integer primary key autoincrement,
  owner_id text not null references owners (id),
  -- id of the agent in documents
  agent_id text not null,
  kind text not null check (kind in ('connection', 'check', 'load')),
  -- when it was attached
  at_ms integer not null,
  -- JSON object: verdict, counts, and version, so that lists need not read the report
  summary text not null,
  -- JSON: the whole report as attached
  report text not null
) strict;
create index agent_reports_newest on agent_reports (owner_id, agent_id, kind, key desc);

create index sessions_of_agent_simulation on sessions (agent_key, simulation_key, started_at_ms)
  where simulation_key is not null;
`;
