import type { EvalDefinition, LiveSettings } from '../../contract/index.ts';
import type { Connections, WriteTransaction } from './connect.ts';
import type { EvalStore } from './store.ts';

/** What holds until something is set (spec 2.2). */
const defaults: Required<LiveSettings> = { evals: [], run_name: 'Live traces' };

/** Evals, and which of them score live traces. */
export function evalStore({ reader, write }: Connections): EvalStore {
  return {
    put: (ownerId, definition) => write((db) => putEval(db, ownerId, definition)),
    async list(ownerId) {
      const rows = await reader
        .selectFrom('evals')
        .select('definition')
        .where('owner_id', '=', ownerId)
        .orderBy('key')
        .execute();
      return rows.map(({ definition }) => JSON.parse(definition) as EvalDefinition);
    },
    remove: (ownerId, id) =>
      write(async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('evals')
          .where('owner_id', '=', ownerId)
          .where('id', '=', id)
          .executeTakeFirst();
        return numDeletedRows > 0n;
      }),
    getSettings: async (ownerId) => settingsOf(reader, ownerId),
    updateSettings: (ownerId, changes) => write((db) => putSettings(db, ownerId, changes)),
  };
}

/** Adds an eval, or replaces the one of that id. */
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

/** Changes what is given. */
export async function putSettings(
  db: WriteTransaction,
  ownerId: string,
  changes: LiveSettings,
): Promise<void> {
  const settings = { ...(await settingsOf(db, ownerId)), ...changes };
  const row = { evals: JSON.stringify(settings.evals), run_name: settings.run_name };
  await db
    .insertInto('settings')
    .values({ owner_id: ownerId, ...row })
    .onConflict((conflict) => conflict.column('owner_id').doUpdateSet(row))
    .execute();
}

async function settingsOf(
  db: Connections['reader'],
  ownerId: string,
): Promise<Required<LiveSettings>> {
  const row = await db
    .selectFrom('settings')
    .select(['evals', 'run_name'])
    .where('owner_id', '=', ownerId)
    .executeTakeFirst();
  if (!row) return defaults;
  const evals = JSON.parse(row.evals) as Required<LiveSettings>['evals'];
  return { evals, run_name: row.run_name };
}
