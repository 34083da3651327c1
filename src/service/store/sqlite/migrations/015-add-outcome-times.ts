/**
 * Lets the sessions of an eval be counted, and checked one by one, from one index, and adds the columns
 * of conditions to indexes: SQLite reads the row to check a condition that a partial index implies.
 */
export const ADD_OUTCOME_TIMES = `
-- copies from the session, except that session_failed is only 1 or 0
alter table outcomes add column kind text not null default 'production';
alter table outcomes add column started_at_ms integer not null default 0;
alter table outcomes add column session_failed integer not null default 0;
update outcomes set (kind, started_at_ms, session_failed) =
  (select kind, started_at_ms, failed > 0 from sessions where key = session_key);

drop index outcomes_by_name;
create index outcomes_by_name on outcomes
  (eval_name_key, kind, started_at_ms desc, session_key desc, outcome) where outcome <> 'error';
create index outcomes_of_failed on outcomes
  (eval_name_key, kind, started_at_ms desc, session_key desc, session_failed, outcome)
  where session_failed > 0 and outcome <> 'error';
drop index outcomes_of_run;
create index outcomes_of_run on outcomes
  (run_key, eval_name_key, outcome, session_key, started_at_ms) where run_key is not null;

drop index sessions_scored;
create index sessions_scored on sessions (owner_id, kind, started_at_ms desc, id, total)
  where total > 0;
drop index sessions_failed;
create index sessions_failed on sessions (owner_id, kind, started_at_ms desc, id, failed)
  where failed > 0;
drop index sessions_of_run;
create index sessions_of_run on sessions
  (run_key, started_at_ms desc, id, kind, status, total, passed, failed, errored, ended_at_ms)
  where run_key is not null;
`;
