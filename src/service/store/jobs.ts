import { sql, type UpdateObject } from 'kysely';
import type { EvalDefinition } from '../../contract/index.ts';
import type { Connections, WriteTransaction } from './connections.ts';
import { insertRows, type Insertion } from './insert-rows.ts';
import { addOutcomes, lockScoredSessions } from './outcomes.ts';
import type { Outcome } from './records.ts';
import type { Dialect } from './schema/table.ts';
import type { Tables } from './schema/tables.ts';

/** One eval that has to score one session. */
export interface Job {
  id: number;
  ownerId: string;
  sessionId: string;
  /** The key of the row of its session, for the store. */
  sessionKey: number;
  /** The eval as defined when the job was queued. */
  definition: EvalDefinition;
  /** 1 for the first attempt. */
  attempt: number;
}

/** A job with its outcome. */
export interface FinishedJob {
  job: Job;
  outcome: Outcome;
}

/**
 * Returns which due jobs a worker takes, when it has taken some of other owners already. Must return the
 * same for the same jobs.
 */
export type ChooseJobs = (due: readonly Job[], taken: readonly Job[]) => readonly Job[];

/**
 * Creates the queue of scoring jobs. The states of a job:
 *
 *     queued --- take, once due ---> taken --- finishAll ---> done
 *       ^                              |
 *       +---- release, releaseAll -----+
 *
 * Taking a job gives the worker a lease that ends at `due_at_ms`; `renew` extends it. After that,
 * any worker can take the job again. A worker can lose its lease while it is still running, so every
 * write is fenced: each `take` increments `attempts`, and `renew`, `finishAll`, and `release` change
 * only a job whose worker and attempt number match. A write from an earlier lease changes nothing.
 */
export function createJobStore(connections: Connections) {
  const { write, directory } = connections;
  return {
    /**
     * Leases the jobs that `choose` returns, of up to `limit` due jobs, to a worker; no other worker gets
     * them during the lease.
     */
    take: (
      worker: string,
      nowMs: number,
      leaseMs: number,
      limit: number,
      choose: ChooseJobs = (due) => due,
    ): Promise<Job[]> => take(connections, { worker, nowMs, leaseMs, limit, choose }),
    /** Extends the leases to `untilMs`. Skips jobs that the worker no longer holds. */
    async renew(worker: string, jobs: readonly Job[], untilMs: number): Promise<void> {
      for (const [ownerId, ofOwner] of Map.groupBy(jobs, (job) => job.ownerId)) {
        await write(ownerId, async (db) => {
          const held = await lockHeld(db, connections.dialect, { worker, jobs: ofOwner });
          await updateJobs(db, held, { due_at_ms: untilMs });
        });
      }
    },
    /**
     * Writes the outcomes of jobs of one owner in one transaction: if it fails, none is written. With the
     * last job of a session, completes the session. Returns for each job whether the worker still held
     * it; the other outcomes are discarded.
     */
    finishAll: (
      worker: string,
      finished: readonly FinishedJob[],
      atMs: number,
    ): Promise<boolean[]> =>
      write(finished[0]?.job.ownerId ?? '', (db) =>
        finishAll(db, connections.dialect, { worker, finished, atMs }),
      ),
    /** Returns a job to the queue; it can be taken again from `dueAtMs` on. */
    release: (worker: string, job: Job, dueAtMs: number): Promise<void> =>
      write(job.ownerId, async (db) => {
        const held = await lockHeld(db, connections.dialect, { worker, jobs: [job] });
        await updateJobs(db, held, { state: 'queued', worker: null, due_at_ms: dueAtMs });
      }),
    /**
     * Call on startup: releases the jobs of earlier processes, makes jobs that are due in the future
     * due now (an earlier process may have advanced its clock), and returns how many there were.
     */
    async releaseAll(nowMs: number): Promise<number> {
      // Other replicas may hold leases; those of a replica that died expire.
      return connections.dialect === 'postgres' ? 0 : releaseAll(connections, nowMs);
    },
    /** Returns only the time, which is fast for any number of jobs; undefined if there is no job. */
    async findNextDueAtMs(): Promise<number | undefined> {
      // Reads the first entry of an index; counting would read all of them.
      const { next } = await directory.reader
        .selectFrom('jobs')
        .select(({ fn }) => fn.min<number | null>('due_at_ms').as('next'))
        .where('state', '<>', sql.lit('done'))
        .executeTakeFirstOrThrow();
      return next ?? undefined;
    },
    /** Counts unfinished jobs, and returns when the next becomes due or its lease expires. */
    async getBacklog(): Promise<{ count: number; nextDueAtMs: number | undefined }> {
      const { count, next } = await directory.reader
        .selectFrom('jobs')
        .select(({ fn }) => [
          fn.countAll<number>().as('count'),
          fn.min<number | null>('due_at_ms').as('next'),
        ])
        .where('state', '<>', sql.lit('done'))
        .executeTakeFirstOrThrow();
      return { count, nextDueAtMs: next ?? undefined };
    },
  };
}

