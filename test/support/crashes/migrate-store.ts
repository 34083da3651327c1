/**
 * Creates the tables of a database, or changes those of an older version:
 * `node migrate-store.ts (create | change) (FILE | URL)`.
 */
import Sqlite from 'better-sqlite3';
import { migrateWith } from '../../../src/service/store/postgres/migrate.ts';
import { openPool } from '../../../src/service/store/postgres/pool.ts';
import {
  newestVersion,
  schemaChanges,
  type SchemaChange,
} from '../../../src/service/store/schema/changes.ts';
import { migrate } from '../../../src/service/store/sqlite/migrate.ts';

const added = ['one', 'two', 'three'].map((name): SchemaChange => {
  const statement = `alter table runs add column ${name} integer not null default 7`;
  return { sqlite: statement, postgres: statement };
});
const changes = [...schemaChanges, ...added];

/** The version of the tables with all changes. */
export const changedVersion = newestVersion(changes);

if (import.meta.main) {
  const [work, location = ''] = process.argv.slice(2);
  const applied = work === 'change' ? changes : schemaChanges;
  if (location.startsWith('postgres:')) {
    const pool = openPool(location);
    await migrateWith(pool, applied).finally(() => pool.end());
  } else {
    const db = new Sqlite(location);
    migrate(db, applied);
    db.close();
  }
}
