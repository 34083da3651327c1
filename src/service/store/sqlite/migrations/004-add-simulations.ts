/** Adds simulations, and what is known about simulated sessions and turns. */
export const ADD_SIMULATIONS = `
-- JSON array of tool calls, or null
alter table turns add column tool_calls text;
-- from the end of the user's input to the end of the response; null if it was not measured
alter table turns add column latency_ms real;
-- 1: no usable response; null if unknown
alter table turns add column failed integer;

-- JSON object or null: details of a simulated session
alter table sessions add column simulated text;

create table simulation_plans (
  -- the request of a simulation; its finished sessions are rows of sessions
  simulation_key integer primary key references simulations (key) on delete cascade,
  owner_id text not null,
  seed text not null,
  -- JSON: agent, samples, concurrency, and copies of the scenarios with their personas and evals
  request text not null,
  -- API key of the agent's sandbox in plain text, because it has to be sent; null after the end
  secret text,
  state text not null default 'running' check (state in ('running', 'ended', 'cancelled')),
  started_at_ms integer not null
) strict;
create index simulation_plans_running on simulation_plans (simulation_key)
  where state = 'running';
create index sessions_of_simulation on sessions (simulation_key) where simulation_key is not null;
`;
