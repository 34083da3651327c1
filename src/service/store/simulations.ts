import type { EvalDefinition, Persona, Scenario } from '../../contract/index.ts';
import type { Selectable } from 'kysely';
import { addSession } from './add-sessions.ts';
import type { Connections, Reader, WriteTransaction } from './connections.ts';
import type { StoredAgent } from './documents.ts';
import { findOrInsertSimulation } from './names.ts';
import { findSessions } from './session-rows.ts';
import type { NewSession, Session } from './records.ts';
import type { SimulationLease } from './replicas.ts';
import type { Tables } from './schema/tables.ts';

/** The request that started a simulation, with everything it refers to copied into it. */
export interface StoredSimulationRequest {
  /** Its name is the current one if it is stored. */
  agent: { name: string; url: string; voice_url?: string };
  /** What is known about the build that is tested; undefined if it is no stored agent. */
  build?: TestedBuild;
  /** Overrides the channel of the scenarios. */
  channel?: 'chat' | 'voice';
  /** Sessions for each scenario; without it, each scenario decides. */
  samples?: number;
  /** Sessions that run concurrently. */
  concurrency: number;
  scenarios: { scenario: Scenario; persona: Persona; evals: readonly EvalDefinition[] }[];
}

/** Identifies a tested build of an agent. */
export interface TestedBuild {
  /** As `GET /health` reported it before the run. */
  agentVersion?: string;
  connection?: number;
}

/** A simulation. */
export interface SimulationPlan extends StoredSimulationRequest {
  id: string;
  ownerId: string;
  name: string;
  deleted: boolean;
  /** The id of the stored agent that is tested. */
  agentId: string | undefined;
  seed: string;
  /** How many earlier simulations of the owner used the same random seed. */
  repeat: number;
  /** `running` until every session has ended. */
  state: 'running' | 'ended' | 'canceled';
  startedAtMs: number;
}

/** A simulation to insert. */
export interface NewSimulation extends StoredSimulationRequest {
  ownerId: string;
  name: string;
  agentId: string | undefined;
  seed: string;
  startedAtMs: number;
  /** The API key of the agent's sandbox. */
  secret: string | undefined;
  /** Identifies the page that starts it, which starts it only once. */
  requestId?: string | undefined;
  /** Returns the simulation id, given how many earlier simulations used the same random seed. */
  makeId: (repeat: number) => string;
}

const selectPlans = (db: Reader) =>
  db
    .selectFrom('simulation_plans')
    .innerJoin('simulations', 'simulations.key', 'simulation_plans.simulation_key')
    .leftJoin('documents', (join) =>
      join
        .onRef('documents.owner_id', '=', 'simulation_plans.owner_id')
        .on('documents.kind', '=', 'agent')
        .onRef('documents.id', '=', 'simulation_plans.agent_id'),
    )
    .select(['simulations.id', 'simulations.name', 'deleted', 'simulation_plans.owner_id'])
    .select(['simulation_key', 'seed', 'request', 'state', 'started_at_ms', 'agent_id'])
    .select('documents.document as agent_document');

/** Creates the store of simulations. */
export function createSimulationStore({ reader, read, write, writeAlone, directory }: Connections) {
  const withRepeat = async (rows: PlanRow[]): Promise<SimulationPlan[]> =>
    Promise.all(
      rows.map(async (row) => toPlan(row, await countRepeats(reader(row.owner_id), row))),
    );
  return {
    /** Adds a simulation and returns its id, or returns that of the earlier one with its request id. */
    add: (simulation: NewSimulation): Promise<string> =>
      writeAlone(simulation.ownerId, (db) => add(db, simulation)),
    async find(ownerId: string, id: string): Promise<SimulationPlan | undefined> {
      const query = selectPlans(reader(ownerId)).where('simulations.owner_id', '=', ownerId);
      const rows = await query.where('simulations.id', '=', id).execute();
      return (await withRepeat(rows))[0];
    },
    async findState(ownerId: string, id: string): Promise<SimulationPlan['state'] | undefined> {
      const row = await findRow(reader(ownerId), ownerId, id);
      const query = reader(ownerId).selectFrom('simulation_plans').select('state');
      return (await query.where('simulation_key', '=', row?.key ?? -1).executeTakeFirst())?.state;
    },
    /** Lists simulations, newest first. */
    async list(ownerId: string, limit: number): Promise<SimulationPlan[]> {
      const query = selectPlans(reader(ownerId)).where('simulations.owner_id', '=', ownerId);
      return withRepeat(await query.orderBy('simulation_key', 'desc').limit(limit).execute());
    },
    /** Lists the unfinished simulations of all owners, oldest first. */
    async listRunning(): Promise<SimulationPlan[]> {
      const query = selectPlans(directory.reader).where('state', '=', 'running');
      return withRepeat(await query.orderBy('simulation_key').execute());
    },
    /** Returns the API key of the agent's sandbox. Use it only to call that sandbox. */
    async findApiKey(ownerId: string, id: string): Promise<string | undefined> {
      const row = await reader(ownerId)
        .selectFrom('simulation_plans')
        .innerJoin('simulations', 'simulations.key', 'simulation_plans.simulation_key')
        .select('secret')
        .where('simulations.owner_id', '=', ownerId)
        .where('simulations.id', '=', id)
        .executeTakeFirst();
      return row?.secret ?? undefined;
    },
    /** Lists the sessions that have ended, in no particular order. */
    listSessions: (ownerId: string, id: string): Promise<Session[]> =>
      read(ownerId, async (db) => {
        const row = await findRow(db, ownerId, id);
        if (!row) return [];
        return findSessions(db, (query) => query.where('sessions.simulation_key', '=', row.key));
      }),
    /**
     * Adds a finished session and its jobs in one transaction. Repeating it changes nothing. Returns
     * false, and adds nothing, if the simulation does not exist, another one has a session with this id,
     * or another process has taken the lease.
     */
    addSession: (session: NewSession, lease?: SimulationLease): Promise<boolean> =>
      write(session.ownerId, (db) => addSimulatedSession(db, session, lease)),
    /**
     * Ends a simulation and deletes the API key. Returns false, and changes nothing, if it was not
     * running or another process has taken the lease.
     */
    end: (
      ownerId: string,
      id: string,
      state: 'ended' | 'canceled',
      lease?: SimulationLease,
    ): Promise<boolean> =>
      write(ownerId, async (db) => {
        const key = (await findRow(db, ownerId, id))?.key ?? -1;
        if (lease && !(await holdLease(db, key, lease))) return false;
        return endPlan(db, key, state);
      }),
    /** Marks a simulation as deleted, and returns whether it existed. Its sessions stay. */
    remove: (ownerId: string, id: string): Promise<boolean> =>
      write(ownerId, (db) => removeSimulation(db, ownerId, id)),
  };
}

