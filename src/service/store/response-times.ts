import type { Reader } from './connections.ts';
import { RUN_COLUMNS, type RunRef } from './run-sums.ts';
import { parseJsonColumn } from './session-rows.ts';

/** How long a session was, and how fast the agent responded. */
export interface TimedSession {
  /** The name of the tested agent, and the channel, such as `voice`, if they are known. */
  agent: string | undefined;
  channel: string | undefined;
  /** The number of turns. */
  turns: number;
  /** The response times that were measured; turns without a usable response have none. */
  responseMs: readonly number[];
}

/** Runs of one kind, by their keys. */
interface RunKeys {
  kind: RunRef['kind'];
  keys: readonly number[];
}

/**
 * Returns the newest sessions of each run that have stored turns, by the key of the run. Sessions of live
 * traces have spans instead.
 */
export async function timeSessions(
  db: Reader,
  { kind, keys }: RunKeys,
  sessionsMax: number,
): Promise<Map<number, TimedSession[]>> {
  const column = `sessions.${RUN_COLUMNS[kind]}` as const;
  const found = [];
  // A query for each run stops after its newest sessions; one for all would read all sessions.
  for (const key of keys) {
    const sessions = await db
      .selectFrom('sessions')
      .leftJoin('agents', 'agents.key', 'sessions.agent_key')
      .select(['sessions.key', 'sessions.simulated', 'agents.name as agent'])
      .where(column, '=', key)
      .orderBy('sessions.started_at_ms', 'desc')
      .limit(sessionsMax)
      .execute();
    found.push({ key, sessions });
  }
  const sessionKeys = found.flatMap(({ sessions }) => sessions.map(({ key }) => key));
  if (sessionKeys.length === 0) return new Map();
  const turns = await db
    .selectFrom('turns')
    .select(['session_key', 'latency_ms', 'failed'])
    .where('session_key', 'in', sessionKeys)
    .execute();
  const turnsBySession = Map.groupBy(turns, (turn) => turn.session_key);
  const timed = found.map(({ key: runKey, sessions }): [number, TimedSession[]] => [
    runKey,
    sessions.flatMap(({ key, simulated, agent }) => {
      const ofSession = turnsBySession.get(key);
      if (!ofSession) return [];
      const channel = parseJsonColumn(simulated)?.['channel'];
      return {
        agent: agent ?? undefined,
        channel: typeof channel === 'string' ? channel : undefined,
        turns: ofSession.length,
        responseMs: ofSession.flatMap(({ latency_ms: ms, failed }) =>
          ms === null || failed === 1 ? [] : ms,
        ),
      };
    }),
  ]);
  return new Map(timed);
}
