import { addSession, addSessions } from './add-sessions.ts';
import type { Connections, Reader, WriteTransaction } from './connections.ts';
import { findNeighbors, findSessionPage, findSessions, parseObject } from './session-queries.ts';
import type { StoredTurn, Session, SessionKind, SessionStore } from './store.ts';

/** Creates the store of sessions, from simulations and from production. */
export function createSessionStore({ reader, read, write, writeAlone }: Connections): SessionStore {
  return {
    listPage: (filter) => read(filter.ownerId, (db) => findSessionPage(db, filter)),
    findNeighbors: (filter, sessionId) =>
      read(filter.ownerId, (db) => findNeighbors(db, filter, sessionId)),
    find: (ownerId, id) =>
      read(ownerId, async (db) => {
        const [session] = await findSessions(db, (query) =>
          query.where('sessions.owner_id', '=', ownerId).where('sessions.id', '=', id),
        );
        return session;
      }),
    listNewest: (ownerId, limit) =>
      read(ownerId, async (db) => {
        const kinds = ['production', 'simulation'] as const;
        const sessions = [];
        for (const kind of kinds)
          sessions.push(...(await findNewest(db, { ownerId, kind, limit })));
        sessions.sort((a, b) => b.startedAtMs - a.startedAtMs);
        return sessions.slice(0, limit);
      }),
    async listTurns(ownerId, id) {
      const rows = await reader(ownerId)
        .selectFrom('turns')
        .innerJoin('sessions', 'sessions.key', 'turns.session_key')
        .select(['sequence', 'user_input', 'user_reason', 'agent_response'])
        .select(['evaluation_metadata', 'tool_calls', 'latency_ms', 'turns.failed'])
        .where('sessions.owner_id', '=', ownerId)
        .where('sessions.id', '=', id)
        .orderBy('sequence')
        .execute();
      return rows.map(toTurn);
    },
    add: (session, dueAtMs = 0) =>
      write(session.ownerId, async (db) => {
        await addSession(db, session, { dueAtMs });
      }),
    addAll: (sessions, dueAtMs = 0) =>
      writeAlone(sessions[0]?.ownerId ?? '', (db) => addSessions(db, sessions, { dueAtMs })),
    deleteSimulation: (ownerId, id) => write(ownerId, (db) => deleteSimulation(db, ownerId, id)),
  };
}

/** Finds the newest sessions of one kind, because the index is sorted by kind first. */
function findNewest(
  db: Reader,
  { ownerId, kind, limit }: { ownerId: string; kind: SessionKind; limit: number },
): Promise<Session[]> {
  return findSessions(db, (query) =>
    query
      .where('sessions.owner_id', '=', ownerId)
      .where('sessions.kind', '=', kind)
      .orderBy('sessions.started_at_ms', 'desc')
      .orderBy('sessions.id')
      .limit(limit),
  );
}

/** Marks a simulation as deleted; returns false if there is none to delete. */
export async function deleteSimulation(
  db: WriteTransaction,
  ownerId: string,
  simulationId: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('simulations')
    .set({ deleted: 1 })
    .where('owner_id', '=', ownerId)
    .where('id', '=', simulationId)
    .where('deleted', '=', 0)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

interface TurnRow {
  sequence: number;
  user_input: string;
  user_reason: string | null;
  agent_response: string;
  evaluation_metadata: string | null;
  tool_calls: string | null;
  latency_ms: number | null;
  failed: number | null;
}

function toTurn(row: TurnRow): StoredTurn {
  const { tool_calls: calls, latency_ms: latencyMs, failed } = row;
  return {
    sequence: row.sequence,
    userInput: row.user_input,
    userReason: row.user_reason ?? undefined,
    agentResponse: row.agent_response,
    evaluationMetadata: parseObject(row.evaluation_metadata),
    ...(calls !== null && { toolCalls: JSON.parse(calls) as NonNullable<StoredTurn['toolCalls']> }),
    ...(latencyMs !== null && { latencyMs }),
    ...(failed !== null && { failed: failed === 1 }),
  };
}
