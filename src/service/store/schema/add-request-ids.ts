/** The store knows the page that started a simulation, so that a second click starts none on any replica. */
const statements = (type: string): string => `
alter table simulation_plans add column request_id ${type};
create index simulation_plans_requested on simulation_plans (owner_id, request_id)
  where request_id is not null;`;

export const addRequestIds = {
  sqlite: statements('text'),
  postgres: statements('text collate "C"'),
};
