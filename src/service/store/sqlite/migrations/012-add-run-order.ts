/** Adds the order of simulations by their newest session. Runs have such an index already. */
export const ADD_RUN_ORDER = `
create index sessions_newest_of_simulation on sessions (simulation_key, started_at_ms desc)
  where simulation_key is not null;
`;
