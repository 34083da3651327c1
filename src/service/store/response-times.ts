import type { Reader } from './connections.ts';
import { RUN_COLUMNS, type RunRef } from './run-sums.ts';
import { parseJsonColumn } from './session-rows.ts';
import { CHANNEL_TAG } from './traced-sessions.ts';

/** How long a session was, how fast the agent responded, and how the evals scored it. */
export interface TimedSession {
  /** The name of the agent, and the channel, such as `voice`, if they are known. */
  agent: string | undefined;
  channel: string | undefined;
  /** The number of turns. */
  turns: number;
  /** The response times that were measured; turns without a usable response have none. */
  responseMs: readonly number[];
  /** The numbers of outcomes that pass or fail, and that pass. */
  evaluations: number;
  passedEvaluations: number;
}

/** Runs of one kind, by their keys. */
interface RunKeys {
  kind: RunRef['kind'];
  keys: readonly number[];
}

/** Returns the newest sessions of each run whose turns are known, by the key of the run. */
export async function timeSessions(
  db: Reader,
  { kind, keys }: RunKeys,
  sessionsMax: number,
): Promise<Map<number, TimedSession[]>> {
  const found = [];
  // A query for each run stops after its newest sessions; one for all would read all sessions.
  for (const key of keys) {
    found.push({ key, sessions: await listNewest(db, { kind, key }, sessionsMax) });
  }
  const sessionKeys = found.flatMap(({ sessions }) => sessions.map(({ key }) => key));
  if (sessionKeys.length === 0) return new Map();
  const measured = new Map([
    ...(kind === 'production' ? await readTraced(db, sessionKeys) : []),
    ...(await readTurns(db, sessionKeys)),
  ]);
  const channels =
    kind === 'production' ? await readChannels(db, sessionKeys) : new Map<number, string>();
  const timed = found.map(({ key: runKey, sessions }): [number, TimedSession[]] => [
    runKey,
    sessions.flatMap(({ key, simulated, agent, total, passed }) => {
      const known = measured.get(key);
      if (!known) return [];
      const channel = parseJsonColumn(simulated)?.['channel'];
      return {
        ...known,
        agent: agent ?? known.agent,
        channel: typeof channel === 'string' ? channel : (known.channel ?? channels.get(key)),
        evaluations: total,
        passedEvaluations: passed,
      };
    }),
  ]);
  return new Map(timed);
}

const listNewest = (
  db: Reader,
  { kind, key }: { kind: RunRef['kind']; key: number },
  limit: number,
) =>
  db
    .selectFrom('sessions')
    .leftJoin('agents', 'agents.key', 'sessions.agent_key')
    .select(['sessions.key', 'sessions.simulated', 'sessions.total', 'sessions.passed'])
    .select('agents.name as agent')
    .where(`sessions.${RUN_COLUMNS[kind]}`, '=', key)
    .orderBy('sessions.started_at_ms', 'desc')
    .limit(limit)
    .execute();

/** What is known of a session from its turns or its spans. */
type Measured = Omit<TimedSession, 'evaluations' | 'passedEvaluations'>;

/** Reads uploaded and simulated sessions. */
async function readTurns(
  db: Reader,
  sessionKeys: readonly number[],
): Promise<Map<number, Measured>> {
  const turns = await db
    .selectFrom('turns')
    .select(['session_key', 'latency_ms', 'failed'])
    .where('session_key', 'in', sessionKeys)
    .execute();
  const entries = Array.from(
    Map.groupBy(turns, (turn) => turn.session_key),
    ([key, ofSession]): [number, Measured] => [
      key,
      {
        agent: undefined,
        channel: undefined,
        turns: ofSession.length,
        responseMs: ofSession.flatMap(({ latency_ms: ms, failed }) =>
          ms === null || failed === 1 ? [] : ms,
        ),
      },
    ],
  );
  return new Map(entries);
}

/** Reads sessions of live traces. */
async function readTraced(
  db: Reader,
  sessionKeys: readonly number[],
): Promise<[number, Measured][]> {
  const rows = await db
    .selectFrom('traced_sessions')
    .select(['session_key', 'agent', 'channel', 'turns', 'response_ms'])
    .where('session_key', 'in', sessionKeys)
    .execute();
  return rows.map((row) => [
    row.session_key,
    {
      agent: row.agent ?? undefined,
      channel: row.channel ?? undefined,
      turns: row.turns,
      responseMs: JSON.parse(row.response_ms) as number[],
    },
  ]);
}

/** Reads the channels that the metadata of uploaded sessions names. */
async function readChannels(
  db: Reader,
  sessionKeys: readonly number[],
): Promise<Map<number, string>> {
  const rows = await db
    .selectFrom('session_tags')
    .select(['session_key', 'value'])
    .where('session_key', 'in', sessionKeys)
    .where('name', '=', CHANNEL_TAG)
    .execute();
  return new Map(rows.map((row) => [row.session_key, row.value]));
}
