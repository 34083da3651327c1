/**
 * Adds what the pages of runs count, so that a run of 100,000 sessions is counted from indexes alone.
 * The verdicts of older sessions are computed here once, by the rule of `decideVerdict`.
 */
export const ADD_RUN_RESULTS = `
-- passed, failed, or undecided
alter table sessions add column verdict text not null default 'undecided';
-- simulation only: id of the scenario (its name if the session was seeded), and number within it
alter table sessions add column scenario_id text;
alter table sessions add column sample integer not null default 1;

-- copies from the session, so that outcomes are counted without it
alter table outcomes add column run_key integer;
alter table outcomes add column simulation_key integer;

-- of older simulations: matches regardless of case only in ASCII
alter table simulations add column name_folded text not null default '';
update simulations set name_folded = lower(name);

update sessions set
  verdict = case
    when exists (select 1 from outcomes
      where session_key = key and required = 1 and outcome = 'fail') then 'failed'
    when status <> 'completed' then 'undecided'
    when exists (select 1 from outcomes
      where session_key = key and required = 1 and outcome <> 'pass') then 'undecided'
    when exists (select 1 from outcomes
      where session_key = key and outcome = 'pass') then 'passed'
    else 'undecided'
  end,
  scenario_id = case when kind = 'simulation'
    then coalesce(json_extract(simulated, '$.scenario_id'), scenario) end,
  sample = coalesce(json_extract(simulated, '$.sample'), 1);
update outcomes set (run_key, simulation_key) =
  (select run_key, simulation_key from sessions where key = session_key);

-- these replace the indexes of the same sessions: they also have all columns to count
drop index sessions_of_run;
create index sessions_of_run on sessions
  (run_key, started_at_ms desc, id, status, total, passed, failed, errored, ended_at_ms)
  where run_key is not null;
drop index sessions_of_simulation;
create index sessions_of_simulation on sessions
  (simulation_key, scenario_id, verdict, sample, id, status, total, passed, failed, errored,
  started_at_ms, ended_at_ms)
  where simulation_key is not null;
create index outcomes_of_run on outcomes (run_key, eval_name_key, outcome)
  where run_key is not null;
create index outcomes_of_simulation on outcomes (simulation_key, eval_name_key, outcome)
  where simulation_key is not null;
`;
