import type { Database } from 'better-sqlite3';
import {
  changesSince,
  describeUnsupported,
  newestVersion,
  schemaChanges,
  type SchemaChange,
} from '../schema/changes.ts';
import { CREATE_COUNTERS } from './count-sessions.ts';
import { createTables } from './create-tables.ts';

/** SQLite's `application_id` of our files: "sbxk". */
const APPLICATION_ID = 0x7362786b;

/** Thrown for a file that can't be used. The message says what to do. */
export class StoreFileError extends Error {
  override name = 'StoreFileError';
}

/** Checks, without changing the file, that this version can use it. @throws StoreFileError */
export function assertStoreFile(
  db: Database,
  changes: readonly SchemaChange[] = schemaChanges,
): void {
  const isEmpty = db.prepare('select 1 from sqlite_schema limit 1').get() === undefined;
  const version = readVersion(db);
  if (isEmpty && version === 0) return;
  if (!isEmpty && db.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new StoreFileError(`${db.name} belongs to another program. Choose another directory.`);
  }
  const advice = 'Start with a new directory.';
  const problem = describeUnsupported({ name: db.name, version, advice }, changes);
  if (problem !== undefined) throw new StoreFileError(problem);
}

/**
 * Migrates a file to the newest version of the tables, which the `user_version` of the file names.
 * Concurrent processes wait for each other.
 *
 * This replaces kysely's Migrator: the version in the file header changes in the same transaction as
 * the tables, needs no extra tables, and takes no time on startup.
 */
export function migrate(db: Database, changes: readonly SchemaChange[] = schemaChanges): void {
  const newest = newestVersion(changes);
  if (readVersion(db) === newest) return;
  // Rolls back if anything throws, so a file is never left between two versions.
  const run = db.transaction(() => {
    assertStoreFile(db, changes);
    const version = readVersion(db);
    if (version === 0) db.exec(createTables());
    else for (const { sqlite } of changesSince(version, changes)) db.exec(sqlite);
    db.exec(CREATE_COUNTERS);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${newest}`);
  });
  run.immediate();
}

function readVersion(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}
