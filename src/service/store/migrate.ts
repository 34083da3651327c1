import type { Database } from 'better-sqlite3';
import { firstTables } from './migrations/001-first-tables.ts';
import { whatEvalsRead } from './migrations/002-eval-inputs.ts';
import { seededOnce } from './migrations/003-seeded-once.ts';
import { simulatedSessions } from './migrations/004-simulated-sessions.ts';

/** In order; a file that has run the first n says n in its `user_version`. None is ever changed. */
const migrations: readonly string[] = [firstTables, whatEvalsRead, seededOnce, simulatedSessions];

/** Marks a file as one of ours, in the place that SQLite has for it: "sbxk". */
const applicationId = 0x7362786b;

/** A file that is no store of ours, or of a newer kit; the message names it and the cure. */
export class ForeignFileError extends Error {
  override name = 'ForeignFile';
}

/** Throws when the file is another program's, or of a newer kit; changes nothing. */
export function assertStoreFile(db: Database): void {
  const isEmpty = db.prepare('select 1 from sqlite_schema limit 1').get() === undefined;
  if (!isEmpty && db.pragma('application_id', { simple: true }) !== applicationId) {
    throw new ForeignFileError(
      `${db.name} is not a store of this program; give it a file of its own`,
    );
  }
  const version = versionOf(db);
  if (version > migrations.length) {
    throw new ForeignFileError(
      `${db.name} is of version ${version}, this program knows ${migrations.length}: update it`,
    );
  }
}

/**
 * Brings a file to the newest tables; two processes that do so at once wait for each other.
 *
 * Not kysely's Migrator: the version in the file's own header changes with the tables or not at all,
 * needs no tables of its own, and costs a start nothing.
 */
export function migrate(db: Database): void {
  if (versionOf(db) === migrations.length) return;
  // Rolls back when anything throws, so that no file is left between two versions.
  const run = db.transaction(() => {
    assertStoreFile(db);
    for (const statements of migrations.slice(versionOf(db))) db.exec(statements);
    db.pragma(`application_id = ${applicationId}`);
    db.pragma(`user_version = ${migrations.length}`);
  });
  run.immediate();
}

function versionOf(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}
