import { sql } from 'kysely';
import type { EvalDefinition } from '../../contract/index.ts';
import type { Connections, WriteTransaction } from './connect.ts';
import { insertOutcomes, type PlacedOutcome } from './outcomes.ts';
import type { FinishedJob, Job, JobStore } from './queue.ts';

/**
 * Evals that are to score sessions. A job is
 *
 *     queued -- take, once it is due --> taken -- finish --> done
 *        ^                                |  \__ take by another, once the lease has ended; renew
 *        |                                |      puts that off
 *        +------- giveBack, freeAll ------+
 *
 * Each taking raises `attempts`. Who finishes or gives back must be the worker, and it must be the
 * attempt, of the last taking: a worker that lost its lease, even to itself, changes nothing.
 */
export function jobStore({ reader, write }: Connections): JobStore {
  return {
    take: (worker, nowMs, leaseMs, limit) =>
      write((db) => take(db, { worker, nowMs, leaseMs, limit })),
    renew: (worker, jobs, untilMs) =>
      write(async (db) => {
        for (const job of jobs) {
          await taken(db, worker, job).set({ due_at_ms: untilMs }).execute();
        }
      }),
    finish: (worker, job, outcome, atMs) =>
      write(async (db) => {
        const [written = false] = await finishAll(db, {
          worker,
          finished: [{ job, outcome }],
          atMs,
        });
        return written;
      }),
    finishAll: (worker, finished, atMs) => write((db) => finishAll(db, { worker, finished, atMs })),
    release: (worker, job, dueAtMs) =>
      write(async (db) => {
        await taken(db, worker, job)
          .set({ state: 'queued', worker: null, due_at_ms: dueAtMs })
          .execute();
      }),
    releaseAll: (nowMs) =>
      write(async (db) => {
        const { numUpdatedRows } = await db
          .updateTable('jobs')
          .set({ state: 'queued', worker: null, due_at_ms: 0 })
          .where('state', '<>', sql.lit('done'))
          .where((eb) => eb.or([eb('state', '=', 'taken'), eb('due_at_ms', '>', nowMs)]))
          .executeTakeFirst();
        return Number(numUpdatedRows);
      }),
    async findNextDueAtMs() {
      // The first entry of an index; a count would read them all.
      const { next } = await reader
        .selectFrom('jobs')
        .select(({ fn }) => fn.min<number | null>('due_at_ms').as('next'))
        .where('state', '<>', sql.lit('done'))
        .executeTakeFirstOrThrow();
      return next ?? undefined;
    },
    async getBacklog() {
      const { count, next } = await reader
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

interface Taking {
  worker: string;
  nowMs: number;
  leaseMs: number;
  limit: number;
}

async function take(
  db: WriteTransaction,
  { worker, nowMs, leaseMs, limit }: Taking,
): Promise<Job[]> {
  const due = await db
    .selectFrom('jobs')
    .innerJoin('sessions', 'sessions.key', 'jobs.session_key')
    .select(['jobs.id', 'jobs.owner_id', 'sessions.id as session_id', 'definition', 'attempts'])
    .where('jobs.state', '<>', sql.lit('done'))
    .where('due_at_ms', '<=', nowMs)
    .orderBy('due_at_ms')
    .orderBy('jobs.id')
    .limit(limit)
    .execute();
  if (due.length === 0) return [];
  const ids = due.map(({ id }) => id);
  await db
    .updateTable('jobs')
    .set(({ eb }) => ({
      ...({ state: 'taken', worker, due_at_ms: nowMs + leaseMs } as const),
      attempts: eb('attempts', '+', 1),
    }))
    .where('id', 'in', ids)
    .execute();
  return due.map(toJob);
}

interface Finishing {
  worker: string;
  finished: readonly FinishedJob[];
  atMs: number;
}

/** Which of them were this worker's still; the others leave no trace. */
async function finishAll(
  db: WriteTransaction,
  { worker, finished, atMs }: Finishing,
): Promise<boolean[]> {
  const written: boolean[] = [];
  const bySession = new Map<number, { ownerId: string; outcomes: PlacedOutcome[] }>();
  for (const { job, outcome } of finished) {
    const done = await taken(db, worker, job)
      .set({ state: 'done' })
      .returning(['session_key', 'position'])
      .executeTakeFirst();
    written.push(done !== undefined);
    if (!done) continue;
    const { session_key: key, position } = done;
    const session = bySession.get(key) ?? { ownerId: job.ownerId, outcomes: [] };
    bySession.set(key, session);
    session.outcomes.push({ ...outcome, position });
  }
  for (const [key, { ownerId, outcomes }] of bySession) {
    await insertOutcomes(db, { key, ownerId }, outcomes, atMs);
    await completeSession(db, key);
  }
  return written;
}

/** Queues a job for each eval, an eval named twice once; how many there are now. */
export async function queueJobs(
  db: WriteTransaction,
  session: { key: number; ownerId: string },
  evals: readonly EvalDefinition[],
  { dueAtMs, position }: { dueAtMs: number; position: number },
): Promise<number> {
  const byId = new Map(evals.map((definition) => [definition.id, definition]));
  const rows = [...byId].map(([id, definition], nth) => ({
    owner_id: session.ownerId,
    session_key: session.key,
    eval_id: id,
    position: position + nth,
    definition: JSON.stringify(definition),
    worker: null,
    due_at_ms: dueAtMs,
  }));
  if (rows.length > 0) await db.insertInto('jobs').values(rows).execute();
  return rows.length;
}

/** The update of a job that this worker holds by this very taking. */
function taken(db: WriteTransaction, worker: string, job: Job) {
  return db
    .updateTable('jobs')
    .where('id', '=', job.id)
    .where('state', '=', 'taken')
    .where('worker', '=', worker)
    .where('attempts', '=', job.attempt);
}

/** A session whose last job is done is completed, whatever came out; one that ended stays as it is. */
async function completeSession(db: WriteTransaction, sessionKey: number): Promise<void> {
  await db
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
    .execute();
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
