/** Runs of simulated users, and what is known of a simulated turn and of how a session was held. */
export const simulatedSessions = `
-- JSON array of tool calls, or null
alter table turns add column tool_calls text;
-- from the user's word to the end of the answer; null when nobody measured it
alter table turns add column latency_ms real;
-- 1: no answer came, or none that could be used; null when nobody knows
alter table turns add column failed integer;

-- JSON object, or null: how a simulated user held the session
alter table sessions add column simulated text;

create table simulation_plans (
  -- a run as it was asked for; a session of it has ended when its row is there
  simulation_key integer primary key references simulations (key) on delete cascade,
  owner_id text not null,
  seed text not null,
  -- JSON: agent, samples, concurrency, and the scenarios with personas and evals as they were
  request text not null,
  -- the key of the agent's sandbox, as it is: it has to be sent; null once the run has ended
  secret text,
  state text not null default 'running' check (state in ('running', 'ended', 'cancelled')),
  started_at_ms integer not null
) strict;
create index simulation_plans_running on simulation_plans (simulation_key)
  where state = 'running';
create index sessions_of_simulation on sessions (simulation_key) where simulation_key is not null;
`;
