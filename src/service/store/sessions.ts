import { systemClock } from '../../platform/clock.ts';
import { yieldPeriodically } from '../../platform/event-loop.ts';
import type { Connections, Reader, WriteTransaction } from './connections.ts';
import { queueJobs } from './jobs.ts';
import {
  findOrInsertAgent,
  findOrInsertRun,
  findOrInsertSimulation,
  normalizeForSearch,
} from './names.ts';
import { insertOutcomes } from './outcomes.ts';
import { findNeighbors, findSessionPage, findSessions, parseObject } from './session-queries.ts';
import type {
  JsonObject,
  OnSeedProgress,
  StoredTurn,
  NewSession,
  Session,
  SessionKind,
  SessionStore,
} from './store.ts';

/** Creates the store of sessions, from simulations and from production. */
export function createSessionStore({ reader, read, write, writeAlone }: Connections): SessionStore {
  return {
    listPage: (filter) => read(filter.ownerId, (db) => findSessionPage(db, filter)),
    findNeighbors: (filter, sessionId) =>
      read(filter.ownerId, (db) => findNeighbors(db, filter, sessionId)),
    putSearchText: (ownerId, id, lines) =>
      write(ownerId, async (db) => {
        const session = await db
          .selectFrom('sessions')
          .select('key')
          .where('owner_id', '=', ownerId)
          .where('id', '=', id)
          .executeTakeFirst();
        if (session) await putSearchText(db, session.key, lines);
      }),
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
    add: (session) =>
      write(session.ownerId, async (db) => {
        await addSession(db, session);
      }),
    addAll: (sessions) => writeAlone(sessions[0]?.ownerId ?? '', (db) => addSessions(db, sessions)),
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

// SQLite allows 32,766 parameters in a statement, which is 32 per row.
const ROWS_PER_INSERT = 1000;

interface AddOptions {
  /** When its jobs are due; the default is immediately. */
  dueAtMs?: number;
  /** Set if no session with this id exists, which saves deleting its old rows. */
  isNew?: boolean;
}

const SESSIONS_PER_QUERY = 50;

/** How long inserting may block the event loop before it yields. */
const BLOCK_MS_MAX = 5;

/**
 * Adds or replaces the sessions of one owner, except those that were seeded with the same content, and
 * queues their jobs. Returns how many it replaced.
 */
export async function addSessions(
  db: WriteTransaction,
  sessions: readonly NewSession[],
  onProgress?: OnSeedProgress,
): Promise<{ replaced: number }> {
  const yieldIfDue = yieldPeriodically(systemClock, BLOCK_MS_MAX);
  let replaced = 0;
  for (let from = 0; from < sessions.length; from += SESSIONS_PER_QUERY) {
    const chunk = sessions.slice(from, from + SESSIONS_PER_QUERY);
    const digests = await findSeedDigests(db, chunk);
    for (const session of chunk) {
      const { id, seedDigest = null } = session;
      const storedDigest = digests.get(id);
      if (seedDigest === null || seedDigest !== storedDigest) {
        const isNew = storedDigest === undefined;
        await addSession(db, session, { dueAtMs: 0, isNew });
        if (!isNew) replaced += 1;
        digests.set(id, seedDigest);
      }
      await yieldIfDue();
    }
    onProgress?.(Math.min(from + SESSIONS_PER_QUERY, sessions.length), sessions.length);
  }
  return { replaced };
}

/** Returns the seed digests of the sessions that exist; null for sessions that were not seeded. */
async function findSeedDigests(
  db: WriteTransaction,
  sessions: readonly NewSession[],
): Promise<Map<string, string | null>> {
  const ids = sessions.map(({ id }) => id);
  const rows = await db
    .selectFrom('sessions')
    .select(['id', 'seed_digest'])
    .where('owner_id', '=', sessions[0]?.ownerId ?? '')
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row.seed_digest]));
}

