import type { Database } from 'better-sqlite3';
import { CREATE_TABLES } from './migrations/001-create-tables.ts';
import { ADD_EVAL_INPUTS } from './migrations/002-add-eval-inputs.ts';
import { ADD_SEED_DIGEST } from './migrations/003-add-seed-digest.ts';
import { ADD_SIMULATIONS } from './migrations/004-add-simulations.ts';
import { ADD_STORE_ID } from './migrations/005-add-store-id.ts';
import { ADD_SPAN_LINKS } from './migrations/006-add-span-links.ts';
import { ADD_AGENT_REPORTS } from './migrations/007-add-agent-reports.ts';
import { ADD_SESSION_SEARCH } from './migrations/008-add-session-search.ts';
import { ADD_RECORDINGS } from './migrations/009-add-recordings.ts';
import { ADD_KEY_LABELS } from './migrations/010-add-key-labels.ts';
import { ADD_RUN_RESULTS } from './migrations/011-add-run-results.ts';
import { ADD_RUN_ORDER } from './migrations/012-add-run-order.ts';
import { ADD_EVAL_IDS } from './migrations/013-add-eval-ids.ts';
import { ADD_SPAN_RETENTION } from './migrations/014-add-span-retention.ts';
import { ADD_OUTCOME_TIMES } from './migrations/015-add-outcome-times.ts';

/**
 * All migrations, in order. The `user_version` of a file is the number of migrations it has run.
 * Never change a published migration.
 */
const migrations: readonly string[] = [
  CREATE_TABLES,
  ADD_EVAL_INPUTS,
  ADD_SEED_DIGEST,
  ADD_SIMULATIONS,
  ADD_STORE_ID,
  ADD_SPAN_LINKS,
  ADD_AGENT_REPORTS,
  ADD_SESSION_SEARCH,
  ADD_RECORDINGS,
  ADD_KEY_LABELS,
  ADD_RUN_RESULTS,
  ADD_RUN_ORDER,
  ADD_EVAL_IDS,
  ADD_SPAN_RETENTION,
  ADD_OUTCOME_TIMES,
];

/** SQLite's `application_id` of our files: "sbxk". */
const APPLICATION_ID = 0x7362786b;

/** Thrown for a file that can't be used. The message says what to do. */
export class StoreFileError extends Error {
  override name = 'StoreFileError';
}

/** Checks, without changing the file, that this version can use it. @throws StoreFileError */
export function assertStoreFile(db: Database): void {
  const isEmpty = db.prepare('select 1 from sqlite_schema limit 1').get() === undefined;
  if (!isEmpty && db.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new StoreFileError(`${db.name} belongs to another program. Choose another directory.`);
  }
  const version = readVersion(db);
  if (version > migrations.length) {
    throw new StoreFileError(
      `${db.name} has version ${version}, but this program supports only versions up to ` +
        `${migrations.length}. Update the program.`,
    );
  }
}

/**
 * Migrates a file to the newest schema. Concurrent processes wait for each other.
 *
 * This replaces kysely's Migrator: the version in the file header changes in the same transaction as
 * the schema, needs no extra tables, and takes no time on startup.
 */
export function migrate(db: Database): void {
  if (readVersion(db) === migrations.length) return;
  // Rolls back if anything throws, so a file is never left between two versions.
  const run = db.transaction(() => {
    assertStoreFile(db);
    for (const statements of migrations.slice(readVersion(db))) db.exec(statements);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${migrations.length}`);
  });
  run.immediate();
}

function readVersion(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}
