import Sqlite from 'better-sqlite3';
import type { StoreLocation } from '../../../src/service/store/store.ts';
import { execute } from './postgres.ts';

/** Where statements run. With `readonly`, they can't change the file of a service that runs. */
type SqlLocation = StoreLocation | { file: string; readonly: true };

/** Runs statements in the database of a store, and returns the rows of the last one. */
export async function runSql(
  location: SqlLocation,
  ...statements: readonly string[]
): Promise<Record<string, unknown>[]> {
  if ('databaseUrl' in location) return execute(location.databaseUrl, ...statements);
  const db = new Sqlite(location.file, { readonly: 'readonly' in location, timeout: 5_000 });
  try {
    const results = statements.map((statement) => {
      const prepared = db.prepare<[], Record<string, unknown>>(statement);
      return prepared.reader ? prepared.all() : [{ changes: prepared.run().changes }];
    });
    return results.at(-1) ?? [];
  } finally {
    db.close();
  }
}
