import { sql } from 'kysely';
import type { Connections } from './connect.ts';
import type { OverviewStore, RunSummary, SessionCounts, SessionKind } from './store.ts';

/** Creates the store of the counts that the pages show. The interface has no endpoint for them. */
export function createOverviewStore({ reader }: Connections): OverviewStore {
  return {
    async count(ownerId) {
      const conversations = reader
        .selectFrom('conversations')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('owner_id', '=', ownerId);
      const [open, unscored, evaluating, production, simulation] = await Promise.all([
        conversations.where('state', '=', sql.lit('open')).executeTakeFirstOrThrow(),
        conversations
          .where('state', '=', sql.lit('closed'))
          .where('session_key', 'is', null)
          .executeTakeFirstOrThrow(),
        reader
          .selectFrom('jobs')
          .select(({ fn }) => fn.count<number>('session_key').distinct().as('count'))
          .where('state', '<>', sql.lit('done'))
          .where('owner_id', '=', ownerId)
          .executeTakeFirstOrThrow(),
        countSessions(reader, ownerId, 'production'),
        countSessions(reader, ownerId, 'simulation'),
      ]);
      return {
        ...{ openConversations: open.count, unscoredConversations: unscored.count },
        ...{ evaluatingSessions: evaluating.count, production, simulation },
      };
    },
    async listRuns(ownerId, { skip, limit }) {
      const runs = reader.selectFrom('runs').where('owner_id', '=', ownerId);
      const { total } = await runs
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow();
      const rows = await runs
        .select(['key', 'name'])
        .orderBy('key', 'desc')
        .limit(limit)
        .offset(skip)
        .execute();
      const items = rows.map(({ key, name }) => ({ key, id: String(key), name }));
      return { runs: await addSums(reader, 'run_key', items), total };
    },
    async listSimulations(ownerId, { skip, limit }) {
      const simulations = reader
        .selectFrom('simulations')
        .where('owner_id', '=', ownerId)
        .where('deleted', '=', 0);
      const { total } = await simulations
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow();
      const rows = await simulations
        .select(['key', 'id', 'name'])
        .orderBy('key', 'desc')
        .limit(limit)
        .offset(skip)
        .execute();
      return { runs: await addSums(reader, 'simulation_key', rows), total };
    },
    listSimulationsOfAgents: (ownerId, agentNames, limitPerAgent) =>
      reader
        .transaction()
        .execute((db) => listSimulationsOfAgents(db, { ownerId, agentNames, limitPerAgent })),
  };
}

async function listSimulationsOfAgents(
  db: Connections['reader'],
  query: AgentsQuery,
): Promise<Map<string, RunSummary[]>> {
  const rows = await findSimulationsOfAgents(db, query);
  const runs = await addSums(db, 'simulation_key', rows);
  const runById = new Map(runs.map((run) => [run.id, run]));
  return new Map(
    [...Map.groupBy(rows, ({ agent }) => agent)].map(([agent, ofAgent]) => [
      agent,
      ofAgent.flatMap(({ id }) => runById.get(id) ?? []),
    ]),
  );
}

interface AgentsQuery {
  ownerId: string;
  agentNames: readonly string[];
  limitPerAgent: number;
}

/** Returns the newest simulations of each agent, by their newest session. */
async function findSimulationsOfAgents(
  db: Connections['reader'],
  { ownerId, agentNames, limitPerAgent }: AgentsQuery,
) {
  if (agentNames.length === 0) return [];
  const newest = db
    .selectFrom('agents')
    .innerJoin('sessions', 'sessions.agent_key', 'agents.key')
    .innerJoin('simulations', 'simulations.key', 'sessions.simulation_key')
    .where('agents.owner_id', '=', ownerId)
    .where('agents.name', 'in', agentNames)
    .where('sessions.simulation_key', 'is not', null)
    .where('simulations.deleted', '=', 0)
    .groupBy(['agents.name', 'simulations.key', 'simulations.id', 'simulations.name'])
    .select(['agents.name as agent', 'simulations.key', 'simulations.id', 'simulations.name'])
    .select(({ fn }) => fn.max('sessions.started_at_ms').as('startedAtMs'));
  const ranked = db
    .selectFrom(newest.as('newest'))
    .selectAll()
    .select(({ fn }) =>
      fn
        .agg<number>('row_number')
        .over((over) =>
          over.partitionBy('agent').orderBy('startedAtMs', 'desc').orderBy('key', 'desc'),
        )
        .as('place'),
    );
  return db
    .selectFrom(ranked.as('ranked'))
    .select(['agent', 'key', 'id', 'name'])
    .where('place', '<=', limitPerAgent)
    .orderBy('place')
    .execute();
}

/** Adds the sums of their sessions to runs or simulations. */
async function addSums(
  reader: Connections['reader'],
  column: 'run_key' | 'simulation_key',
  items: readonly { key: number; id: string; name: string }[],
): Promise<RunSummary[]> {
  if (items.length === 0) return [];
  const rows = await reader
    .selectFrom('sessions')
    .select(({ fn }) => [
      `${column} as key` as const,
      fn.countAll<number>().as('sessions'),
      sql<number>`sum(failed > 0)`.as('failedSessions'),
      fn.sum<number>('total').as('evaluations'),
      fn.sum<number>('passed').as('passedEvaluations'),
      fn.max('started_at_ms').as('newestStartMs'),
    ])
    .where(
      column,
      'in',
      items.map(({ key }) => key),
    )
    // Production omits sessions without results (spec 4.4). SQLite uses the partial index of runs only
    // if the query repeats its condition.
    .$if(column === 'run_key', (query) => query.where('total', '>', sql.lit(0)))
    .groupBy(column)
    .execute();
  const byKey = new Map(rows.map(({ key, ...sums }) => [key, sums]));
  const none = { sessions: 0, failedSessions: 0, evaluations: 0, passedEvaluations: 0 };
  return items.map(({ key, id, name }) => ({ id, name, ...(byKey.get(key) ?? none) }));
}

/** Counts the sessions of one kind. */
async function countSessions(
  reader: Connections['reader'],
  ownerId: string,
  kind: SessionKind,
): Promise<SessionCounts> {
  const count = reader
    .selectFrom('sessions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('owner_id', '=', ownerId)
    .where('kind', '=', kind);
  const [all, failed] = await Promise.all([
    count.executeTakeFirstOrThrow(),
    count.where('failed', '>', sql.lit(0)).executeTakeFirstOrThrow(),
  ]);
  return { total: all.count, failed: failed.count };
}
