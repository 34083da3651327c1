import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { OutputLost, UsageError } from '../flags/usage-error.ts';

/**
 * Reads a text file that a flag names.
 *
 * @throws {UsageError} that names the flag, the file and what is wrong with it.
 */
export function readTextFile(path: string, flag: string): string {
  return readBytes(path, flag).toString('utf8');
}

/**
 * Reads a file that a flag names; `-` is stdin.
 *
 * @throws {UsageError} that names the flag, the file and what is wrong with it.
 */
export function readBytes(path: string, flag: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    throw new UsageError(`${flag}: ${path} can't be read: ${reasonOf(error)}.`);
  }
}

/**
 * Writes a report to a file, or to stdout for `-`.
 *
 * @throws {UsageError} that names the flag, the file and what is wrong with it.
 */
export function writeTextFile(path: string, text: string, flag: string): void {
  if (path === '-') {
    process.stdout.write(text);
    return;
  }
  orUnwritable(path, flag, () => writeFileSync(path, text));
}

/**
 * Writes bytes to a file.
 *
 * @throws {UsageError} as `writeTextFile` does.
 */
export function writeBinaryFile(path: string, bytes: Uint8Array, flag: string): void {
  orUnwritable(path, flag, () => writeFileSync(path, bytes));
}

/**
 * Makes sure that a file can be written later, so that no run is lost for want of a folder. Leaves
 * an empty file where there was none.
 *
 * @throws {UsageError} as `writeTextFile` does.
 */
export function reserveFile(path: string, flag: string): void {
  if (path !== '-') orUnwritable(path, flag, () => closeSync(openSync(path, 'a')));
}

/**
 * What tells a file from all others, whatever the path that leads to it; undefined of a device such
 * as /dev/null, which takes anything of anybody. Of a file that is not there yet, its place.
 */
export function identityOf(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isCharacterDevice()) return undefined;
    if (found) return `${found.dev}:${found.ino}`;
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    // Why it can't be written is said by who tries.
    return undefined;
  }
}

/**
 * Makes a folder, with those it stands in, and makes sure that files can be written into it.
 *
 * @throws {UsageError} that names the flag, the folder and what is wrong with it.
 */
export function makeFolder(path: string, flag: string): void {
  try {
    makeEach(resolve(path));
  } catch (error) {
    throw new UsageError(`${flag}: ${path} can't be made: ${reasonOf(error)}.`);
  }
  if (!statSync(path).isDirectory()) {
    throw new UsageError(`${flag}: expected a folder, ${path} is a file.`);
  }
  // Not by its permissions: an administrator has all, also where nothing can be written.
  const probe = join(path, `.sandbox-kit-${process.pid}`);
  try {
    writeFileSync(probe, '');
    rmSync(probe);
  } catch (error) {
    throw new UsageError(`${flag}: nothing can be written into ${path}: ${reasonOf(error)}.`);
  }
}

/** Node's own recursion never ends where a file system has the folder above and refuses the new. */
function makeEach(path: string): void {
  // What can't be looked at for another reason than that it is not there is said as it is.
  if (statSync(path, { throwIfNoEntry: false })) return;
  makeEach(dirname(path));
  mkdirSync(path);
}

function orUnwritable(path: string, flag: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const says = `${flag}: ${path} can't be written: ${reasonOf(error)}.`;
    throw isFull(error) ? new OutputLost(says) : new UsageError(says);
  }
}

/** No mistake of the caller's, and found only when there is something to write. */
const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EIO'].includes((error as NodeJS.ErrnoException).code ?? '');

const reasons: Partial<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  ENOTDIR: 'a part of its path is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Why a file or a stream can't be read or written, in a few words. */
export function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}
