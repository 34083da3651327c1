import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import {
  Kysely,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type SqliteDatabase,
  type SqliteStatement,
  CompiledQuery,
} from 'kysely';
import { systemClock } from '../../../platform/clock.ts';
import { forgetOldest } from '../../../platform/forget-oldest.ts';
import { assertFileIntact, assertSameDatabase, guardFile } from './file-identity.ts';
import {
  CACHE_KIB,
  CHECKPOINT_PAGES,
  isBusy,
  LOCK_WAIT_MS_MAX,
  LOCKED_WAIT_MS_MAX,
  openFile,
} from './open-file.ts';
import type { Connections, Reader, WriteTransaction } from '../connections.ts';
import type { Tables } from '../schema/tables.ts';

/** The SQLite file of a store. */
export interface StoreFile {
  file: string;
  /** The file is deleted on shutdown, so commits need not survive a power failure. */
  isTemporary: boolean;
}

/**
 * Opens two connections to a file on the main thread, one for reads and one for writes.
 *
 * Concurrency: SQLite (in WAL mode) allows one writer at a time, and reads never wait for it. There
 * are two writers on each file: this write connection and the span writer in the ingest thread.
 * Waiting for the write lock inside SQLite would block the main thread, so this connection has no
 * busy timeout. Instead, it takes the lock at the start of each transaction and retries from the
 * event loop until the lock is free. Kysely runs the transactions of one connection one by one.
 */
export function connect({
  file,
  isTemporary,
  lockWaitMsMax = LOCK_WAIT_MS_MAX,
}: StoreFile & {
  /** How long a write waits for the lock (default: 5 s). */
  lockWaitMsMax?: number;
}): Connections {
  const forWrites = openForWrites({ file, isTemporary });
  // Leave checkpoints to the ingest thread: here, they would block HTTP responses.
  forWrites.pragma(`wal_autocheckpoint = ${2 * CHECKPOINT_PAGES}`);
  const forReads = new Sqlite(file, { readonly: true, timeout: LOCK_WAIT_MS_MAX });
  forReads.pragma(`cache_size = -${CACHE_KIB}`);
  const writer = new Kysely<Tables>({
    dialect: new ImmediateDialect(forWrites, {
      lockWaitMsMax,
      assertFileUnchanged: guardFile(file),
    }),
  });
  const reader = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: withStatementCache(forReads) }),
  });
  const write = <Result>(change: (db: WriteTransaction) => Promise<Result>): Promise<Result> =>
    writer.transaction().execute(change);
  const read = <Result>(run: (db: Reader) => Promise<Result>): Promise<Result> =>
    reader.transaction().execute(run);
  return {
    dialect: 'sqlite',
    reader: () => reader,
    read: (_ownerId, run) => read(run),
    write: (_ownerId, change) => write(change),
    writeAlone: (_ownerId, change) => write(change),
    directory: { reader, read, write },
    async close() {
      await reader.destroy();
      await writer.destroy();
      // Kysely closes only connections it has used. Close the write connection last: the last
      // connection to close merges the WAL into the file.
      forReads.close();
      forWrites.close();
      countClosed(file);
    },
  };
}

/** Number of stores that this process has open, by file. */
const openCounts = new Map<string, number>();

/**
 * Opens the write connection, and checks the file unless this process has it open: closing another
 * handle of a file would release the locks that SQLite holds on it in this process.
 * @throws StoreFileError
 */
function openForWrites({ file, isTemporary }: StoreFile): Database {
  const path = resolve(file);
  const openCount = openCounts.get(path) ?? 0;
  const isChecked = !isTemporary && openCount === 0;
  const wasMissing = !existsSync(file);
  if (isChecked) assertFileIntact(file);
  const db = openFile(file, { busyMs: 0, isTemporary });
  try {
    if (isChecked) assertSameDatabase(db, file, wasMissing);
  } catch (error) {
    db.close();
    throw error;
  }
  openCounts.set(path, openCount + 1);
  return db;
}

function countClosed(file: string): void {
  const path = resolve(file);
  openCounts.set(path, (openCounts.get(path) ?? 1) - 1);
}

/** Limits the cache, because each length of an `in (...)` list makes another statement. */
const CACHED_STATEMENTS_MAX = 256;

/** Caches prepared statements (least recently used): most take longer to prepare than to run. */
function withStatementCache(db: Database): SqliteDatabase {
  const cache = new Map<string, SqliteStatement>();
  return {
    close: () => db.close(),
    prepare(text) {
      const statement = cache.get(text) ?? db.prepare(text);
      // Maps keep insertion order, so the first entry is the least recently used.
      cache.delete(text);
      cache.set(text, statement);
      forgetOldest(cache, CACHED_STATEMENTS_MAX);
      return statement;
    },
  };
}

interface WriteOptions {
  lockWaitMsMax: number;
  /** @throws FileChangedError */
  assertFileUnchanged: () => void;
}

class ImmediateDialect extends SqliteDialect {
  readonly #file: Database;
  readonly #options: WriteOptions;

  constructor(file: Database, options: WriteOptions) {
    super({ database: withStatementCache(file) });
    this.#file = file;
    this.#options = options;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#file, this.#options);
  }
}

/** Starts transactions with `begin immediate`, so none can fail halfway for lack of the lock. */
class ImmediateDriver extends SqliteDriver {
  readonly #file: Database;
  readonly #options: WriteOptions;
  /** Whether the latest transaction did not get the lock. */
  #isLocked = false;

  constructor(file: Database, options: WriteOptions) {
    super({ database: withStatementCache(file) });
    this.#file = file;
    this.#options = options;
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super.commitTransaction(connection);
    this.#options.assertFileUnchanged();
  }

  /** SQLite itself rolls back when the disk is full; a second rollback would hide that error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#file.inTransaction) await super.rollbackTransaction(connection);
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const { lockWaitMsMax, assertFileUnchanged } = this.#options;
    assertFileUnchanged();
    const waitMs = Math.min(lockWaitMsMax, this.#isLocked ? LOCKED_WAIT_MS_MAX : Infinity);
    const giveUpAtMs = systemClock.monotonicMs() + waitMs;
    for (;;) {
      try {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'));
        this.#isLocked = false;
        return;
      } catch (error) {
        if (!isBusy(error)) throw error;
        this.#isLocked = systemClock.monotonicMs() > giveUpAtMs;
        if (this.#isLocked) throw error;
        // The span writer holds the lock for a few milliseconds per batch.
        await systemClock.sleep(1);
      }
    }
  }
}