export type JobStore = ReturnType<typeof createJobStore>;

async function releaseAll({ directory, write }: Connections, nowMs: number): Promise<number> {
  const early = await directory.reader
    .selectFrom('jobs')
    .select('owner_id')
    .distinct()
    .where('state', '<>', sql.lit('done'))
    .where((eb) => eb.or([eb('state', '=', 'taken'), eb('due_at_ms', '>', nowMs)]))
    .execute();
  let count = 0;
  for (const { owner_id: ownerId } of early) {
    count += await write(ownerId, (db) => releaseOfOwner(db, ownerId, nowMs));
  }
  return count;
}

async function releaseOfOwner(
  db: WriteTransaction,
  ownerId: string,
  nowMs: number,
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set({ state: 'queued', worker: null, due_at_ms: nowMs })
    .where('owner_id', '=', ownerId)
    .where('state', '<>', sql.lit('done'))
    .where((eb) => eb.or([eb('state', '=', 'taken'), eb('due_at_ms', '>', nowMs)]))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

interface TakeRequest {
  worker: string;
  nowMs: number;
  leaseMs: number;
  limit: number;
  choose: ChooseJobs;
}

/** Takes the jobs that are due first, in a transaction for each owner. */
async function take(connections: Connections, request: TakeRequest): Promise<Job[]> {
  const { nowMs, limit } = request;
  const due = await connections.directory.reader
    .selectFrom('jobs')
    .select('owner_id')
    .where('state', '<>', sql.lit('done'))
    .where('due_at_ms', '<=', nowMs)
    .orderBy('due_at_ms')
    .orderBy('id')
    .limit(limit)
    .execute();
  const taken: Job[] = [];
  for (const [ownerId, { length }] of Map.groupBy(due, (row) => row.owner_id)) {
    const ofOwner = { ...request, ownerId, limit: length, taken };
    taken.push(...(await connections.write(ownerId, (db) => takeOf(db, connections, ofOwner))));
  }
  return taken;
}

interface OwnerTakeRequest extends TakeRequest {
  ownerId: string;
  taken: readonly Job[];
}

/** Takes due jobs of one owner, except those that another process is taking. */
async function takeOf(
  db: WriteTransaction,
  { dialect }: Connections,
  { ownerId, worker, nowMs, leaseMs, limit, choose, taken }: OwnerTakeRequest,
): Promise<readonly Job[]> {
  const due = await db
    .selectFrom('jobs')
    .select(['id', 'owner_id', 'session_key', 'definition', 'attempts'])
    .where('owner_id', '=', ownerId)
    .where('state', '<>', sql.lit('done'))
    .where('due_at_ms', '<=', nowMs)
    .orderBy('due_at_ms')
    .orderBy('id')
    .limit(limit)
    // SQLite has one writer at a time.
    .$if(dialect === 'postgres', (query) => query.forUpdate().skipLocked())
    .execute();
  if (due.length === 0) return [];
  const sessions = await db
    .selectFrom('sessions')
    .select(['key', 'id'])
    .where('owner_id', '=', ownerId)
    .where('key', 'in', [...new Set(due.map((row) => row.session_key))])
    .execute();
  const idByKey = new Map(sessions.map(({ key, id }) => [key, id]));
  const jobs = toJobs(
    due.map((row) => ({ ...row, session_id: idByKey.get(row.session_key) ?? '' })),
  );
  const chosen = choose(jobs, taken);
  await updateJobs(db, chosen, {
    state: 'taken',
    worker,
    due_at_ms: nowMs + leaseMs,
    attempts: sql<number>`attempts + 1`,
  });
  return chosen;
}

interface FinishRequest {
  worker: string;
  finished: readonly FinishedJob[];
  atMs: number;
}

/**
 * Writes outcomes with a number of statements that does not depend on the number of jobs. Returns for each
 * job whether the worker still held it; the other outcomes are discarded.
 */
async function finishAll(
  db: WriteTransaction,
  dialect: Dialect,
  { worker, finished, atMs }: FinishRequest,
): Promise<boolean[]> {
  const jobs = finished.map(({ job }) => job);
  // Of two transactions that finish the last two jobs of a session, each would see the other unfinished.
  const keys = jobs.map(({ sessionKey }) => sessionKey);
  const sessions = await lockScoredSessions(db, dialect, keys);
  const held = await lockHeld(db, dialect, { worker, jobs });
  await updateJobs(db, held, { state: 'done' });
  const rowById = new Map(held.map((row) => [row.id, row]));
  const outcomes = finished.flatMap(({ job, outcome }) => {
    const row = rowById.get(job.id);
    return row ? { ...outcome, sessionKey: row.session_key, position: row.position } : [];
  });
  await addOutcomes(db, { sessions, outcomes, atMs });
  return jobs.map(({ id }) => rowById.has(id));
}

/** A session to score. */
interface UnscoredSession {
  key: number;
  ownerId: string;
  evals: readonly EvalDefinition[];
  outcomes: readonly unknown[];
}

/**
 * Queues one job for each distinct eval of each session. Returns their number by the key of the
 * session.
 */
export async function queueJobs(
  insertion: Insertion,
  sessions: readonly UnscoredSession[],
  dueAtMs: number,
): Promise<ReadonlyMap<number, number>> {
  const rows = sessions.flatMap(({ key, ownerId, evals, outcomes }) =>
    [...new Map(evals.map((definition) => [definition.id, definition]))].map(
      ([id, definition], nth) => ({
        owner_id: ownerId,
        session_key: key,
        eval_id: id,
        position: outcomes.length + nth,
        definition: JSON.stringify(definition),
        worker: null,
        due_at_ms: dueAtMs,
      }),
    ),
  );
  await insertRows(insertion, 'jobs', rows);
  const bySession = Map.groupBy(rows, (row) => row.session_key);
  return new Map(Array.from(bySession, ([key, { length }]) => [key, length]));
}

interface HeldRow {
  id: number;
  attempts: number;
  session_key: number;
  position: number;
}

/** Returns the jobs that the worker still holds with the same lease, and locks them until the transaction ends. */
async function lockHeld(
  db: WriteTransaction,
  dialect: Dialect,
  { worker, jobs }: { worker: string; jobs: readonly Job[] },
): Promise<HeldRow[]> {
  const attemptById = new Map(jobs.map(({ id, attempt }) => [id, attempt]));
  const rows = await db
    .selectFrom('jobs')
    .select(['id', 'attempts', 'session_key', 'position'])
    .where('id', 'in', [...attemptById.keys()])
    .where('state', '=', 'taken')
    .where('worker', '=', worker)
    // With different orders, two transactions could wait for each other.
    .orderBy('id')
    .$if(dialect === 'postgres', (query) => query.forUpdate())
    .execute();
  return rows.filter(({ id, attempts }) => attempts === attemptById.get(id));
}

/** Updates jobs that the transaction has locked. */
async function updateJobs(
  db: WriteTransaction,
  jobs: readonly { id: number }[],
  changes: UpdateObject<Tables, 'jobs'>,
): Promise<void> {
  if (jobs.length === 0) return;
  const ids = jobs.map(({ id }) => id);
  await db.updateTable('jobs').set(changes).where('id', 'in', ids).execute();
}

interface DueRow {
  id: number;
  owner_id: string;
  session_id: string;
  session_key: number;
  definition: string;
  attempts: number;
}

/** Returns jobs as their next worker gets them. Those with the same definition share one object. */
function toJobs(rows: readonly DueRow[]): Job[] {
  const definitions = new Map<string, EvalDefinition>();
  return rows.map((row) => {
    const text = row.definition;
    const definition = definitions.get(text) ?? (JSON.parse(text) as EvalDefinition);
    definitions.set(text, definition);
    return {
      id: row.id,
      ownerId: row.owner_id,
      sessionId: row.session_id,
      sessionKey: row.session_key,
      definition,
      attempt: row.attempts + 1,
    };
  });
}
