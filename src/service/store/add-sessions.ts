import { systemClock } from '../../platform/clock.ts';
import { yieldPeriodically } from '../../platform/event-loop.ts';
import { foldCase } from '../../platform/fold-case.ts';
import type { WriteTransaction } from './connections.ts';
import { TAG_NAME_CHARS_MAX } from './conversation-limits.ts';
import { queueJobs } from './jobs.ts';
import { findOrInsertAgent, findOrInsertRun, findOrInsertSimulation } from './names.ts';
import { findEvalSetKey, insertOutcomes, nameEvals, toResults } from './outcomes.ts';
import { insertRows, type Insertion } from './insert-rows.ts';
import type { JsonObject, NewSession, Outcome } from './records.ts';
import type { StoredTurn } from '../turns/turn-types.ts';

/** Called now and then with the number of sessions done and their total. */
export type OnSeedProgress = (done: number, total: number) => void;

/** How many sessions share their statements: each statement is a round trip to a database server. */
const SESSIONS_PER_CHUNK = 50;

/** How long inserting may block the event loop before it yields. */
const BLOCK_MS_MAX = 5;

/**
 * Adds or replaces the sessions of one owner, except those that were seeded with the same content, and
 * queues their jobs. Returns how many it replaced.
 */
export async function addSessions(
  db: WriteTransaction,
  sessions: readonly NewSession[],
  { dueAtMs, onProgress }: { dueAtMs: number; onProgress?: OnSeedProgress | undefined },
): Promise<{ replaced: number }> {
  const yieldIfDue = yieldPeriodically(systemClock, BLOCK_MS_MAX);
  let replaced = 0;
  for (let from = 0; from < sessions.length; from += SESSIONS_PER_CHUNK) {
    const chunk = sessions.slice(from, from + SESSIONS_PER_CHUNK);
    const digests = await findSeedDigests(db, chunk);
    const added = new Map<string, AddedSession>();
    for (const session of chunk) {
      const { id, seedDigest = null } = session;
      const storedDigest = digests.get(id);
      if (seedDigest !== null && seedDigest === storedDigest) continue;
      const isNew = storedDigest === undefined;
      // One statement can't insert an id twice. The last session with an id counts.
      added.set(id, { session, isNew: added.get(id)?.isNew ?? isNew });
      if (!isNew) replaced += 1;
      digests.set(id, seedDigest);
    }
    await addChunk({ db, yieldIfDue }, [...added.values()], dueAtMs);
    await yieldIfDue();
    onProgress?.(Math.min(from + SESSIONS_PER_CHUNK, sessions.length), sessions.length);
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
  { dueAtMs, isNew = false }: { dueAtMs: number; isNew?: boolean },
): Promise<{ key: number; queued: number }> {
  const [added] = await addChunk({ db }, [{ session, isNew }], dueAtMs);
  if (!added) throw new Error('The session was not added.');
  return added;
}

/** Adds sessions of one owner whose ids are new, and queues their jobs. Returns the same for each. */
export const addNewSessions = (
  db: WriteTransaction,
  sessions: readonly NewSession[],
  dueAtMs: number,
): Promise<{ key: number; queued: number }[]> =>
  addChunk(
    { db },
    sessions.map((session) => ({ session, isNew: true })),
    dueAtMs,
  );

interface AddedSession {
  session: NewSession;
  /** Set if no session with this id exists, which saves deleting its old rows. */
  isNew: boolean;
}

const tablesOfSession = [
  'turns',
  'session_texts',
  'traced_sessions',
  'session_tags',
  'outcomes',
  'reviews',
  'jobs',
] as const;

/**
 * Adds or replaces sessions of one owner with different ids. Returns the key and the number of jobs of
 * each.
 */
async function addChunk(
  insertion: Insertion,
  added: readonly AddedSession[],
  dueAtMs: number,
): Promise<{ key: number; queued: number }[]> {
  if (added.length === 0) return [];
  const { db } = insertion;
  const rows: SessionRow[] = [];
  for (const { session } of added) rows.push(await toRow(db, session));
  const keys = await upsert(db, rows);
  const sessions = added.map(({ session: { ownerId, ...session }, isNew }, nth) => {
    const key = keys.get(session.id);
    const row = rows[nth];
    if (key === undefined || !row) throw new Error('A session was not added.');
    const { run_key, simulation_key, started_at_ms, failed } = row;
    return {
      ...session,
      ownerId,
      isNew,
      key,
      run_key,
      simulation_key,
      started_at_ms,
      failed,
    };
  });
  const replaced = sessions.filter(({ isNew }) => !isNew).map(({ key }) => key);
  // Replacing a session deletes its jobs, too: a worker that is scoring it finds its job gone.
  for (const table of replaced.length > 0 ? tablesOfSession : []) {
    await db.deleteFrom(table).where('session_key', 'in', replaced).execute();
  }
  await insertRows(insertion, 'turns', sessions.flatMap(toTurnRows));
  const texts = [];
  for (const { key, turns } of sessions.filter(({ turns: { length } }) => length > 0)) {
    texts.push({ session_key: key, text: toSearchText(turns) });
    await insertion.yieldIfDue?.();
  }
  await insertRows(insertion, 'session_texts', texts);
  const tags = sessions.flatMap(({ key, metadata }) =>
    listSearchTags(metadata).map((tag) => ({ ...tag, session_key: key })),
  );
  await insertRows(insertion, 'session_tags', tags, { skipExisting: true });
  const outcomes = [];
  for (const session of sessions) {
    const placed = session.outcomes.map((outcome, position) => ({ ...outcome, position }));
    const named = await nameEvals(db, session.ownerId, placed);
    outcomes.push(...named.map((outcome) => ({ session, outcome })));
  }
  await insertOutcomes(insertion, outcomes, null);
  const queued = await queueJobs(insertion, sessions, dueAtMs);
  return sessions.map(({ key }) => ({ key, queued: queued.get(key) ?? 0 }));
}

interface KeyedSession extends NewSession {
  key: number;
}

function toTurnRows({ key, turns }: KeyedSession) {
  return turns.map((turn) => ({
    session_key: key,
    sequence: turn.sequence,
    user_input: turn.userInput,
    user_reason: turn.userReason ?? null,
    agent_response: turn.agentResponse,
    evaluation_metadata: toJson(turn.evaluationMetadata),
    tool_calls: turn.toolCalls ? JSON.stringify(turn.toolCalls) : null,
    latency_ms: turn.latencyMs ?? null,
    failed: turn.failed === undefined ? null : Number(turn.failed),
    scenario_line: turn.scenarioLine ?? null,
    interrupts: turn.interrupts ? 1 : null,
  }));
}

/** The longest text of a session that a search reads. */
const SEARCH_TEXT_CHARS_MAX = 20_000;

/** Returns the text that a search finds a session by: the lines of the user and the agent. */
export function toSearchText(
  turns: readonly Pick<StoredTurn, 'userInput' | 'agentResponse'>[],
): string {
  let text = '';
  const lines = turns.flatMap(({ userInput, agentResponse }) => [userInput, agentResponse]);
  for (const line of lines) {
    if (text.length >= SEARCH_TEXT_CHARS_MAX) break;
    // Cut first: folding a line of megabytes takes long.
    text += `${foldCase(line.slice(0, SEARCH_TEXT_CHARS_MAX))}\n`;
  }
  return text.slice(0, SEARCH_TEXT_CHARS_MAX).toWellFormed();
}

/** The most tags of one session that a search finds. */
const SEARCH_TAGS_MAX = 200;

/** Returns the metadata that a search by tag finds: texts, numbers, and booleans with a short name. */
function listSearchTags(metadata: JsonObject = {}): { name: string; value: string }[] {
  return Object.entries(metadata)
    .filter(([name]) => name.length <= TAG_NAME_CHARS_MAX)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .slice(0, SEARCH_TAGS_MAX)
    .map(([name, value]) => ({ name, value: String(value) }));
}

type SessionRow = Awaited<ReturnType<typeof toRow>>;

async function toRow(db: WriteTransaction, session: NewSession) {
  const { ownerId, runName, simulation, agent, evals } = session;
  // Finishing the last job completes the session.
  const isScored = evals.length > 0 && session.status === 'completed';
  const status = isScored ? 'evaluating' : session.status;
  const outcomes = await nameEvals(db, ownerId, keepFirst(session.outcomes));
  return {
    owner_id: ownerId,
    id: session.id,
    kind: session.kind,
    status,
    started_at_ms: session.startedAtMs,
    ended_at_ms: session.endedAtMs,
    run_key: runName === undefined ? null : await findOrInsertRun(db, ownerId, runName),
    source_session_id: session.sourceSessionId ?? null,
    simulation_key: simulation ? await findOrInsertSimulation(db, ownerId, simulation) : null,
    agent_key: agent ? await findOrInsertAgent(db, ownerId, agent) : null,
    scenario: session.scenario ?? null,
    scenario_id: session.simulated?.scenario_id ?? session.scenario ?? null,
    sample: session.simulated?.sample ?? 1,
    persona: session.persona ?? null,
    end_reason: session.endReason ?? null,
    metadata: toJson(session.metadata),
    seed_digest: session.seedDigest ?? null,
    simulated: toJson(session.simulated),
    eval_set_key: await findEvalSetKey(db, { ownerId, status }, outcomes),
    ...toResults(status, outcomes),
  };
}

/** Returns the first outcome of each eval, because later ones are not stored, in any order. */
function keepFirst(outcomes: readonly Outcome[]): Outcome[] {
  const fromLast = outcomes.toReversed().map((outcome) => [outcome.evalId, outcome] as const);
  return [...new Map(fromLast).values()];
}

/** Inserts or updates sessions. Returns the key of each id. */
async function upsert(
  db: WriteTransaction,
  rows: readonly SessionRow[],
): Promise<ReadonlyMap<string, number>> {
  const stored = await db
    .insertInto('sessions')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['owner_id', 'id']).doUpdateSet((eb) => {
        const columns = Object.keys(rows[0] ?? {}) as (keyof SessionRow)[];
        const added = columns.map((column) => [column, eb.ref(`excluded.${column}`)]);
        return Object.fromEntries(added) as Record<keyof SessionRow, never>;
      }),
    )
    .returning(['id', 'key'])
    .execute();
  return new Map(stored.map(({ id, key }) => [id, key]));
}

function toJson(object: object | undefined): string | null {
  return object ? JSON.stringify(object) : null;
}
