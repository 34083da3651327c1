import type { EvalDefinition, LiveSettings } from '../../contract/index.ts';
import { sql } from 'kysely';
import type { Connections, Reader, WriteTransaction } from './connections.ts';
import type { EvalStore, RecentOutcomes } from './store.ts';

/** The live settings before the first change (spec 2.2). */
const defaultSettings: Required<LiveSettings> = { evals: [], run_name: 'Live traces' };

/** Creates the store of evals and of the live settings. */
export function createEvalStore({ reader, read, write, writeAlone }: Connections): EvalStore {
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
    put: (ownerId, definition) => write(ownerId, (db) => putEval(db, ownerId, definition)),
    list,
    remove: (ownerId, id) =>
      write(ownerId, async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('evals')
          .where('owner_id', '=', ownerId)
          .where('id', '=', id)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
    countRecentOutcomes: (ownerId, names, limit) =>
      read(ownerId, async (db) => {
        const counts = new Map<string, RecentOutcomes>();
        for (const name of new Set(names)) {
          const recent = await countRecentOutcomes(db, { ownerId, name, limit });
          if (recent.outcomes > 0) counts.set(name, recent);
        }
        return counts;
      }),
    getSettings: (ownerId) => getSettings(reader(ownerId), ownerId),
    updateSettings: (ownerId, changes) =>
      writeAlone(ownerId, (db) => updateSettings(db, ownerId, changes)),
  };
}

/** Reads at most `limit` entries of an index, so that many outcomes cost no more than a few. */
async function countRecentOutcomes(
  db: Reader,
  { ownerId, name, limit }: { ownerId: string; name: string; limit: number },
): Promise<RecentOutcomes> {
  const { outcomes, passed } = await db
    .selectFrom(
      db
        .selectFrom('outcomes')
        .select('outcome')
        .where('eval_name_key', '=', (eb) =>
          eb
            .selectFrom('eval_names')
            .select('key')
            .where('owner_id', '=', ownerId)
            .where('name', '=', name),
        )
        // SQLite uses a partial index only if the query repeats its condition.
        .where('outcome', '<>', sql.lit('error'))
        .orderBy('session_key', 'desc')
        .limit(limit)
        .as('recent'),
    )
    .select(({ fn }) => [
      fn.countAll<number>().as('outcomes'),
      sql<number | null>`sum(case when outcome = 'pass' then 1 else 0 end)`.as('passed'),
    ])
    .executeTakeFirstOrThrow();
  return { outcomes, passed: passed ?? 0 };
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
