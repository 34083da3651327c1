import type { OutcomeEvidence } from '../../contract/index.ts';
import { decideVerdict } from '../sessions/verdict.ts';
import type { Reader, WriteTransaction } from './connections.ts';
import { insertRows, type Insertion } from './insert-rows.ts';
import { findOrInsertEvalName } from './names.ts';
import type { Outcome, SessionKind, SessionStatus } from './records.ts';

/** An outcome with its position among the outcomes of its session. */
export type PlacedOutcome = Outcome & { position: number };

/** A session that gets outcomes. */
interface ScoredRow {
  key: number;
  ownerId: string;
  run_key: number | null;
  simulation_key: number | null;
  kind: SessionKind;
  started_at_ms: number;
  /** The number of its outcomes that fail. */
  failed: number;
}

/**
 * Inserts outcomes of sessions. The first outcome of an eval stays: later ones change nothing. It does
 * not update the results of the sessions.
 */
export async function insertOutcomes(
  insertion: Insertion,
  outcomes: readonly { session: ScoredRow; outcome: PlacedOutcome }[],
  atMs: number | null,
): Promise<void> {
  const rows = [];
  for (const { session, outcome } of outcomes) {
    const { evalId, evalName, evalVersion = '', required, evidence, ...rest } = outcome;
    rows.push({
      ...rest,
      session_key: session.key,
      eval_id: evalId,
      eval_name_key: await findOrInsertEvalName(insertion.db, session.ownerId, {
        id: evalId,
        name: evalName,
        version: evalVersion,
      }),
      required: required ? 1 : 0,
      at_ms: atMs,
      evidence: evidence ? JSON.stringify(evidence) : null,
      run_key: session.run_key,
      simulation_key: session.simulation_key,
      kind: session.kind,
      started_at_ms: session.started_at_ms,
      session_failed: session.failed > 0 ? 1 : 0,
    });
  }
  await insertRows(insertion, 'outcomes', rows, { skipExisting: true });
}

/** An outcome of a job that is done. */
interface JobOutcome extends PlacedOutcome {
  ownerId: string;
  sessionKey: number;
}

/**
 * Adds outcomes of jobs that are done, and updates their sessions: their counts, their verdicts, and, if
 * their last job is done, their status.
 */
export async function addOutcomes(
  db: WriteTransaction,
  outcomes: readonly JobOutcome[],
  atMs: number,
): Promise<void> {
  const keys = [...new Set(outcomes.map(({ sessionKey }) => sessionKey))];
  if (keys.length === 0) return;
  const added = Map.groupBy(outcomes, ({ sessionKey }) => sessionKey);
  const sessions = (await readResults(db, keys)).map(({ stored, ...row }) => {
    const known = new Set(stored.map(({ eval_id: evalId }) => evalId));
    const fresh = (added.get(row.key) ?? []).filter(({ evalId }) => !known.has(evalId));
    const earlier = stored.map(({ outcome, required }) => ({ outcome, required: required === 1 }));
    const results = { status: row.status, ...toResults(row.status, [...earlier, ...fresh]) };
    const isNewlyFailed = stored.length > 0 && row.failed === 0 && results.failed > 0;
    return { ...row, failed: results.failed, fresh, results, isNewlyFailed };
  });
  const inserted = sessions.flatMap(({ fresh, ...session }) =>
    fresh.map(({ ownerId, sessionKey: _, ...outcome }) => ({
      session: { ...session, ownerId },
      outcome,
    })),
  );
  await insertOutcomes({ db }, inserted, atMs);
  const newlyFailed = sessions.filter(({ isNewlyFailed }) => isNewlyFailed);
  if (newlyFailed.length > 0) {
    const failedKeys = newlyFailed.map(({ key }) => key);
    await db
      .updateTable('outcomes')
      .set({ session_failed: 1 })
      .where('session_key', 'in', failedKeys)
      .execute();
  }
  // Many sessions have the same results.
  for (const same of Map.groupBy(sessions, ({ results }) => JSON.stringify(results)).values()) {
    await db
      .updateTable('sessions')
      .set(same[0]?.results ?? {})
      .where(
        'key',
        'in',
        same.map(({ key }) => key),
      )
      .execute();
  }
}

/**
 * Returns sessions with their stored outcomes, and with the status that they now have: a session that is
 * being evaluated completes once all its jobs are done, even if some failed.
 */
async function readResults(db: WriteTransaction, keys: readonly number[]) {
  const sessions = await db
    .selectFrom('sessions')
    .select(['key', 'run_key', 'simulation_key', 'kind', 'started_at_ms', 'status', 'failed'])
    .where('key', 'in', keys)
    .execute();
  const stored = await db
    .selectFrom('outcomes')
    .select(['session_key', 'eval_id', 'outcome', 'required'])
    .where('session_key', 'in', keys)
    .execute();
  const jobs = await db
    .selectFrom('jobs')
    .select('session_key')
    .distinct()
    .where('session_key', 'in', keys)
    .where('state', '<>', 'done')
    .execute();
  const unfinished = new Set(jobs.map((job) => job.session_key));
  const storedByKey = Map.groupBy(stored, (row) => row.session_key);
  return sessions.map(({ status, ...session }) => ({
    ...session,
    status:
      status === 'evaluating' && !unfinished.has(session.key) ? ('completed' as const) : status,
    stored: storedByKey.get(session.key) ?? [],
  }));
}

/** Returns the counts and the verdict of a session. */
export function toResults(
  status: SessionStatus,
  outcomes: readonly Pick<Outcome, 'outcome' | 'required'>[],
) {
  const count = (wanted: Outcome['outcome']): number =>
    outcomes.filter(({ outcome }) => outcome === wanted).length;
  const [passed, failed, errored] = [count('pass'), count('fail'), count('error')];
  const verdict = decideVerdict({ status, outcomes });
  return { total: passed + failed, passed, failed, errored, verdict };
}

/** Returns the outcomes of each session, by session key, in the order of the evals. */
export async function listOutcomes(
  db: Reader,
  sessionKeys: readonly number[],
): Promise<Map<number, Outcome[]>> {
  if (sessionKeys.length === 0) return new Map();
  const rows = await db
    .selectFrom('outcomes')
    .innerJoin('eval_names', 'eval_names.key', 'outcomes.eval_name_key')
    .select(['session_key', 'outcomes.eval_id', 'eval_names.name', 'version', 'category', 'type'])
    .select(['outcome', 'required', 'reasoning', 'evidence'])
    .where('session_key', 'in', sessionKeys)
    .orderBy('session_key')
    .orderBy('position')
    .orderBy('outcomes.eval_id')
    .execute();
  const bySession = new Map<number, Outcome[]>();
  for (const row of rows) {
    const { session_key: key, eval_id: evalId, name: evalName, version, ...others } = row;
    const { required, evidence, ...rest } = others;
    const outcomes = bySession.get(key) ?? [];
    bySession.set(key, outcomes);
    outcomes.push({
      evalId,
      evalName,
      ...rest,
      required: required === 1,
      ...(version !== '' && { evalVersion: version }),
      ...(evidence !== null && { evidence: JSON.parse(evidence) as OutcomeEvidence[] }),
    });
  }
  return bySession;
}
