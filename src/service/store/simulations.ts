import type { EvalDefinition, Persona, Scenario } from '../../contract/index.ts';
import type { Connections, WriteTransaction } from './connect.ts';
import { findOrInsertSimulation } from './names.ts';
import { findSessions } from './session-queries.ts';
import { addSession } from './sessions.ts';
import type { NewSession, Session } from './store.ts';

/** What a run of simulated users is made of, as it was when it was asked for. */
export interface StoredSimulationRequest {
  agent: { name: string; url: string; voice_url?: string };
  /** Instead of what the scenarios say. */
  channel?: 'chat' | 'voice';
  /** Sessions of each scenario; as each says when left out. */
  samples?: number;
  /** Sessions at a time. */
  concurrency: number;
  scenarios: { scenario: Scenario; persona: Persona; evals: EvalDefinition[] }[];
}

/** A run of simulated users. */
export interface SimulationPlan extends StoredSimulationRequest {
  id: string;
  ownerId: string;
  name: string;
  deleted: boolean;
  seed: string;
  /** How many runs with that seed the owner had before. */
  repeat: number;
  /** running until every session has ended. */
  state: 'running' | 'ended' | 'cancelled';
  startedAtMs: number;
}

/** A run to be kept. */
export interface NewSimulation extends StoredSimulationRequest {
  ownerId: string;
  name: string;
  seed: string;
  startedAtMs: number;
  /** The key of the agent's sandbox. */
  secret: string | undefined;
  /** The id of the run that has so many before it with the same seed. */
  idOf: (repeat: number) => string;
}

export interface SimulationStore {
  /** Keeps a run; its id. */
  add(simulation: NewSimulation): Promise<string>;
  find(ownerId: string, id: string): Promise<SimulationPlan | undefined>;
  findState(ownerId: string, id: string): Promise<SimulationPlan['state'] | undefined>;
  /** Newest first. */
  list(ownerId: string, limit: number): Promise<SimulationPlan[]>;
  /** Those of all owners that have sessions left, oldest first. */
  listRunning(): Promise<SimulationPlan[]>;
  /** The key of the agent's sandbox. For who calls it alone. */
  findApiKey(ownerId: string, id: string): Promise<string | undefined>;
  /** The sessions that have ended, in no order. */
  listSessions(ownerId: string, id: string): Promise<Session[]>;
  /**
   * Keeps a session that has ended, once, with its jobs, in one transaction. False when it is kept
   * already, or its run is gone: nothing is changed then.
   */
  addSession(session: NewSession): Promise<boolean>;
  /** Ends a run, and forgets the key. False when it was not running. */
  end(ownerId: string, id: string, how: 'ended' | 'cancelled'): Promise<boolean>;
}

