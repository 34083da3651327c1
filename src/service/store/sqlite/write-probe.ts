import Sqlite, { type Database } from 'better-sqlite3';
import { toError } from '../../../platform/error-origin.ts';
import { systemClock } from '../../../platform/clock.ts';
import { isBusy } from './open-file.ts';

/** Finds out whether a file can be changed: its disk may be full or read-only. */
export interface WriteProbe {
  /** Changes the file without an effect, at most once a second. @throws the error of SQLite. */
  check(): void;
  close(): void;
}

/** How long the result of a check counts. */
const RESULT_MS_MAX = 1_000;

/** Creates a probe of an open store. It uses its own connection, because others may be in a transaction. */
export function createWriteProbe(file: string): WriteProbe {
  let db: Database | undefined;
  let checkedAtMs = -Infinity;
  let problem: Error | undefined;
  const write = (): void => {
    if (!db) {
      db = new Sqlite(file, { fileMustExist: true, timeout: 0 });
      // Leave checkpoints to the ingest thread: here, they would block HTTP responses.
      db.pragma('wal_autocheckpoint = 0');
    }
    try {
      db.exec('begin immediate; update store_id set id = id; commit');
    } catch (error) {
      if (db.inTransaction) db.exec('rollback');
      // Another connection writes just now.
      if (!isBusy(error)) throw error;
    }
  };
  return {
    check() {
      const nowMs = systemClock.monotonicMs();
      if (nowMs - checkedAtMs >= RESULT_MS_MAX) {
        checkedAtMs = nowMs;
        problem = undefined;
        try {
          write();
        } catch (error) {
          problem = toError(error);
        }
      }
      if (problem !== undefined) throw problem;
    },
    close: () => db?.close(),
  };
}