/** Ends a running simulation and deletes the API key; returns false if it was not running. */
async function endPlan(db: WriteTransaction, key: number, state: 'ended' | 'canceled') {
  const { numUpdatedRows } = await db
    .updateTable('simulation_plans')
    .set({ state, secret: null })
    .where('simulation_key', '=', key)
    .where('state', '=', 'running')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Marks a simulation as deleted. Returns false if it does not exist or was already deleted. */
export async function removeSimulation(
  db: WriteTransaction,
  ownerId: string,
  id: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('simulations')
    .set({ deleted: 1 })
    .where('owner_id', '=', ownerId)
    .where('id', '=', id)
    .where('deleted', '=', 0)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

type PlanRow = Pick<Tables['simulations'], 'id' | 'name' | 'deleted'> &
  Omit<Selectable<Tables['simulation_plans']>, 'secret' | 'request_id'> & {
    agent_document: string | null;
  };

function toPlan(row: PlanRow, repeat: number): SimulationPlan {
  const request = JSON.parse(row.request) as StoredSimulationRequest;
  const stored = JSON.parse(row.agent_document ?? '{}') as Partial<StoredAgent>;
  return {
    ...request,
    agent: { ...request.agent, name: stored.name ?? request.agent.name },
    agentId: row.agent_id ?? undefined,
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

/** Counts earlier simulations with the same seed. The result never changes: rows are not deleted. */
async function countRepeats(
  db: Reader,
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
  const { ownerId, name, agentId, seed, startedAtMs, secret, requestId, makeId, ...request } =
    simulation;
  const earlier = requestId && (await findRequested(db, ownerId, requestId));
  if (earlier) return earlier.id;
  const { count } = await db
    .selectFrom('simulation_plans')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('owner_id', '=', ownerId)
    .where('seed', '=', seed)
    .executeTakeFirstOrThrow();
  const id = makeId(count);
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
      agent_id: agentId ?? null,
      request_id: requestId ?? null,
    })
    .execute();
  return id;
}

const findRequested = (db: Reader, ownerId: string, requestId: string) =>
  db
    .selectFrom('simulation_plans')
    .innerJoin('simulations', 'simulations.key', 'simulation_plans.simulation_key')
    .select('simulations.id')
    .where('simulation_plans.owner_id', '=', ownerId)
    .where('request_id', '=', requestId)
    .executeTakeFirst();

async function addSimulatedSession(
  db: WriteTransaction,
  session: NewSession,
  lease: SimulationLease | undefined,
): Promise<boolean> {
  const { ownerId, id, simulation } = session;
  const row = simulation && (await findRow(db, ownerId, simulation.id));
  if (lease && !(await holdLease(db, row?.key ?? -1, lease))) return false;
  const plan = await db
    .selectFrom('simulation_plans')
    .select('state')
    .where('simulation_key', '=', row?.key ?? -1)
    .executeTakeFirst();
  if (!row || !plan) return false;
  const existing = await db
    .selectFrom('sessions')
    .select('simulation_key')
    .where('owner_id', '=', ownerId)
    .where('id', '=', id)
    .executeTakeFirst();
  // Added by an attempt whose connection broke after the commit.
  if (existing) return existing.simulation_key === row.key;
  await addSession(db, session, { dueAtMs: session.endedAtMs, isNew: true });
  return true;
}

/** Returns whether a lease is valid, and prevents other processes from taking it meanwhile. */
async function holdLease(
  db: WriteTransaction,
  simulationKey: number,
  { token }: SimulationLease,
): Promise<boolean> {
  const held = await db
    .selectFrom('simulation_leases')
    .select('token')
    .where('simulation_key', '=', simulationKey)
    .where('token', '=', token)
    .forShare()
    .executeTakeFirst();
  return held !== undefined;
}

function findRow(db: Reader, ownerId: string, id: string): Promise<{ key: number } | undefined> {
  return db
    .selectFrom('simulations')
    .select('key')
    .where('owner_id', '=', ownerId)
    .where('id', '=', id)
    .executeTakeFirst();
}
