import type { LiveSettings } from '../../contract/index.ts';
import type { Connections, Reader, WriteTransaction } from './connections.ts';

/** The live settings before the first change (spec 2.2). */
const defaultSettings: Required<LiveSettings> = { evals: [], run_name: 'Live traces' };

/** Creates the store of the live settings, and of the time until which problems are dismissed. */
export function createSettingsStore({ reader, writeAlone }: Connections) {
  return {
    get: (ownerId: string): Promise<Required<LiveSettings>> =>
      getSettings(reader(ownerId), ownerId),
    /** Changes the settings that are present in `changes`. */
    update: (ownerId: string, changes: LiveSettings): Promise<void> =>
      writeAlone(ownerId, (db) => updateSettings(db, ownerId, changes)),
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
  };
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
