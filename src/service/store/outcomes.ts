import type { OutcomeEvidence } from '../../contract/index.ts';
import { decideVerdict } from '../sessions/verdict.ts';
import type { Reader, WriteTransaction } from './connections.ts';
import { insertRows, type Insertion } from './insert-rows.ts';
import { findOrInsertEvalName, findOrInsertEvalSet } from './names.ts';
import type { Outcome, SessionKind, SessionStatus } from './records.ts';
import type { Dialect } from './schema/table.ts';

/** An outcome with its position among the outcomes of its session. */
type PlacedOutcome = Outcome & { position: number };

/** What refers to the name and the version of its eval by the key of their row. */
interface Named {
  evalNameKey: number;
}

/** Adds the keys of their evals to outcomes of one owner. */
export async function nameEvals<Scored extends Outcome>(
  db: WriteTransaction,
  ownerId: string,
  outcomes: readonly Scored[],
): Promise<(Scored & Named)[]> {
  const named = [];
  for (const outcome of outcomes) {
    const { evalId: id, evalName: name, evalVersion: version = '' } = outcome;
    const evalNameKey = await findOrInsertEvalName(db, ownerId, { id, name, version });
    named.push({ ...outcome, evalNameKey });
  }
  return named;
}

/** A session that gets outcomes. */
interface ScoredRow {
  key: number;
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
  outcomes: readonly { session: ScoredRow; outcome: PlacedOutcome & Named }[],
  atMs: number | null,
): Promise<void> {
  const rows = outcomes.map(({ session, outcome }) => {
    const { position, category, type, outcome: result, required, reasoning, evidence } = outcome;
    return {
      session_key: session.key,
      eval_id: outcome.evalId,
      eval_name_key: outcome.evalNameKey,
      position,
      category,
      type,
      outcome: result,
      reasoning,
      required: required ? 1 : 0,
      at_ms: atMs,
      evidence: evidence ? JSON.stringify(evidence) : null,
      run_key: session.run_key,
      simulation_key: session.simulation_key,
      kind: session.kind,
      started_at_ms: session.started_at_ms,
      session_failed: session.failed > 0 ? 1 : 0,
    };
  });
  await insertRows(insertion, 'outcomes', rows, { skipExisting: true });
}

/** An outcome of a job that is done. */
interface JobOutcome extends PlacedOutcome {
  sessionKey: number;
}

/**
 * Returns sessions that jobs score, and locks them until the transaction ends, in the order of their keys:
 * with different orders, two transactions could wait for each other.
 */
export function lockScoredSessions(
  db: WriteTransaction,
  dialect: Dialect,
  keys: readonly number[],
) {
  return (
    db
      .selectFrom('sessions')
      .select(['key', 'run_key', 'simulation_key', 'kind', 'started_at_ms', 'status', 'failed'])
      .select('owner_id')
      .where('key', 'in', [...new Set(keys)])
      .orderBy('key')
      // SQLite has one writer at a time.
      .$if(dialect === 'postgres', (query) => query.forUpdate())
      .execute()
  );
}

type LockedSession = Awaited<ReturnType<typeof lockScoredSessions>>[number];

/**
 * Adds outcomes of jobs that are done to sessions that are locked, and updates these: their counts, their
 * verdicts, and their status.
 */
export async function addOutcomes(
  db: WriteTransaction,
  scored: {
    sessions: readonly LockedSession[];
    outcomes: readonly JobOutcome[];
    atMs: number;
  },
): Promise<void> {
  const added = Map.groupBy(scored.outcomes, ({ sessionKey }) => sessionKey);
  const sessions = scored.sessions.filter(({ key }) => added.has(key));
  if (sessions.length === 0) return;
  const keys = sessions.map(({ key }) => key);
  const stored = await listResults(db, keys);
  const unfinished = await findUnfinished(db, keys);
  const changed = [];
  for (const { status: oldStatus, ...session } of sessions) {
    const earlier = stored.get(session.key) ?? [];
    const known = new Set(earlier.map(({ evalId }) => evalId));
    const fresh = await nameEvals(
      db,
      session.owner_id,
      (added.get(session.key) ?? []).filter(({ evalId }) => !known.has(evalId)),
    );
    const isCompleted = oldStatus === 'evaluating' && !unfinished.has(session.key);
    const status = isCompleted ? 'completed' : oldStatus;
    const all = [...earlier, ...fresh];
    const evalSet = await findEvalSetKey(db, { ownerId: session.owner_id, status }, all);
    const results = { status, ...toResults(status, all), eval_set_key: evalSet };
    const hasFailedNow = earlier.length > 0 && session.failed === 0 && results.failed > 0;
    changed.push({ ...session, failed: results.failed, fresh, results, hasFailedNow });
  }
  const rows = changed.flatMap(({ fresh, ...session }) =>
    fresh.map((outcome) => ({ session, outcome })),
  );
  await insertOutcomes({ db }, rows, scored.atMs);
  await markFailed(
    db,
    changed.filter(({ hasFailedNow }) => hasFailedNow),
  );
  // Many sessions have the same results.
  for (const same of Map.groupBy(changed, ({ results }) => JSON.stringify(results)).values()) {
    const sameKeys = same.map(({ key }) => key);
    const results = same[0]?.results ?? {};
    await db.updateTable('sessions').set(results).where('key', 'in', sameKeys).execute();
  }
}

/** Returns the stored outcomes of sessions by session key. */
async function listResults(db: Reader, keys: readonly number[]) {
  const rows = await db
    .selectFrom('outcomes')
    .select([
      'session_key',
      'eval_id as evalId',
      'eval_name_key as evalNameKey',
      'outcome',
      'required',
    ])
    .where('session_key', 'in', keys)
    .execute();
  return Map.groupBy(
    rows.map(({ required, ...row }) => ({ ...row, required: required === 1 })),
    (row) => row.session_key,
  );
}

/** Returns the keys of sessions that have jobs to do. The others complete, even if some jobs failed. */
async function findUnfinished(db: Reader, keys: readonly number[]): Promise<ReadonlySet<number>> {
  const jobs = await db
    .selectFrom('jobs')
    .select('session_key')
    .distinct()
    .where('session_key', 'in', keys)
    .where('state', '<>', 'done')
    .execute();
  return new Set(jobs.map((job) => job.session_key));
}

/** Marks the outcomes of sessions that fail now. */
async function markFailed(
  db: WriteTransaction,
  sessions: readonly { key: number }[],
): Promise<void> {
  if (sessions.length === 0) return;
  const keys = sessions.map(({ key }) => key);
  await db
    .updateTable('outcomes')
    .set({ session_failed: 1 })
    .where('session_key', 'in', keys)
    .where('session_failed', '=', 0)
    .execute();
}

/** Whether an outcome passed or failed, so that filters by its eval find the session. */
const isScore = ({ outcome }: Pick<Outcome, 'outcome'>): boolean => outcome !== 'error';

/** Whether only some evals of a session have finished. */
const isBeingScored = (status: SessionStatus, outcomes: readonly unknown[]): boolean =>
  status === 'evaluating' && outcomes.length > 0;

/** Returns the `eval_set_key` of a session with these outcomes. */
export async function findEvalSetKey(
  db: WriteTransaction,
  { ownerId, status }: { ownerId: string; status: SessionStatus },
  outcomes: readonly (Pick<Outcome, 'outcome'> & Named)[],
): Promise<number | null> {
  if (isBeingScored(status, outcomes)) return null;
  const scores = outcomes.filter(isScore);
  return findOrInsertEvalSet(
    db,
    ownerId,
    scores.map(({ evalNameKey }) => evalNameKey),
  );
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
