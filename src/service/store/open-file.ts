import { closeSync, openSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { assertStoreFile, migrate } from './migrate.ts';

/**
 * 4 KiB: ids of spans come in no order, so that each new one changes some page of their index, and
 * that page goes into the log whole. Only a key in order of arrival gains from larger ones.
 */
const pageBytes = 4096;

/** How far the log grows before it is put into the file: 32 MiB. */
export const checkpointPages = (32 * 2 ** 20) / pageBytes;

/** How long a write waits for the other connections' writes before it fails. */
export const lockWaitMsMax = 10_000;

/** How long it is until a lock that was found taken is tried again. */
const lockRetryMs = 5;

/** Keeps in memory, for each connection: 64 MiB of pages. */
export const cacheKib = 65_536;

/** How a file is opened. */
export interface FileOptions {
  /** How long a statement waits for the lock before it fails. */
  busyMs: number;
  /** The file ends with the process that made it: commits need not reach the disk. */
  isTemporary?: boolean;
}

/** Opens a file with our settings, for one thread, and makes it if there is none. */
export function openFile(file: string, { busyMs, isTemporary = false }: FileOptions): Database {
  // It holds conversations, and keys of sandboxes: nobody else's to read. The log takes its mode.
  closeSync(openSync(file, 'a', 0o600));
  const db = new Sqlite(file, { timeout: lockWaitMsMax });
  try {
    assertStoreFile(db);
    // Before the first table, or it has no effect.
    db.pragma(`page_size = ${pageBytes}`);
    whenUnlocked(() => db.pragma('journal_mode = WAL'));
    // better-sqlite3 sets NORMAL with WAL: a power cut would then take acknowledged spans along.
    db.pragma(`synchronous = ${isTemporary ? 'OFF' : 'FULL'}`);
    db.pragma('foreign_keys = ON');
    db.pragma(`cache_size = -${cacheKib}`);
    db.pragma(`wal_autocheckpoint = ${checkpointPages}`);
    db.pragma(`journal_size_limit = ${2 * checkpointPages * pageBytes}`);
    migrate(db);
    db.pragma(`busy_timeout = ${busyMs}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Whether an error says that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** SQLite does not wait for a new file to become a WAL file while another process makes it so. */
function whenUnlocked(change: () => void): void {
  const stopped = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += lockRetryMs) {
    try {
      change();
      return;
    } catch (error) {
      if (!isBusy(error) || waitedMs >= lockWaitMsMax) throw error;
      Atomics.wait(stopped, 0, 0, lockRetryMs);
    }
  }
}
