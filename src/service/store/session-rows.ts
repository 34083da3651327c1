/** Reads sessions by their keys. */
import type { SelectQueryBuilder } from 'kysely';
import type { Reader } from './connections.ts';
import { listOutcomes } from './outcomes.ts';
import type { JsonObject, Session } from './records.ts';
import type { Tables } from './schema/tables.ts';

/** A query of sessions, which selects some of their columns. */
export type SessionQuery<Row> = SelectQueryBuilder<Tables, 'sessions', Row>;

type KeyQuery = SessionQuery<{ key: number }>;

/** Narrows and orders a query of sessions. */
export type SelectSessions = (query: KeyQuery) => KeyQuery;

/** Returns the sessions that a query selects, with their outcomes, in the order of the query. */
export async function findSessions(db: Reader, select: SelectSessions): Promise<Session[]> {
  // Apply the limit before any join.
  const selected = await select(db.selectFrom('sessions').select('sessions.key')).execute();
  return loadSessions(
    db,
    selected.map(({ key }) => key),
  );
}

/** Returns the sessions of these keys, with their outcomes, in the same order. */
export async function loadSessions(db: Reader, keys: readonly number[]): Promise<Session[]> {
  if (keys.length === 0) return [];
  const [rows, outcomes] = [await findRows(db, keys), await listOutcomes(db, keys)];
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return keys.flatMap((key) => {
    const row = byKey.get(key);
    return row ? [{ ...toSession(row), outcomes: outcomes.get(key) ?? [] }] : [];
  });
}

type Row = Awaited<ReturnType<typeof findRows>>[number];

function findRows(db: Reader, keys: readonly number[]) {
  return db
    .selectFrom('sessions')
    .leftJoin('runs', 'runs.key', 'sessions.run_key')
    .leftJoin('agents', 'agents.key', 'sessions.agent_key')
    .leftJoin('simulations', 'simulations.key', 'sessions.simulation_key')
    .selectAll('sessions')
    .select(['runs.name as run_name', 'agents.name as agent_name', 'agents.url as agent_url'])
    .select('agents.agent_id')
    .select(['simulations.id as simulation_id', 'simulations.name as simulation_name'])
    .select('simulations.deleted as simulation_deleted')
    .where('sessions.key', 'in', keys)
    .execute();
}

function toSession(row: Row): Omit<Session, 'outcomes'> {
  const { run_key: runKey, run_name: runName } = row;
  const { agent_id: agentId, agent_name: name, agent_url: url } = row;
  const { simulation_id: simulationId, simulation_name: simulationName } = row;
  return {
    id: row.id,
    kind: row.kind,
    ownerId: row.owner_id,
    status: row.status,
    startedAtMs: row.started_at_ms,
    endedAtMs: row.ended_at_ms,
    run: runKey !== null && runName !== null ? { id: String(runKey), name: runName } : undefined,
    sourceSessionId: row.source_session_id ?? undefined,
    simulation:
      simulationId !== null && simulationName !== null
        ? { id: simulationId, name: simulationName, deleted: row.simulation_deleted === 1 }
        : undefined,
    agent:
      name !== null && url !== null ? { name, url, ...(agentId && { id: agentId }) } : undefined,
    scenario: row.scenario ?? undefined,
    persona: row.persona ?? undefined,
    endReason: row.end_reason ?? undefined,
    metadata: parseJsonColumn(row.metadata),
    simulated: parseJsonColumn(row.simulated),
  };
}

/** Parses a JSON column; null becomes undefined. */
export function parseJsonColumn(text: string | null): JsonObject | undefined {
  return text === null ? undefined : (JSON.parse(text) as JsonObject);
}
