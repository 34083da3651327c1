import type { OutcomeEvidence } from '../../contract/index.ts';
import { decideVerdict } from '../sessions/verdict.ts';
import type { Reader, WriteTransaction } from './connections.ts';
import { insertRows, type Insertion } from './insert-rows.ts';
import { findOrInsertEvalName, findOrInsertEvalSet } from './names.ts';
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

/** Updates the counts and the verdict of a session. Call it when its outcomes or its status changed. */
export async function updateResults(db: WriteTransaction, sessionKey: number): Promise<void> {
  const { status, owner_id: ownerId } = await db
    .selectFrom('sessions')
    .select(['status', 'owner_id'])
    .where('key', '=', sessionKey)
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('outcomes')
    .select(['outcome', 'required', 'eval_name_key'])
    .where('session_key', '=', sessionKey)
    .execute();
  const outcomes = rows.map(({ outcome, required }) => ({ outcome, required: required === 1 }));
  const results = toResults(status, outcomes);
  const evals = rows.filter(isScore).map((row) => row.eval_name_key);
  const evalSetKey = isBeingScored(status, rows)
    ? null
    : await findOrInsertEvalSet(db, ownerId, evals);
  await db
    .updateTable('sessions')
    .set({ ...results, eval_set_key: evalSetKey })
    .where('key', '=', sessionKey)
    .execute();
  if (results.failed === 0) return;
  await db
    .updateTable('outcomes')
    .set({ session_failed: 1 })
    .where('session_key', '=', sessionKey)
    .where('session_failed', '=', 0)
    .execute();
}

/** Whether an outcome passed or failed, so that filters by its eval find the session. */
const isScore = ({ outcome }: Pick<Outcome, 'outcome'>): boolean => outcome !== 'error';

/** Whether only some evals of a session have finished. */
const isBeingScored = (status: SessionStatus, outcomes: readonly unknown[]): boolean =>
  status === 'evaluating' && outcomes.length > 0;

/** Returns the `eval_set_key` of a new session with these outcomes. */
export async function findEvalSetKey(
  db: WriteTransaction,
  { ownerId, status }: { ownerId: string; status: SessionStatus },
  outcomes: readonly Outcome[],
): Promise<number | null> {
  if (isBeingScored(status, outcomes)) return null;
  const keys = [];
  for (const { evalId: id, evalName: name, evalVersion: version = '' } of outcomes.filter(
    isScore,
  )) {
    keys.push(await findOrInsertEvalName(db, ownerId, { id, name, version }));
  }
  return findOrInsertEvalSet(db, ownerId, keys);
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
