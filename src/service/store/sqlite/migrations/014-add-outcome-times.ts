/** Lets the sessions of an eval be counted, and checked one by one, from one index. */
export const ADD_OUTCOME_TIMES = `
-- copies from the session
alter table outcomes add column kind text not null default 'production';
alter table outcomes add column started_at_ms integer not null default 0;
update outcomes set (kind, started_at_ms) =
  (select kind, started_at_ms from sessions where key = session_key);
drop index outcomes_by_name;
create index outcomes_by_name on outcomes
  (eval_name_key, kind, started_at_ms desc, session_key desc, outcome) where outcome <> 'error';
`;
