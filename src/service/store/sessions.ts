import { addSession, addSessions } from './add-sessions.ts';
import type { Connections, Reader } from './connections.ts';
import { countStoredSessions } from './count-stored-sessions.ts';
import { findNeighbors, findSessionPage } from './session-queries.ts';
import { findSessions, parseJsonColumn } from './session-rows.ts';
import { endOfPrefix } from './text-search.ts';
import type {
  Neighbors,
  NewSession,
  Session,
  SessionFilter,
  SessionKind,
  SessionPage,
} from './records.ts';
import type { StoredTurn } from '../turns/turn-types.ts';
import type { Tables } from './schema/tables.ts';
import { findTracedTarget } from './traced-sessions.ts';

/** Creates the store of sessions, from simulations and from production. */
export function createSessionStore(connections: Connections) {
  const { reader, read, write, writeAlone } = connections;
  return {
    /** See `countStoredSessions`. */
    countStored: (ownerId: string): Promise<boolean> => countStoredSessions(connections, ownerId),
    /** Returns a page, newest first, and the number of all matches, both from one snapshot. */
    listPage: (filter: SessionFilter): Promise<SessionPage> =>
      read(filter.ownerId, (db) => findSessionPage(db, filter)),
    /** Returns the sessions before and after a session in the list of a filter. */
    findNeighbors: (filter: SessionFilter, sessionId: string): Promise<Neighbors> =>
      read(filter.ownerId, (db) => findNeighbors(db, filter, sessionId)),
    find: (ownerId: string, id: string): Promise<Session | undefined> =>
      read(ownerId, async (db) => {
        const [session] = await findSessions(db, (query) =>
          query.where('sessions.owner_id', '=', ownerId).where('sessions.id', '=', id),
        );
        return session;
      }),
    /** Lists sessions of both kinds, newest first, including those without results. */
    listNewest: (ownerId: string, limit: number): Promise<Session[]> =>
      read(ownerId, async (db) => {
        const kinds = ['production', 'simulation'] as const;
        const sessions = [];
        for (const kind of kinds)
          sessions.push(...(await findNewest(db, { ownerId, kind, limit })));
        sessions.sort((a, b) => b.startedAtMs - a.startedAtMs);
        return sessions.slice(0, limit);
      }),
    /** Lists sessions of both kinds whose id begins with a text, by their ids. */
    listByIdPrefix: (ownerId: string, prefix: string, limit: number): Promise<Session[]> =>
      read(ownerId, (db) =>
        findSessions(db, (query) =>
          query
            .where('sessions.owner_id', '=', ownerId)
            .where('sessions.id', '>=', prefix)
            .where('sessions.id', '<', endOfPrefix(prefix))
            .orderBy('sessions.id')
            .limit(limit),
        ),
      ),
    /** Finds who responded in a session of live traces, and by which channel. */
    findTracedTarget: (ownerId: string, id: string) =>
      findTracedTarget(reader(ownerId), ownerId, id),
    /** Returns the stored turns; empty for sessions of live traces. */
    async listTurns(ownerId: string, id: string): Promise<StoredTurn[]> {
      const rows = await reader(ownerId)
        .selectFrom('turns')
        .innerJoin('sessions', 'sessions.key', 'turns.session_key')
        .select(['sequence', 'user_input', 'user_reason', 'agent_response'])
        .select(['evaluation_metadata', 'tool_calls', 'latency_ms', 'turns.failed'])
        .select(['scenario_line', 'interrupts'])
        .where('sessions.owner_id', '=', ownerId)
        .where('sessions.id', '=', id)
        .orderBy('sequence')
        .execute();
      return rows.map(toTurn);
    },
    /**
     * Adds a session and its jobs in one transaction, replacing any session with the same id.
     * @param dueAtMs When the jobs are due (default: immediately).
     */
    add: (session: NewSession, dueAtMs = 0): Promise<void> =>
      write(session.ownerId, async (db) => {
        await addSession(db, session, { dueAtMs });
      }),
    /**
     * Adds sessions of one owner and their jobs in one transaction, replacing sessions with the same
     * ids. Returns how many it replaced.
     */
    addAll: (sessions: readonly NewSession[], dueAtMs = 0): Promise<{ replaced: number }> =>
      writeAlone(sessions[0]?.ownerId ?? '', (db) => addSessions(db, sessions, { dueAtMs })),
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

function toTurn(row: Omit<Tables['turns'], 'session_key'>): StoredTurn {
  const { tool_calls: calls, latency_ms: latencyMs, failed, scenario_line: scenarioLine } = row;
  return {
    sequence: row.sequence,
    userInput: row.user_input,
    userReason: row.user_reason ?? undefined,
    agentResponse: row.agent_response,
    evaluationMetadata: parseJsonColumn(row.evaluation_metadata),
    ...(calls !== null && { toolCalls: JSON.parse(calls) as NonNullable<StoredTurn['toolCalls']> }),
    ...(latencyMs !== null && { latencyMs }),
    ...(failed !== null && { failed: failed === 1 }),
    ...(scenarioLine !== null && { scenarioLine }),
    ...(row.interrupts === 1 && { interrupts: true }),
  };
}
