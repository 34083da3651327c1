import type { Connections, WriteTransaction } from './connections.ts';
import { findOrInsertEvalSet } from './names.ts';
import type { Dialect } from './schema/table.ts';

/** Sessions that one transaction counts, so that others do not wait long for it. */
const SESSIONS_MAX = 250;

/**
 * Counts sessions that an earlier version stored. Counts a part in one transaction. Returns whether
 * there can be more. After an interruption, the next call continues.
 */
export const countStoredSessions = (
  { dialect, write }: Connections,
  ownerId: string,
): Promise<boolean> => write(ownerId, (db) => countPart(db, ownerId, dialect));

async function countPart(
  db: WriteTransaction,
  ownerId: string,
  dialect: Dialect,
): Promise<boolean> {
  const kinds = ['production', 'simulation'] as const;
  const uncounted = await db
    .selectFrom('sessions')
    .select('key')
    .where('owner_id', '=', ownerId)
    // With both columns, the index of these sessions is used.
    .where('kind', 'in', kinds)
    .where('eval_set_key', 'is', null)
    // Scoring counts them when it completes them.
    .where('status', '<>', 'evaluating')
    .limit(SESSIONS_MAX)
    // Other processes count others.
    .$if(dialect === 'postgres', (query) => query.forUpdate().skipLocked())
    .execute();
  if (uncounted.length === 0) return false;
  const keys = uncounted.map(({ key }) => key);
  const rows = await db
    .selectFrom('outcomes')
    .select(['session_key', 'eval_name_key'])
    .where('session_key', 'in', keys)
    .where('outcome', '<>', 'error')
    .execute();
  const bySession = Map.groupBy(rows, (row) => row.session_key);
  const bySet = new Map<number, number[]>();
  for (const key of keys) {
    const evals = bySession.get(key)?.map((row) => row.eval_name_key) ?? [];
    const set = await findOrInsertEvalSet(db, ownerId, evals);
    bySet.set(set, [...(bySet.get(set) ?? []), key]);
  }
  for (const [set, ofSet] of bySet) {
    await db.updateTable('sessions').set({ eval_set_key: set }).where('key', 'in', ofSet).execute();
  }
  return true;
}