/** Adds or replaces a session and queues its jobs. Returns its key and the number of jobs. */
export async function addSession(
  db: WriteTransaction,
  session: NewSession,
  { dueAtMs = 0, isNew = false }: AddOptions = {},
): Promise<{ key: number; queued: number }> {
  const { ownerId, turns, outcomes, evals } = session;
  const key = await upsertSession(db, session);
  // Replacing a session deletes its jobs, too: a worker that is scoring it finds its job gone.
  for (const table of isNew ? [] : tablesOfSession) {
    await db.deleteFrom(table).where('session_key', '=', key).execute();
  }
  const rows = turns.map((turn) => ({
    session_key: key,
    sequence: turn.sequence,
    user_input: turn.userInput,
    user_reason: turn.userReason ?? null,
    agent_response: turn.agentResponse,
    evaluation_metadata: toJson(turn.evaluationMetadata),
    tool_calls: turn.toolCalls ? JSON.stringify(turn.toolCalls) : null,
    latency_ms: turn.latencyMs ?? null,
    failed: turn.failed === undefined ? null : Number(turn.failed),
  }));
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    await db
      .insertInto('turns')
      .values(rows.slice(from, from + ROWS_PER_INSERT))
      .execute();
  }
  if (turns.length > 0) {
    const lines = turns.flatMap(({ userInput, agentResponse }) => [userInput, agentResponse]);
    await putSearchText(db, key, lines);
  }
  const tags = listSearchTags(session.metadata);
  if (tags.length > 0) {
    await db
      .insertInto('session_tags')
      .values(tags.map((tag) => ({ ...tag, session_key: key })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  const outcomesInOrder = outcomes.map((outcome, position) => ({ ...outcome, position }));
  if (outcomesInOrder.length > 0 || !isNew) {
    await insertOutcomes(db, { key, ownerId }, outcomesInOrder, null);
  }
  const position = outcomes.length;
  const queued = await queueJobs(db, { key, ownerId }, evals, { dueAtMs, position });
  return { key, queued };
}

const tablesOfSession = ['turns', 'session_texts', 'session_tags', 'outcomes', 'jobs'] as const;

/** The longest text of a session that a search reads. */
const SEARCH_TEXT_CHARS_MAX = 20_000;

async function putSearchText(
  db: WriteTransaction,
  key: number,
  lines: readonly string[],
): Promise<void> {
  let text = '';
  for (const line of lines) {
    if (text.length >= SEARCH_TEXT_CHARS_MAX) break;
    // Cut first: normalizing a line of megabytes takes long.
    text += `${normalizeForSearch(line.slice(0, SEARCH_TEXT_CHARS_MAX))}\n`;
  }
  text = text.slice(0, SEARCH_TEXT_CHARS_MAX).toWellFormed();
  await db
    .insertInto('session_texts')
    .values({ session_key: key, text })
    .onConflict((conflict) => conflict.column('session_key').doUpdateSet({ text }))
    .execute();
}

/** The most tags of one session that a search finds. */
const SEARCH_TAGS_MAX = 200;

/** Returns the metadata that a search by tag finds: texts, numbers, and booleans. */
function listSearchTags(metadata: JsonObject = {}): { name: string; value: string }[] {
  return Object.entries(metadata)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .slice(0, SEARCH_TAGS_MAX)
    .map(([name, value]) => ({ name, value: String(value) }));
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

async function upsertSession(db: WriteTransaction, session: NewSession): Promise<number> {
  const { ownerId, runName, simulation, agent, evals } = session;
  const row = {
    kind: session.kind,
    // Finishing the last job completes the session.
    status: evals.length > 0 && session.status === 'completed' ? 'evaluating' : session.status,
    started_at_ms: session.startedAtMs,
    ended_at_ms: session.endedAtMs,
    run_key: runName === undefined ? null : await findOrInsertRun(db, ownerId, runName),
    source_session_id: session.sourceSessionId ?? null,
    simulation_key: simulation ? await findOrInsertSimulation(db, ownerId, simulation) : null,
    agent_key: agent ? await findOrInsertAgent(db, ownerId, agent) : null,
    scenario: session.scenario ?? null,
    scenario_id: readText(session.simulated, 'scenario_id') ?? session.scenario ?? null,
    sample: Number(session.simulated?.['sample'] ?? 1),
    persona: session.persona ?? null,
    end_reason: session.endReason ?? null,
    metadata: toJson(session.metadata),
    seed_digest: session.seedDigest ?? null,
    simulated: toJson(session.simulated),
  } as const;
  const { key } = await db
    .insertInto('sessions')
    .values({ owner_id: ownerId, id: session.id, ...row })
    .onConflict((conflict) => conflict.columns(['owner_id', 'id']).doUpdateSet(row))
    .returning('key')
    .executeTakeFirstOrThrow();
  return key;
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

function readText(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === 'string' ? value : undefined;
}

function toJson(object: JsonObject | undefined): string | null {
  return object ? JSON.stringify(object) : null;
}
