import Sqlite, { type Database } from 'better-sqlite3';
import {
  Kysely,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type SqliteDatabase,
  type SqliteStatement,
} from 'kysely';
import { sql, CompiledQuery, type Transaction } from 'kysely';
import { systemClock } from '../../platform/clock.ts';
import { cacheKib, checkpointPages, isBusy, lockWaitMsMax, openFile } from './open-file.ts';
import type { Tables } from './tables.ts';

/** A kysely transaction over our tables. */
export type WriteTransaction = Transaction<Tables>;

/** What the files of the store work with. */
export interface Connections {
  /** For reads alone; its transactions see one state, whatever is written meanwhile. */
  reader: Kysely<Tables>;
  /** Runs a change in a transaction of its own: all of it happens, durably, or nothing. */
  write: <Result>(change: (db: WriteTransaction) => Promise<Result>) => Promise<Result>;
  close: () => Promise<void>;
}

/** The file of a store. */
export interface StoreFile {
  file: string;
  /** Removed at the stop, so that no power cut matters to it. */
  isTemporary: boolean;
}

/**
 * Two connections: reads never wait for a write, neither our own nor the span sink's. The writing
 * one does not wait inside SQLite, since that would stop the thread.
 */
export function connect({ file, isTemporary }: StoreFile): Connections {
  const forWrites = openFile(file, { busyMs: 0, isTemporary });
  // The span sink's thread does the checkpoints; here they would stop the thread that answers.
  forWrites.pragma(`wal_autocheckpoint = ${2 * checkpointPages}`);
  const forReads = new Sqlite(file, { readonly: true, timeout: lockWaitMsMax });
  forReads.pragma(`cache_size = -${cacheKib}`);
  const writer = new Kysely<Tables>({
    dialect: new ImmediateDialect(forWrites),
  });
  const reader = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: preparingOnce(forReads) }),
  });
  return {
    reader,
    write: (change) => writer.transaction().execute(change),
    async close() {
      await reader.destroy();
      await writer.destroy();
      // Kysely closes only what it has used. The writing one last: it puts the log into the file.
      forReads.close();
      forWrites.close();
    },
  };
}

/** A nanosecond column as text: beyond 2^53 a number would lose the last digits. */
export function exact<Name extends string>(column: Name) {
  return sql<string>`cast(${sql.ref(column)} as text)`.as(column.replace(/^.*\./, '') as Name);
}

/** Statements that a connection keeps; lists of values make more texts than are worth keeping. */
const statementsKeptMax = 256;

/** Keeps the statements that were prepared, which takes longer than to run most of them. */
function preparingOnce(db: Database): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>();
  return {
    close: () => db.close(),
    prepare(text) {
      const statement = kept.get(text) ?? db.prepare(text);
      // What was used last stands last; the first is given up.
      kept.delete(text);
      kept.set(text, statement);
      const [first] = kept.keys();
      if (kept.size > statementsKeptMax && first !== undefined) kept.delete(first);
      return statement;
    },
  };
}

class ImmediateDialect extends SqliteDialect {
  readonly #file: Database;

  constructor(file: Database) {
    super({ database: preparingOnce(file) });
    this.#file = file;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#file);
  }
}

/** Takes the write lock with the first statement, so that no transaction fails half-way for it. */
class ImmediateDriver extends SqliteDriver {
  readonly #file: Database;

  constructor(file: Database) {
    super({ database: preparingOnce(file) });
    this.#file = file;
  }

  /** A full disk has rolled back already; asking again would hide what went wrong. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#file.inTransaction) await super.rollbackTransaction(connection);
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const giveUpAtMs = systemClock.monotonicMs() + lockWaitMsMax;
    for (;;) {
      try {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'));
        return;
      } catch (error) {
        if (!isBusy(error) || systemClock.monotonicMs() > giveUpAtMs) throw error;
        // The sink holds the lock for some ms at a time and reads its next batch between two.
        await systemClock.sleep(1);
      }
    }
  }
}
