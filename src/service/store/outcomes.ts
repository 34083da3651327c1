import type { OutcomeEvidence } from '../../contract/index.ts';
import { decideVerdict } from '../domain/sessions.ts';
import type { Reader, WriteTransaction } from './connections.ts';
import { findOrInsertEvalName } from './names.ts';
import type { Outcome } from './store.ts';

// SQLite allows 32,766 parameters in a statement, which is 32 per row.
const ROWS_PER_INSERT = 1000;

/** An outcome with its position among the outcomes of its session. */
export type PlacedOutcome = Outcome & { position: number };

/** A session to which outcomes are added. */
interface ScoredRow {
  key: number;
  ownerId: string;
}

/**
 * Inserts outcomes of a session and updates the results of the session. The first outcome of an eval
 * stays: later ones change nothing.
 */
export async function insertOutcomes(
  db: WriteTransaction,
  session: ScoredRow,
  outcomes: readonly PlacedOutcome[],
  atMs: number | null,
): Promise<void> {
  const run = await db
    .selectFrom('sessions')
    .select(['run_key', 'simulation_key'])
    .where('key', '=', session.key)
    .executeTakeFirstOrThrow();
  const rows = [];
  for (const { evalId, evalName, required, evidence, ...rest } of outcomes) {
    rows.push({
      ...rest,
      session_key: session.key,
      eval_id: evalId,
      eval_name_key: await findOrInsertEvalName(db, session.ownerId, {
        id: evalId,
        name: evalName,
      }),
      required: required ? 1 : 0,
      at_ms: atMs,
      evidence: evidence ? JSON.stringify(evidence) : null,
      ...run,
    });
  }
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    await db
      .insertInto('outcomes')
      .values(rows.slice(from, from + ROWS_PER_INSERT))
      .onConflict((conflict) => conflict.columns(['session_key', 'eval_id']).doNothing())
      .execute();
  }
  await updateResults(db, session.key);
}

/** Updates the counts and the verdict of a session. Call it when its outcomes or its status changed. */
export async function updateResults(db: WriteTransaction, sessionKey: number): Promise<void> {
  const { status } = await db
    .selectFrom('sessions')
    .select('status')
    .where('key', '=', sessionKey)
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('outcomes')
    .select(['outcome', 'required'])
    .where('session_key', '=', sessionKey)
    .execute();
  const outcomes = rows.map(({ outcome, required }) => ({ outcome, required: required === 1 }));
  const count = (wanted: Outcome['outcome']): number =>
    outcomes.filter(({ outcome }) => outcome === wanted).length;
  const [passed, failed, errored] = [count('pass'), count('fail'), count('error')];
  await db
    .updateTable('sessions')
    .set({ total: passed + failed, passed, failed, errored })
    .set({ verdict: decideVerdict({ status, outcomes }) })
    .where('key', '=', sessionKey)
    .execute();
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
    .select(['session_key', 'outcomes.eval_id', 'eval_names.name', 'category', 'type'])
    .select(['outcome', 'required', 'reasoning', 'evidence'])
    .where('session_key', 'in', sessionKeys)
    .orderBy('session_key')
    .orderBy('position')
    .orderBy('outcomes.eval_id')
    .execute();
  const bySession = new Map<number, Outcome[]>();
  for (const row of rows) {
    const { session_key: key, eval_id: evalId, name: evalName, required, evidence, ...rest } = row;
    const outcomes = bySession.get(key) ?? [];
    bySession.set(key, outcomes);
    outcomes.push({
      ...{ evalId, evalName, ...rest, required: required === 1 },
      ...(evidence !== null && { evidence: JSON.parse(evidence) as OutcomeEvidence[] }),
    });
  }
  return bySession;
}
