/**
 * Notices that a database file was emptied, replaced, or damaged since its last use, or while it is
 * open. SQLite accepts an empty file as a new database, and any other database of the kit, without an
 * error.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Database } from 'better-sqlite3';
import { isWalDamaged, WAL_HEADER_BYTES } from './check-wal.ts';
import { StoreFileError } from './migrate.ts';

/** Returns the path of the file that keeps the id of a database. */
const getIdPath = (file: string): string => `${file}.id`;

/**
 * Checks a database file before SQLite opens it, because SQLite deletes a WAL that it can't use.
 * @throws StoreFileError
 */
export function assertFileIntact(file: string): void {
  const id = readId(file);
  // In this order: a process that starts at the same time creates the WAL after the file.
  const walBytes = readSize(`${file}-wal`) ?? 0;
  const bytes = readSize(file);
  const name = basename(file);
  if (bytes === 0 && (id !== undefined || walBytes > WAL_HEADER_BYTES)) {
    throw new StoreFileError(
      `${file} was emptied: its conversations and results are gone. Restore it from a backup. To ` +
        `start with an empty database, move ${name} and the files ${name}-* and ${name}.id away.`,
    );
  }
  if (bytes === undefined && walBytes > WAL_HEADER_BYTES) {
    throw new StoreFileError(
      `${file} is missing, but ${name}-wal has some of its data. Restore it from a backup. To start ` +
        `with an empty database, move the files ${name}-* away.`,
    );
  }
  if (bytes !== undefined && bytes > 0 && isWalDamaged(file)) {
    throw new StoreFileError(
      `${file}-wal is damaged: the latest changes of ${name} can't be read. Restore both files from ` +
        `a backup. If there is no backup, copy the directory, and then delete ${name}-shm: if only ` +
        `the end of ${name}-wal is damaged, the service starts with the changes before it. If it ` +
        `still does not start, move the files ${name}-* away, which loses all changes in ${name}-wal.`,
    );
  }
}

/** Returns whether a database file that was used here before is missing. */
export const isFileMissing = (file: string): boolean =>
  readSize(file) === undefined && readId(file) !== undefined;

/**
 * Checks that an open database is the one that was used here before, and remembers it.
 * @throws StoreFileError
 */
export function assertSameDatabase(db: Database, file: string, wasMissing: boolean): void {
  const id = db.prepare<[], string>('select id from store_id').pluck().get();
  const usedId = readId(file);
  const name = basename(file);
  if (usedId !== undefined && usedId !== id && !wasMissing) {
    throw new StoreFileError(
      `${file} was replaced by another database since its last use. Restore it from a backup. To use ` +
        `the other database, move ${name}.id away.`,
    );
  }
  if (usedId !== id) writeFileSync(getIdPath(file), `${id ?? ''}\n`, { mode: 0o600 });
}

/** What an operator does about a file that changed. */
export const CHANGED_FILE_HINT = 'Stop the service, and restore the file from a backup.';

/** Thrown if an open database file was emptied, replaced, or deleted: what it stores will be lost. */
class FileChangedError extends Error {
  override name = 'FileChangedError';
  readonly code = 'file_changed';

  constructor(change: string) {
    super(`${change} ${CHANGED_FILE_HINT}`);
  }
}

/**
 * Returns a function that throws a FileChangedError if an open file changed, which takes microseconds.
 * Call it after a commit, and before anybody hears of the commit: SQLite writes to a deleted file
 * without an error. What was acknowledged before the file was deleted is lost with it, as is
 * what is acknowledged in the microseconds between the check and the response.
 */
export function guardFile(file: string): () => void {
  const describeChange = watchFile(file);
  return () => {
    const change = describeChange();
    if (change !== undefined) throw new FileChangedError(change);
  };
}

/**
 * Remembers an open database file. The returned function describes what happened to the file since;
 * undefined if nothing did. It does not notice other contents in the same file, and does not check
 * the WAL.
 */
export function watchFile(file: string): () => string | undefined {
  const readIdentity = () => statSync(file, { bigint: true, throwIfNoEntry: false });
  const opened = readIdentity();
  // SQLite never makes the file smaller: the service does not vacuum it.
  let bytes = opened?.size ?? 0n;
  const describe = (change: string): string =>
    `${file} was ${change} while the service was running.`;
  return () => {
    const current = readIdentity();
    if (current === undefined) return describe('moved away or deleted');
    if (current.ino !== opened?.ino || current.dev !== opened.dev) {
      return describe('replaced by another file');
    }
    if (current.size === 0n) return describe('emptied');
    if (current.size < bytes) return describe(`cut from ${bytes} to ${current.size} bytes`);
    bytes = current.size;
    return undefined;
  };
}

function readId(file: string): string | undefined {
  const path = getIdPath(file);
  const id = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  return id === '' ? undefined : id;
}

function readSize(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}
