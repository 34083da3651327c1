import type { Reader } from './connections.ts';

/** Which simulations to find. */
export interface AgentsQuery {
  ownerId: string;
  agentIds: readonly string[];
  limitPerAgent: number;
}

/** Returns the newest simulations of each agent, by their newest session, with the URL they tested. */
export async function findSimulationsOfAgents(
  db: Reader,
  { ownerId, agentIds, limitPerAgent }: AgentsQuery,
) {
  if (agentIds.length === 0) return [];
  const newest = db
    .selectFrom('agents')
    .innerJoin('sessions', 'sessions.agent_key', 'agents.key')
    .innerJoin('simulations', 'simulations.key', 'sessions.simulation_key')
    .where('agents.owner_id', '=', ownerId)
    .where('agents.agent_id', 'in', agentIds)
    .where('sessions.simulation_key', 'is not', null)
    .where('simulations.deleted', '=', 0)
    .groupBy(['agents.agent_id', 'simulations.key', 'simulations.id', 'simulations.name'])
    .select(({ fn }) => fn.max('agents.url').as('agentUrl'))
    .select(['agents.agent_id as agentId', 'simulations.key', 'simulations.id', 'simulations.name'])
    .select(({ fn }) => fn.max('sessions.started_at_ms').as('startedAtMs'));
  const ranked = db
    .selectFrom(newest.as('newest'))
    .selectAll()
    .select(({ fn }) =>
      fn
        .agg<number>('row_number')
        .over((over) =>
          over.partitionBy('agentId').orderBy('startedAtMs', 'desc').orderBy('key', 'desc'),
        )
        .as('place'),
    );
  return db
    .selectFrom(ranked.as('ranked'))
    .select(['agentId', 'agentUrl', 'key', 'id', 'name'])
    .where('place', '<=', limitPerAgent)
    .orderBy('place')
    .execute();
}
