import type { EvalDefinition, LiveSettings } from '../../contract/index.ts';
import { sql } from 'kysely';
import type { Connections, Reader, WriteTransaction } from './connections.ts';
import type { RecentOutcomes, SessionKind } from './records.ts';

/** The live settings before the first change (spec 2.2). */
const defaultSettings: Required<LiveSettings> = { evals: [], run_name: 'Live traces' };

/** Creates the store of evals and of the live settings. */
export function createEvalStore({ reader, read, write, writeAlone }: Connections) {
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
     * Counts the newest outcomes that are no errors, at most `limit` for each eval, and how many of them
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
    getSettings: (ownerId: string): Promise<Required<LiveSettings>> =>
      getSettings(reader(ownerId), ownerId),
    /** Returns until when the problems on the overview were dismissed; 0 if they never were. */
    async getDismissedAt(ownerId: string): Promise<number> {
      const row = await reader(ownerId)
        .selectFrom('settings')
        .select('problems_dismissed_at_ms')
        .where('owner_id', '=', ownerId)
        .executeTakeFirst();
      return row?.problems_dismissed_at_ms ?? 0;
    },
    /** Dismisses the problems on the overview up to a time; 0 shows all of them again. */
    dismissProblems: (ownerId: string, atMs: number): Promise<void> =>
      writeAlone(ownerId, async (db) => {
        await updateSettings(db, ownerId, {});
        await db
          .updateTable('settings')
          .set({ problems_dismissed_at_ms: atMs })
          .where('owner_id', '=', ownerId)
          .execute();
      }),
    /** Changes the settings that are present in `changes`. */
    updateSettings: (ownerId: string, changes: LiveSettings): Promise<void> =>
      writeAlone(ownerId, (db) => updateSettings(db, ownerId, changes)),
  };
}

export type EvalStore = ReturnType<typeof createEvalStore>;

/** The newest outcomes of an eval of which one was probably written last. */
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
    ...{ outcomes: Math.min(rows.length, limit), passed },
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

/** Changes the settings that are present in `changes`. */
export async function updateSettings(
  db: WriteTransaction,
  ownerId: string,
  changes: LiveSettings,
): Promise<void> {
  const settings = { ...(await getSettings(db, ownerId)), ...changes };
  const row = { evals: JSON.stringify(settings.evals), run_name: settings.run_name };
  await db
    .insertInto('settings')
    .values({ owner_id: ownerId, ...row })
    .onConflict((conflict) => conflict.column('owner_id').doUpdateSet(row))
    .execute();
}

async function getSettings(db: Reader, ownerId: string): Promise<Required<LiveSettings>> {
  const row = await db
    .selectFrom('settings')
    .select(['evals', 'run_name'])
    .where('owner_id', '=', ownerId)
    .executeTakeFirst();
  if (!row) return defaultSettings;
  const evals = JSON.parse(row.evals) as Required<LiveSettings>['evals'];
  return { evals, run_name: row.run_name };
}
