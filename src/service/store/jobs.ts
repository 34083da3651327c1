import { sql } from 'kysely';
import type { EvalDefinition } from '../../contract/index.ts';
import type { Connections, WriteTransaction } from './connections.ts';
import { insertRows, type Insertion } from './insert-rows.ts';
import { insertOutcomes, updateResults, type PlacedOutcome } from './outcomes.ts';
import type { Outcome } from './records.ts';
import type { Dialect } from './schema/table.ts';

/** One eval that has to score one session. */
export interface Job {
  id: number;
  ownerId: string;
  sessionId: string;
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
 * Creates the queue of scoring jobs. The states of a job:
 *
 *     queued --- take, once due ---> taken --- finish ---> done
 *       ^                              |
 *       +---- release, releaseAll -----+
 *
 * Taking a job gives the worker a lease that ends at `due_at_ms`; `renew` extends it. After that,
 * any worker can take the job again. A worker can lose its lease while it is still running, so every
 * write is fenced: each `take` increments `attempts`, and `renew`, `finish` and `release` change only
 * a job whose worker and attempt number match. A write from an earlier lease changes nothing.
 */
export function createJobStore(connections: Connections) {
  const { write, directory } = connections;
  return {
    /** Leases up to `limit` due jobs to a worker; no other worker gets them during the lease. */
    take: (worker: string, nowMs: number, leaseMs: number, limit: number): Promise<Job[]> =>
      take(connections, { worker, nowMs, leaseMs, limit }),
    /** Extends the leases to `untilMs`. Skips jobs that the worker no longer holds. */
    async renew(worker: string, jobs: readonly Job[], untilMs: number): Promise<void> {
      for (const [ownerId, ofOwner] of Map.groupBy(jobs, (job) => job.ownerId)) {
        await write(ownerId, async (db) => {
          for (const job of ofOwner.toSorted(compareIds)) {
            await updateLeased(db, worker, job).set({ due_at_ms: untilMs }).execute();
          }
        });
      }
    },
    /**
     * Writes the outcome of a job. With the last job of a session, completes the session in the same
     * transaction. Returns false, and writes nothing, if the worker has lost the lease.
     */
    finish: (worker: string, job: Job, outcome: Outcome, atMs: number): Promise<boolean> =>
      write(job.ownerId, async (db) => {
        const [written = false] = await finishAll(db, connections.dialect, {
          worker,
          finished: [{ job, outcome }],
          atMs,
        });
        return written;
      }),
    /** Writes the outcomes of several jobs of one owner in one transaction: if it fails, none is written. */
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
        await updateLeased(db, worker, job)
          .set({ state: 'queued', worker: null, due_at_ms: dueAtMs })
          .execute();
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
  const jobs: Job[] = [];
  for (const [ownerId, { length }] of Map.groupBy(due, (row) => row.owner_id)) {
    const ofOwner = { ...request, ownerId, limit: length };
    jobs.push(...(await connections.write(ownerId, (db) => takeOf(db, connections, ofOwner))));
  }
  return jobs;
}

/** Takes due jobs of one owner, except those that another process is taking. */
async function takeOf(
  db: WriteTransaction,
  { dialect }: Connections,
  { ownerId, worker, nowMs, leaseMs, limit }: TakeRequest & { ownerId: string },
): Promise<Job[]> {
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
  await db
    .updateTable('jobs')
    .set(({ eb }) => ({
      state: 'taken' as const,
      worker,
      due_at_ms: nowMs + leaseMs,
      attempts: eb('attempts', '+', 1),
    }))
    .where('owner_id', '=', ownerId)
    .where(
      'id',
      'in',
      due.map(({ id }) => id),
    )
    .execute();
  const sessions = await db
    .selectFrom('sessions')
    .select(['key', 'id'])
    .where('owner_id', '=', ownerId)
    .where(
      'key',
      'in',
      due.map((row) => row.session_key),
    )
    .execute();
  const idByKey = new Map(sessions.map(({ key, id }) => [key, id]));
  return due.map((row) => toJob({ ...row, session_id: idByKey.get(row.session_key) ?? '' }));
}

interface FinishRequest {
  worker: string;
  finished: readonly FinishedJob[];
  atMs: number;
}

/** Returns for each job whether the worker still held it; the other outcomes are discarded. */
async function finishAll(
  db: WriteTransaction,
  dialect: Dialect,
  { worker, finished, atMs }: FinishRequest,
): Promise<boolean[]> {
  // SQLite has one writer at a time.
  if (dialect === 'postgres') await lockSessions(db, finished);
  const written = new Set<Job>();
  const bySession = new Map<number, { ownerId: string; outcomes: PlacedOutcome[] }>();
  for (const { job, outcome } of finished.toSorted((a, b) => compareIds(a.job, b.job))) {
    const done = await updateLeased(db, worker, job)
      .set({ state: 'done' })
      .returning(['session_key', 'position'])
      .executeTakeFirst();
    if (!done) continue;
    written.add(job);
    const { session_key: key, position } = done;
    const session = bySession.get(key) ?? { ownerId: job.ownerId, outcomes: [] };
    bySession.set(key, session);
    session.outcomes.push({ ...outcome, position });
  }
  for (const [key, { ownerId, outcomes }] of bySession) {
    const row = await db
      .selectFrom('sessions')
      .select(['key', 'run_key', 'simulation_key', 'kind', 'started_at_ms', 'failed'])
      .where('key', '=', key)
      .executeTakeFirstOrThrow();
    const session = { ...row, ownerId };
    await insertOutcomes(
      { db },
      outcomes.map((outcome) => ({ session, outcome })),
      atMs,
    );
    await updateResults(db, key);
    await completeSession(db, key);
  }
  return finished.map(({ job }) => written.has(job));
}

/** The order in which transactions update several jobs: with different ones, two could wait for each other. */
const compareIds = (a: Job, b: Job): number => a.id - b.id;

/**
 * Locks the sessions of jobs, in the order of their keys, until the transaction ends. Otherwise, of two
 * transactions that finish the last two jobs of a session, each would see the other job unfinished.
 */
async function lockSessions(db: WriteTransaction, finished: readonly FinishedJob[]): Promise<void> {
  const keys = db
    .selectFrom('jobs')
    .select('session_key')
    .where(
      'id',
      'in',
      finished.map(({ job }) => job.id),
    );
  await db
    .selectFrom('sessions')
    .select('key')
    .where('key', 'in', keys)
    .orderBy('key')
    .forUpdate()
    .execute();
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

/** Starts an update that matches only if the worker still holds this lease of the job. */
function updateLeased(db: WriteTransaction, worker: string, job: Job) {
  return db
    .updateTable('jobs')
    .where('id', '=', job.id)
    .where('state', '=', 'taken')
    .where('worker', '=', worker)
    .where('attempts', '=', job.attempt);
}

/** Completes a session that is being evaluated once all its jobs are done, even if some failed. */
async function completeSession(db: WriteTransaction, sessionKey: number): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set({ status: 'completed' })
    .where('key', '=', sessionKey)
    .where('status', '=', 'evaluating')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('jobs')
            .select('id')
            .where('session_key', '=', sessionKey)
            .where('state', '<>', 'done'),
        ),
      ),
    )
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await updateResults(db, sessionKey);
}

interface DueRow {
  id: number;
  owner_id: string;
  session_id: string;
  definition: string;
  attempts: number;
}

function toJob({ id, owner_id, session_id, definition, attempts }: DueRow): Job {
  return {
    id,
    ownerId: owner_id,
    sessionId: session_id,
    definition: JSON.parse(definition) as EvalDefinition,
    attempt: attempts + 1,
  };
}
