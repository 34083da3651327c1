/**
 * Agents are known by their ids, because simulations that were found by the name of their agent were lost
 * when it was renamed. SQLite can't change the keys of a table.
 */
export const addAgentIds = {
  sqlite: `
create table identified_agents (
  key integer primary key,
  owner_id text not null,
  name text not null,
  url text not null,
  name_folded text not null,
  url_folded text not null,
  agent_id text not null,
  unique (owner_id, name, url, agent_id)
) strict;
insert into identified_agents
  select key, owner_id, name, url, name_folded, url_folded, coalesce((
    select id from documents
    where documents.owner_id = agents.owner_id and kind = 'agent'
      and json_extract(document, '$.name') = agents.name
    order by json_extract(document, '$.url') = agents.url desc, id limit 1
  ), '')
  from agents;
drop table agents;
alter table identified_agents rename to agents;
create index agents_stored on agents (owner_id, agent_id, url);
alter table simulation_plans add column agent_id text;
update simulation_plans set agent_id = (
  select id from documents
  where documents.owner_id = simulation_plans.owner_id and kind = 'agent'
    and json_extract(document, '$.name') = json_extract(request, '$.agent.name')
  order by json_extract(document, '$.url') = json_extract(request, '$.agent.url') desc, id limit 1
);`,
  postgres: `
alter table agents add column agent_id text collate "C" not null default '';
update agents set agent_id = coalesce((
  select id from documents
  where documents.owner_id = agents.owner_id and kind = 'agent'
    and document::json ->> 'name' = agents.name
  order by (document::json ->> 'url' = agents.url) desc, id limit 1
), '');
alter table agents alter column agent_id drop default;
alter table agents drop constraint agents_owner_id_name_url_key;
alter table agents add unique (owner_id, name, url, agent_id);
create index agents_stored on agents (owner_id, agent_id, url);
alter table simulation_plans add column agent_id text collate "C";
update simulation_plans set agent_id = (
  select id from documents
  where documents.owner_id = simulation_plans.owner_id and kind = 'agent'
    and document::json ->> 'name' = request::json #>> '{agent,name}'
  order by (document::json ->> 'url' = request::json #>> '{agent,url}') desc, id limit 1
);`,
};
