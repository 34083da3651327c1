import { StartError } from '../../http-kit/errors.ts';
import { formatAuthority } from '../../platform/base-url.ts';
import type { Log } from '../../platform/log.ts';
import { openStore } from '../store/open-store.ts';
import {
  DatabaseUrlError,
  findTlsWarning,
  parseDatabaseUrl,
} from '../store/postgres/database-url.ts';
import {
  CONNECT_MS_MAX,
  DatabaseEncodingError,
  SILENT_CODE,
  UnsupportedSchemaError,
  describeUnreachable,
  findPostgresProblem,
  type PostgresProblem,
} from '../store/postgres/database-problem.ts';
import type { Migration } from '../store/postgres/migrate.ts';
import { UnfinishedMoveError } from '../store/postgres/move-marker.ts';
import { getLockPath, lockDirectory } from '../store/sqlite/directory-lock.ts';
import { isFileMissing } from '../store/sqlite/file-identity.ts';
import type { Store, StoreLocation } from '../store/store.ts';
import {
  createDevelopmentKey,
  databaseFileOf,
  loadDevelopmentKey,
  openDataDir,
  withDataFile,
} from './data-dir.ts';

/** The database can't be used now, but may work again later. */
export class DatabaseUnavailableError extends StartError {}

/** Steps that undo the start, in the order of the start. */
export type Cleanups = (() => Promise<void> | void)[];

/** The data of a service: in a directory, or in a database. */
export interface ServiceData {
  store: Store;
  location: StoreLocation;
  /**
   * Runs an action on the data.
   * @throws StartError that says what to do, if the file or the database causes an error.
   */
  guard: <Result>(action: () => Result | Promise<Result>) => Promise<Result>;
  /** Returns the key of a service without configured keys; the first start creates it. */
  loadDevelopmentKey: () => Promise<string>;
}

/** Opens the data of a service. @throws StartError if it can't be used. */
export async function openData(
  options: { dataDir?: string; databaseUrl?: string },
  log: Log,
  cleanups: Cleanups,
): Promise<ServiceData> {
  return options.databaseUrl === undefined
    ? openDirectory(options.dataDir, log, cleanups)
    : openDatabase(options.databaseUrl, log, cleanups);
}

async function openDirectory(
  path: string | undefined,
  log: Log,
  cleanups: Cleanups,
): Promise<ServiceData> {
  const dataDir = await openDataDir(path);
  cleanups.push(() => dataDir.remove());
  const file = databaseFileOf(dataDir.path);
  const isTemporary = path === undefined;
  if (!isTemporary) {
    const lockFile = getLockPath(dataDir.path);
    const lock = await withDataFile(lockFile, () => lockDirectory(dataDir.path));
    cleanups.push(() => lock.release());
  }
  const location = { file, isTemporary };
  const isMissing = await withDataFile(file, () => isFileMissing(file));
  const store = await withDataFile(file, () => openStore(location));
  cleanups.push(() => store.close());
  if (isMissing) {
    log.warn('database_missing', {
      file,
      warning:
        'The service starts empty. To get its data back, stop it, and restore the file from a backup.',
    });
  }
  return {
    store,
    location,
    guard: (action) => withDataFile(file, action),
    loadDevelopmentKey: () => loadDevelopmentKey(dataDir.path),
  };
}

async function openDatabase(
  databaseUrl: string,
  log: Log,
  cleanups: Cleanups,
): Promise<ServiceData> {
  const guard: ServiceData['guard'] = (action) => withDatabase(databaseUrl, action);
  const warning = await guard(() => findTlsWarning(databaseUrl));
  if (warning !== undefined) log.warn('database_not_encrypted', { warning });
  const location = { databaseUrl };
  const store = await guard(() => openStore(location));
  cleanups.push(() => store.close());
  return {
    store,
    location,
    guard,
    loadDevelopmentKey: () => store.shareValue('development_key', createDevelopmentKey()),
  };
}

/**
 * Migrates a database to the newest version of the tables.
 * @param onWarning Receives what the caller should know about the URL.
 * @throws StartError that says what to do.
 */
export async function migrateDatabase(
  databaseUrl: string,
  onWarning: (warning: string) => void,
): Promise<Migration> {
  const { migrate } = await import('../store/postgres/migrate.ts');
  return withDatabase(databaseUrl, () => {
    const warning = findTlsWarning(databaseUrl);
    if (warning !== undefined) onWarning(warning);
    return migrate(databaseUrl);
  });
}

/**
 * Runs an action on a database.
 * @throws StartError that says what to do, when the database causes an error.
 */
export async function withDatabase<Result>(
  databaseUrl: string,
  action: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (
      error instanceof DatabaseEncodingError ||
      error instanceof DatabaseUrlError ||
      error instanceof UnsupportedSchemaError ||
      error instanceof UnfinishedMoveError
    ) {
      throw new StartError(error.message, { cause: error });
    }
    const problem = findPostgresProblem(error);
    if (!problem) throw error;
    const text = describeProblem(problem, databaseUrl);
    // The code belongs at the end of the first sentence, which says what happened.
    const message = text.replace('. ', ` (${problem.code}). `);
    throw problem.canRetry
      ? new DatabaseUnavailableError(message, { cause: error })
      : new StartError(message, { cause: error });
  }
}

/** Describes a problem without user and password. */
function describeProblem({ kind, code, message }: PostgresProblem, databaseUrl: string): string {
  if (kind === 'database_missing') return describeMissing(databaseUrl);
  if (kind !== 'unreachable') return message;
  const { host, port } = parseDatabaseUrl(databaseUrl);
  const address = host.startsWith('/') ? host : formatAuthority(host, port);
  return code === SILENT_CODE
    ? `The server at ${address} accepted the connection, but did not respond within ${CONNECT_MS_MAX / 1000} s. Check that it is PostgreSQL and that it does not hang, and check any proxy in front of it.`
    : describeUnreachable(address);
}

/** Describes a database that does not exist, without the values of parameters that its name contains. */
function describeMissing(databaseUrl: string): string {
  const { database } = parseDatabaseUrl(databaseUrl);
  const name = JSON.stringify(database.replaceAll(/=[^&]*/g, '=…'));
  const advice = /[&=]/.test(database)
    ? 'If this name contains parameters, write ? before the first one: DATABASE?sslmode=verify-full. Otherwise, create the database with CREATE DATABASE.'
    : 'The service creates tables, but not the database. Create it with CREATE DATABASE, or correct the URL.';
  return `The database ${name}, which the URL names, does not exist. ${advice}`;
}
