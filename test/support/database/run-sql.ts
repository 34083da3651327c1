import Sqlite from 'better-sqlite3';
import type { StoreLocation } from '../../../src/service/store/store.ts';
import { execute } from './postgres.ts';

/** Runs statements in the database of a store, and returns the rows of the last one. */
export async function runSql(
  location: StoreLocation,
  ...statements: readonly string[]
): Promise<Record<string, unknown>[]> {
  if ('databaseUrl' in location) return execute(location.databaseUrl, ...statements);
  const db = new Sqlite(location.file, { timeout: 5_000 });
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
