import type { EvalDefinition } from '../../contract/index.ts';
import { sql } from 'kysely';
import type { Connections, Reader, WriteTransaction } from './connections.ts';
import type { SessionKind } from './records.ts';

/** The newest outcomes of an eval. */
export interface RecentOutcomes {
  outcomes: number;
  passed: number;
  /** Whether other versions of the eval have outcomes, too. */
  hasOtherVersions: boolean;
}

/** Creates the store of evals. */
export function createEvalStore({ reader, read, write }: Connections) {
  const list = async (ownerId: string): Promise<EvalDefinition[]> => {
    const rows = await reader(ownerId)
      .selectFrom('evals')
      .select('definition')
      .where('owner_id', '=', ownerId)
      .orderBy('key')
      .execute();
    return rows.map(({ definition }) => JSON.parse(definition) as EvalDefinition);
  };
  return {
    /** Adds an eval, or replaces the one with the same id. */
    put: (ownerId: string, definition: EvalDefinition): Promise<void> =>
      write(ownerId, (db) => putEval(db, ownerId, definition)),
    list,
    /** Deletes an eval, and returns whether it existed. The settings may still refer to it. */
    remove: (ownerId: string, id: string): Promise<boolean> =>
      write(ownerId, async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('evals')
          .where('owner_id', '=', ownerId)
          .where('id', '=', id)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
    /**
     * Counts the newest outcomes that are not errors, at most `limit` for each eval, and how many of them
     * passed, by the id of the eval. Outcomes that were seeded without an id belong to the eval with the
     * same name. Outcomes of other versions of the eval do not count. An eval without outcomes is missing.
     */
    countRecentOutcomes: (
      ownerId: string,
      evals: readonly { id: string; name: string; version: string }[],
      limit: number,
    ): Promise<Map<string, RecentOutcomes>> =>
      read(ownerId, async (db) => {
        const counts = new Map<string, RecentOutcomes>();
        for (const { id, ...named } of evals) {
          const recent = await countRecentOutcomes(db, { ownerId, id, ...named, limit });
          if (recent.outcomes > 0 || recent.hasOtherVersions) counts.set(id, recent);
        }
        return counts;
      }),
    /** Returns when the newest outcome of each eval that is no error was written, by its id. */
    findJudgedAt: (ownerId: string, evalIds: readonly string[]): Promise<Map<string, number>> =>
      read(ownerId, async (db) => {
        const found = new Map<string, number>();
        for (const id of evalIds) found.set(id, await findJudgedAt(db, ownerId, id));
        return found;
      }),
  };
}

export type EvalStore = ReturnType<typeof createEvalStore>;

/** How many of the newest outcomes of an eval are searched for the one that was written last. */
const WRITTEN_LAST_MAX = 20;

/** Returns when an outcome of the newest sessions of an eval was written last; 0 without one. */
async function findJudgedAt(db: Reader, ownerId: string, evalId: string): Promise<number> {
  const names = await db
    .selectFrom('eval_names')
    .select('key')
    .where('owner_id', '=', ownerId)
    .where('eval_id', '=', evalId)
    .execute();
  let newestMs = 0;
  for (const { key } of names) {
    for (const kind of KINDS) {
      const rows = await newestOutcomes(db, key, kind, WRITTEN_LAST_MAX).select('at_ms').execute();
      newestMs = Math.max(newestMs, ...rows.map((row) => row.at_ms ?? 0));
    }
  }
  return newestMs;
}

const KINDS = ['production', 'simulation'] as const;

/** Reads the outcomes of the newest sessions that an eval of this name passed or failed. */
const newestOutcomes = (db: Reader, key: number, kind: SessionKind, limit: number) =>
  db
    .selectFrom('outcomes')
    .where('eval_name_key', '=', key)
    .where('kind', '=', kind)
    // SQLite uses a partial index only if the query repeats its condition.
    .where('outcome', '<>', sql.lit('error'))
    .orderBy('started_at_ms', 'desc')
    .orderBy('session_key', 'desc')
    .limit(limit);

/** Reads at most `limit` entries of an index for each name of an eval, so that the cost is bounded. */
async function countRecentOutcomes(
  db: Reader,
  {
    ownerId,
    id,
    name,
    version,
    limit,
  }: { ownerId: string; id: string; name: string; version: string; limit: number },
): Promise<RecentOutcomes> {
  const versions = await db
    .selectFrom('eval_names')
    .select(['key', 'version as ofVersion'])
    .where('owner_id', '=', ownerId)
    .where((eb) => eb.or([eb('eval_id', '=', id), eb.and({ eval_id: name, name })]))
    .execute();
  // Uploaded outcomes have no version.
  const keys = versions.filter(({ ofVersion }) => [version, ''].includes(ofVersion));
  const rows = [];
  for (const { key } of keys) {
    for (const kind of KINDS) {
      const ofName = await newestOutcomes(db, key, kind, limit)
        .select(['started_at_ms', 'session_key', 'outcome'])
        .execute();
      rows.push(...ofName);
    }
  }
  const passed = rows
    .sort(
      (left, right) =>
        right.started_at_ms - left.started_at_ms || right.session_key - left.session_key,
    )
    .slice(0, limit)
    .filter(({ outcome }) => outcome === 'pass').length;
  return {
    outcomes: Math.min(rows.length, limit),
    passed,
    hasOtherVersions: keys.length < versions.length,
  };
}

/** Adds an eval, or replaces the one with the same id. */
export async function putEval(
  db: WriteTransaction,
  ownerId: string,
  definition: EvalDefinition,
): Promise<void> {
  const { id } = definition;
  const row = { owner_id: ownerId, id, definition: JSON.stringify(definition) };
  await db
    .insertInto('evals')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['owner_id', 'id']).doUpdateSet({ definition: row.definition }),
    )
    .execute();
}
