/**
 * The lock of a data directory, held by the process that uses it. The work of a killed service is
 * taken over at the next start, so two services in one directory would do the same work twice.
 */
import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { systemClock } from '../../../platform/clock.ts';
import { StoreFileError } from './migrate.ts';
import { isBusy } from './open-file.ts';

const LOCK_FILE = 'service.lock';

/** How long a start waits for a service that is just ending. */
const LOCK_WAIT_MS_MAX = 1_000;
const LOCK_RETRY_MS = 50;

/** Attempts to store the process id, which another process can replace until the lock is held. */
const STORE_ATTEMPTS = 5;

/** Returns the path of the file that locks a data directory. */
export const getLockPath = (dir: string): string => join(dir, LOCK_FILE);

/** A lock of a data directory. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Locks a data directory. The lock is a write transaction on a
 * small database that stays open: the operating system releases it when the process ends, even by
 * `kill -9`. The database contains the id of the process that holds the lock.
 * @throws StoreFileError when another process holds the lock.
 */
export async function lockDirectory(dir: string): Promise<DirectoryLock> {
  const file = getLockPath(dir);
  // Closing an existing file would release the locks of this process on it.
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) closeSync(openSync(file, 'a', 0o600));
  const db = new Sqlite(file, { timeout: 0 });
  try {
    for (let waitedMs = 0; !tryLock(db); waitedMs += LOCK_RETRY_MS) {
      if (waitedMs >= LOCK_WAIT_MS_MAX) throw createLockedError(db, dir);
      await systemClock.sleep(LOCK_RETRY_MS);
    }
  } catch (error) {
    db.close();
    throw error;
  }
  return { release: () => void db.close() };
}

/** Takes the lock, and returns whether it is held. */
function tryLock(db: Database): boolean {
  try {
    for (let attempt = 0; attempt < STORE_ATTEMPTS; attempt += 1) {
      db.exec('begin immediate');
      // Only a commit makes the id visible to others, and a commit releases the lock.
      if (readProcessId(db) === process.pid) return true;
      db.pragma(`user_version = ${process.pid}`);
      db.exec('commit');
    }
  } catch (error) {
    if (db.inTransaction) db.exec('rollback');
    if (!isBusy(error)) throw error;
  }
  return false;
}

function createLockedError(db: Database, dir: string): StoreFileError {
  const id = readProcessId(db);
  return new StoreFileError(
    `Another sandbox-kit process uses the data directory ${dir} (process ${String(id)}). Stop it, or choose another ` +
      'directory.',
  );
}

const readProcessId = (db: Database): unknown => db.pragma('user_version', { simple: true });
