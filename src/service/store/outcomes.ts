import { sql } from 'kysely';
import type { Connections, WriteTransaction } from './connect.ts';
import { findOrInsertEvalName } from './names.ts';
import type { Outcome } from './store.ts';

// SQLite takes 32766 values in a statement: 32 a row at the most.
const outcomesAtOnce = 1000;

/** An outcome, and where it stands among those of its session. */
export type PlacedOutcome = Outcome & { position: number };

/**
 * Keeps outcomes of a session and counts anew. One of an eval that has an outcome already changes
 * nothing: what was found first stands.
 */
export async function insertOutcomes(
  db: WriteTransaction,
  session: { key: number; ownerId: string },
  outcomes: readonly PlacedOutcome[],
  atMs: number | null,
): Promise<void> {
  const rows = [];
  for (const { evalId, evalName, required, ...found } of outcomes) {
    rows.push({
      ...found,
      session_key: session.key,
      eval_id: evalId,
      eval_name_key: await findOrInsertEvalName(db, session.ownerId, evalName),
      ...{ required: required ? 1 : 0, at_ms: atMs },
    });
  }
  for (let from = 0; from < rows.length; from += outcomesAtOnce) {
    await db
      .insertInto('outcomes')
      .values(rows.slice(from, from + outcomesAtOnce))
      .onConflict((conflict) => conflict.columns(['session_key', 'eval_id']).doNothing())
      .execute();
  }
  const counted = (which: ReturnType<typeof sql<boolean>>) =>
    sql<number>`(select count(*) from outcomes where session_key = ${session.key} and ${which})`;
  await db
    .updateTable('sessions')
    .set({
      total: counted(sql`outcome <> 'error'`),
      passed: counted(sql`outcome = 'pass'`),
      failed: counted(sql`outcome = 'fail'`),
    })
    .where('key', '=', session.key)
    .execute();
}

/** All outcomes of some sessions, by the key of the session, in the order of the evals. */
export async function listOutcomes(
  db: Connections['reader'],
  sessionKeys: readonly number[],
): Promise<Map<number, Outcome[]>> {
  if (sessionKeys.length === 0) return new Map();
  const rows = await db
    .selectFrom('outcomes')
    .innerJoin('eval_names', 'eval_names.key', 'outcomes.eval_name_key')
    .select(['session_key', 'eval_id', 'eval_names.name', 'category', 'type'])
    .select(['outcome', 'required', 'reasoning'])
    .where('session_key', 'in', sessionKeys)
    .orderBy('session_key')
    .orderBy('position')
    .orderBy('eval_id')
    .execute();
  const bySession = new Map<number, Outcome[]>();
  for (const row of rows) {
    const { session_key: key, eval_id: evalId, name: evalName, required, ...rest } = row;
    const outcomes = bySession.get(key) ?? [];
    bySession.set(key, outcomes);
    outcomes.push({ evalId, evalName, ...rest, required: required === 1 });
  }
  return bySession;
}
