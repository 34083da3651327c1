/**
 * Adds the ids of evals to their names, so that outcomes of evals that share a name are counted apart
 * from the same index.
 */
export const ADD_EVAL_IDS = `
create table evals_of_outcomes (
  -- all distinct evals of outcomes, once for each name they had, so that a search reads few rows
  key integer primary key,
  owner_id text not null,
  -- the name if the outcome was seeded without an id
  eval_id text not null,
  name text not null,
  name_folded text not null,
  unique (owner_id, eval_id, name)
) strict;
insert into evals_of_outcomes
  select eval_names.key, owner_id, coalesce(eval_id, name), name, name_folded
  from eval_names left join
    (select eval_name_key, min(eval_id) as eval_id from outcomes group by eval_name_key) as used
    on used.eval_name_key = eval_names.key;
insert into evals_of_outcomes (owner_id, eval_id, name, name_folded)
  select distinct named.owner_id, outcomes.eval_id, named.name, named.name_folded
  from outcomes join evals_of_outcomes as named on named.key = outcomes.eval_name_key
  where outcomes.eval_id <> named.eval_id;
update outcomes set eval_name_key = (
    select own.key from evals_of_outcomes as named
    join evals_of_outcomes as own on own.owner_id = named.owner_id and own.name = named.name
    where named.key = outcomes.eval_name_key and own.eval_id = outcomes.eval_id
  )
  where eval_id <> (select named.eval_id from evals_of_outcomes as named where named.key = eval_name_key);
drop table eval_names;
alter table evals_of_outcomes rename to eval_names;
`;