/** Runs of simulated users. */
export function simulationStore({ reader, write }: Connections): SimulationStore {
  const plans = () =>
    reader
      .selectFrom('simulation_plans')
      .innerJoin('simulations', 'simulations.key', 'simulation_plans.simulation_key')
      .select(['simulations.id', 'simulations.name', 'deleted', 'simulation_plans.owner_id'])
      .select(['simulation_key', 'seed', 'request', 'state', 'started_at_ms']);
  const withRepeat = async (rows: PlanRow[]): Promise<SimulationPlan[]> =>
    Promise.all(rows.map(async (row) => toPlan(row, await repeatsBefore(reader, row))));
  return {
    add: (simulation) => write((db) => add(db, simulation)),
    async find(ownerId, id) {
      const query = plans().where('simulations.owner_id', '=', ownerId);
      const rows = await query.where('simulations.id', '=', id).execute();
      return (await withRepeat(rows))[0];
    },
    async findState(ownerId, id) {
      const row = await simulationRow(reader, ownerId, id);
      const query = reader.selectFrom('simulation_plans').select('state');
      return (await query.where('simulation_key', '=', row?.key ?? -1).executeTakeFirst())?.state;
    },
    async list(ownerId, limit) {
      const query = plans().where('simulations.owner_id', '=', ownerId);
      return withRepeat(await query.orderBy('simulation_key', 'desc').limit(limit).execute());
    },
    async listRunning() {
      const query = plans().where('state', '=', 'running');
      return withRepeat(await query.orderBy('simulation_key').execute());
    },
    async findApiKey(ownerId, id) {
      const row = await reader
        .selectFrom('simulation_plans')
        .innerJoin('simulations', 'simulations.key', 'simulation_plans.simulation_key')
        .select('secret')
        .where('simulations.owner_id', '=', ownerId)
        .where('simulations.id', '=', id)
        .executeTakeFirst();
      return row?.secret ?? undefined;
    },
    listSessions: (ownerId, id) =>
      reader.transaction().execute(async (db) => {
        const row = await simulationRow(db, ownerId, id);
        if (!row) return [];
        return findSessions(db, (query) => query.where('sessions.simulation_key', '=', row.key));
      }),
    addSession: (session) => write((db) => keep(db, session)),
    end: (ownerId, id, how) =>
      write(async (db) => {
        const row = await simulationRow(db, ownerId, id);
        const { numUpdatedRows } = await db
          .updateTable('simulation_plans')
          .set({ state: how, secret: null })
          .where('simulation_key', '=', row?.key ?? -1)
          .where('state', '=', 'running')
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
  };
}

interface PlanRow {
  id: string;
  name: string;
  deleted: number;
  owner_id: string;
  simulation_key: number;
  seed: string;
  request: string;
  state: SimulationPlan['state'];
  started_at_ms: number;
}

/** The `request` column. Its key `castings` is fixed: existing files contain it. */
type RequestJson = Omit<StoredSimulationRequest, 'scenarios'> & {
  castings: StoredSimulationRequest['scenarios'];
};

function toPlan(row: PlanRow, repeat: number): SimulationPlan {
  const { castings: scenarios, ...request } = JSON.parse(row.request) as RequestJson;
  return {
    ...request,
    scenarios,
    id: row.id,
    ownerId: row.owner_id,
    name: row.name,
    deleted: row.deleted === 1,
    seed: row.seed,
    repeat,
    state: row.state,
    startedAtMs: row.started_at_ms,
  };
}

/** Runs are never removed one by one, so that the count stays what it was when the run was added. */
async function repeatsBefore(
  db: Connections['reader'],
  { owner_id: ownerId, seed, simulation_key: key }: Omit<PlanRow, 'id' | 'name'>,
): Promise<number> {
  const { count } = await db
    .selectFrom('simulation_plans')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('owner_id', '=', ownerId)
    .where('seed', '=', seed)
    .where('simulation_key', '<', key)
    .executeTakeFirstOrThrow();
  return count;
}

async function add(db: WriteTransaction, simulation: NewSimulation): Promise<string> {
  const { ownerId, name, seed, startedAtMs, secret, idOf, scenarios, ...rest } = simulation;
  const request: RequestJson = { ...rest, castings: scenarios };
  const { count } = await db
    .selectFrom('simulation_plans')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('owner_id', '=', ownerId)
    .where('seed', '=', seed)
    .executeTakeFirstOrThrow();
  const id = idOf(count);
  const key = await findOrInsertSimulation(db, ownerId, { id, name, deleted: false });
  await db
    .insertInto('simulation_plans')
    .values({
      simulation_key: key,
      owner_id: ownerId,
      seed,
      request: JSON.stringify(request),
      secret: secret ?? null,
      started_at_ms: startedAtMs,
    })
    .execute();
  return id;
}

async function keep(db: WriteTransaction, session: NewSession): Promise<boolean> {
  const { ownerId, id, simulation } = session;
  const run = simulation && (await simulationRow(db, ownerId, simulation.id));
  const plan = await db
    .selectFrom('simulation_plans')
    .select('state')
    .where('simulation_key', '=', run?.key ?? -1)
    .executeTakeFirst();
  const kept = await db
    .selectFrom('sessions')
    .select('key')
    .where('owner_id', '=', ownerId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!plan || kept) return false;
  await addSession(db, session, { isNew: true });
  return true;
}

function simulationRow(
  db: Connections['reader'],
  ownerId: string,
  id: string,
): Promise<{ key: number } | undefined> {
  return db
    .selectFrom('simulations')
    .select('key')
    .where('owner_id', '=', ownerId)
    .where('id', '=', id)
    .executeTakeFirst();
}
