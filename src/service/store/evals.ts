import type { EvalDefinition, LiveSettings } from '../../contract/index.ts';
import type { Connections, WriteTransaction } from './connect.ts';
import type { EvalStore } from './store.ts';

/** The live settings before the first change (spec 2.2). */
const defaultSettings: Required<LiveSettings> = { evals: [], run_name: 'Live traces' };

/** Creates the store of evals and of the live settings. */
export function createEvalStore({ reader, write }: Connections): EvalStore {
  const list = async (ownerId: string): Promise<EvalDefinition[]> => {
    const rows = await reader
      .selectFrom('evals')
      .select('definition')
      .where('owner_id', '=', ownerId)
      .orderBy('key')
      .execute();
    return rows.map(({ definition }) => JSON.parse(definition) as EvalDefinition);
  };
  return {
    put: (ownerId, definition) => write((db) => putEval(db, ownerId, definition)),
    list,
    remove: (ownerId, id) =>
      write(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('evals')
          .where('owner_id', '=', ownerId)
          .where('id', '=', id)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
    getSettings: (ownerId) => getSettings(reader, ownerId),
    updateSettings: (ownerId, changes) => write((db) => updateSettings(db, ownerId, changes)),
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

async function getSettings(
  db: Connections['reader'],
  ownerId: string,
): Promise<Required<LiveSettings>> {
  const row = await db
    .selectFrom('settings')
    .select(['evals', 'run_name'])
    .where('owner_id', '=', ownerId)
    .executeTakeFirst();
  if (!row) return defaultSettings;
  const evals = JSON.parse(row.evals) as Required<LiveSettings>['evals'];
  return { evals, run_name: row.run_name };
}
