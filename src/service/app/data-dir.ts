import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { StartError } from '../../http-kit/errors.ts';
import { randomSeed } from '../../platform/random.ts';
import { isKey } from '../requests/authentication.ts';
import { watchFile } from '../store/sqlite/file-identity.ts';
import { StoreFileError } from '../store/sqlite/migrate.ts';
import { isError, errorCode } from '../../platform/error-origin.ts';

const KEY_FILE = 'development-key';

/** Returns the path of the database in a data directory. */
export const databaseFileOf = (dataDir: string): string => join(dataDir, 'service.db');

/** Returns whether a directory has a database of a service. */
export const isDataDir = (path: string): boolean => existsSync(databaseFileOf(path));

/** A data directory. */
export interface DataDir {
  path: string;
  /** Removes the directory if it is temporary. */
  remove: () => Promise<void>;
}

/**
 * Opens a data directory and creates it if it is missing. Without a path it creates a temporary
 * directory.
 * @throws StartError when the directory can't be used.
 */
export async function openDataDir(path: string | undefined): Promise<DataDir> {
  if (path === undefined) {
    const temporary = await mkdtemp(join(tmpdir(), 'sandbox-kit-'));
    return { path: temporary, remove: () => rm(temporary, { recursive: true, force: true }) };
  }
  await withDataFile(`The data directory ${path}`, () => createDirectory(path));
  return { path, remove: () => Promise.resolve() };
}

/**
 * Remembers the database of a data directory. The returned function describes what happened to its file
 * since; undefined if nothing did.
 */
export const watchDataDir = (dataDir: string): (() => string | undefined) =>
  watchFile(databaseFileOf(dataDir));

/**
 * Creates a data directory and its parents, which only their owner can read. Node's own recursion reports a read-only disk as ENOENT.
 * @throws StartError that names the parent where it can't be created.
 */
async function createDirectory(dataDir: string, path = resolve(dataDir)): Promise<void> {
  if (existsSync(path)) return;
  const parent = dirname(path);
  await createDirectory(dataDir, parent);
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    // Another process may have created it in the meantime.
    if (existsSync(path)) return;
    const code = errorCode(error);
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    throw new StartError(
      `The data directory ${dataDir} can't be created, because ${parent} is not writable (${code}). ` +
        'Change its permissions, or choose another data directory.',
      { cause: error },
    );
  });
}

/**
 * Returns the development key of a data directory. The first start creates it, in a file that only
 * the current user can read.
 * @throws StartError when the file can't be used.
 */
export async function loadDevelopmentKey(dataDir: string): Promise<string> {
  const file = join(dataDir, KEY_FILE);
  return withDataFile(file, async () => (await readKey(file)) ?? (await createKey(file)));
}

/**
 * Returns the development key of a data directory; undefined if no start created one.
 * @throws StartError when the file can't be used.
 */
export const findDevelopmentKey = (dataDir: string): Promise<string | undefined> => {
  const file = join(dataDir, KEY_FILE);
  return withDataFile(file, () => readKey(file));
};

/** Returns a new development key. */
export const createDevelopmentKey = (): string =>
  `sk_dev_${randomSeed()}${randomSeed()}${randomSeed()}`;

async function createKey(file: string): Promise<string> {
  const key = createDevelopmentKey();
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: 'w' });
  // An existing file keeps its mode when it is written.
  await chmod(file, 0o600);
  return key;
}

async function readKey(file: string): Promise<string | undefined> {
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (text === '' || isKey(text)) return text || undefined;
  throw new StartError(`${file} contains no valid API key. Delete it to create a new one.`);
}

/** The problem of a file and what to do about it, by the code of the error that it caused. */
const FILE_PROBLEMS: readonly [code: RegExp, problem: string, advice: string][] = [
  [/^SQLITE_(NOTADB|CORRUPT)/, 'is damaged or not a database', 'Move it away to create a new one.'],
  [
    /^(EISDIR|SQLITE_CANTOPEN_ISDIR)$/,
    'is a directory',
    'Move it away to create a file in its place.',
  ],
  [/^EROFS/, 'is on a read-only disk', 'Choose another directory.'],
  [
    /^SQLITE_READONLY/,
    "can't be written",
    'Change the permissions of the file and its directory. If the disk is read-only, choose another directory.',
  ],
  [
    /^(EACCES|EPERM|SQLITE_(CANTOPEN|PERM|AUTH))/,
    'is not readable and writable',
    'Change its permissions.',
  ],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)/, 'is on a full disk', 'Free some space.'],
  [/^SQLITE_IOERR/, 'is on a failing disk', 'Check the disk.'],
  [
    /^SQLITE_BUSY/,
    'is in use by another program',
    'Stop that program or choose another directory.',
  ],
  [/^ENOTDIR$/, 'has a file in its path instead of a directory', 'Choose another directory.'],
  [
    /^E(NOENT|LOOP|NAMETOOLONG|MFILE|NFILE|BUSY|IO)$/,
    "can't be opened",
    'Choose another directory.',
  ],
];

/**
 * Runs an action on a file of the data directory.
 * @throws StartError that names the file and what to do, when the file causes an error.
 */
export async function withDataFile<Result>(
  file: string,
  action: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (!isError(error)) throw error;
    if (error instanceof StoreFileError) throw new StartError(error.message, { cause: error });
    const code = errorCode(error);
    const row = FILE_PROBLEMS.find(([codes]) => codes.test(code));
    if (!row) throw error;
    const [, problem, advice] = row;
    throw new StartError(`${file} ${problem} (${code}). ${advice}`, { cause: error });
  }
}
