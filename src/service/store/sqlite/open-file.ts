import { closeSync, openSync, statSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { assertStoreFile, migrate } from './migrate.ts';

/**
 * 4 KiB. Span ids are random, so each insert changes another page of their index, and the whole page
 * is written to the WAL. Larger pages would help only keys that arrive in order.
 */
const PAGE_BYTES = 4096;

/** Size of the WAL, in pages, that makes a checkpoint merge it into the file: 32 MiB. */
export const CHECKPOINT_PAGES = (32 * 2 ** 20) / PAGE_BYTES;

/** How long opening a file waits for other connections before it fails. */
const OPEN_WAIT_MS_MAX = 10_000;

/**
 * How long a write waits for the writes of other connections before it fails. Exporters wait 10 s
 * for a response; a later one would not reach them.
 */
export const LOCK_WAIT_MS_MAX = 5_000;

/**
 * How long a write waits if the write before it never got the lock. Writes that queued up during
 * that wait would otherwise all wait as long, one after the other.
 */
export const LOCKED_WAIT_MS_MAX = 100;

/** Pause between two attempts to get the lock. */
const LOCK_RETRY_MS = 5;

/** Page cache of each connection: 64 MiB. */
export const CACHE_KIB = 65_536;

/** Options for opening a file. */
export interface FileOptions {
  /** How long a statement blocks its thread to wait for the lock before it fails. */
  busyMs: number;
  /** The file is deleted on shutdown, so commits need not reach the disk. */
  isTemporary?: boolean;
}

/**
 * Opens a connection with our settings for use in one thread, and creates or migrates the file.
 * @throws StoreFileError
 */
export function openFile(file: string, { busyMs, isTemporary = false }: FileOptions): Database {
  // The file holds conversations and API keys, so only its owner may read it. The WAL file gets the
  // same mode. Closing an existing file would release the locks of this process on it.
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) closeSync(openSync(file, 'a', 0o600));
  const db = new Sqlite(file, { timeout: OPEN_WAIT_MS_MAX });
  try {
    assertStoreFile(db);
    // Has no effect once a table exists.
    db.pragma(`page_size = ${PAGE_BYTES}`);
    retryWhileLocked(() => db.pragma('journal_mode = WAL'));
    // better-sqlite3 defaults to NORMAL in WAL mode: a power failure could lose acknowledged spans.
    db.pragma(`synchronous = ${isTemporary ? 'OFF' : 'FULL'}`);
    db.pragma('foreign_keys = ON');
    db.pragma(`cache_size = -${CACHE_KIB}`);
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    db.pragma(`journal_size_limit = ${2 * CHECKPOINT_PAGES * PAGE_BYTES}`);
    migrate(db);
    db.pragma(`busy_timeout = ${busyMs}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Returns whether an error means that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** Retries a change while the file is locked. SQLite does not wait when it switches to WAL mode. */
function retryWhileLocked(change: () => void): void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += LOCK_RETRY_MS) {
    try {
      change();
      return;
    } catch (error) {
      if (!isBusy(error) || waitedMs >= OPEN_WAIT_MS_MAX) throw error;
      Atomics.wait(sleeper, 0, 0, LOCK_RETRY_MS);
    }
  }
}
