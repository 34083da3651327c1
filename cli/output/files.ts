import { mkdirSync, mkdtempSync, realpathSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describeWriteError, reasonOf, reserve } from '../../library/input/files.ts';
import { UnavailableError, UsageError } from '../errors.ts';
import type { OutputStream } from '../process.ts';

/**
 * Writes text to a file, or to stdout for `-`.
 *
 * @throws {UsageError} with the option, the path, and the reason.
 */
export function writeOutput(
  path: string,
  text: string,
  option: string,
  stdout: OutputStream,
): void {
  if (path === '-') stdout.write(text);
  else writeTextFile(path, text, option);
}

/** Writes a value as indented JSON for the option `--json`, as `writeOutput` does. */
export function writeJsonOutput(path: string, value: object, stdout: OutputStream): void {
  writeOutput(path, formatJson(value), '--json', stdout);
}

/** Formats a value as indented JSON with a line end. */
export const formatJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/**
 * Writes text to a file.
 *
 * @throws {UsageError} with the option, the path, and the reason.
 */
export function writeTextFile(path: string, text: string, option: string): void {
  explainWriteError(path, option, () => writeFileSync(path, text));
}

/**
 * Writes bytes to a file.
 *
 * @throws {UsageError} with the option, the path, and the reason.
 */
export function writeBinaryFile(path: string, bytes: Uint8Array, option: string): void {
  explainWriteError(path, option, () => writeFileSync(path, bytes));
}

/**
 * Checks before a run that a file can be written after it. Creates an empty file if none exists.
 *
 * @throws {UsageError} with the option, the path, and the reason.
 */
export function reserveFile(path: string, option: string): void {
  if (path !== '-') explainWriteError(path, option, () => reserve(path));
}

/**
 * Returns a text that is equal for all paths to one file: its device and inode, or the real path of
 * a file that does not exist yet. Returns undefined for a device such as /dev/null, and for a path
 * that can't be resolved.
 */
export function identityOf(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isCharacterDevice()) return undefined;
    if (stats) return `${stats.dev}:${stats.ino}`;
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    // Writing the file reports why.
    return undefined;
  }
}

/**
 * Creates a directory with its parents, and checks that files can be written into it.
 *
 * @throws {UsageError} with the option, the path, and the reason.
 */
export function createDirectory(path: string, option: string): void {
  try {
    createWithParents(resolve(path));
  } catch (error) {
    throw new UsageError(`Can't create the directory ${path} (${option}): ${reasonOf(error)}.`);
  }
  if (!statSync(path).isDirectory()) {
    throw new UsageError(`${option} must be a directory, but ${path} is a file.`);
  }
  // Permissions are not enough: root has all of them on a read-only file system, too.
  try {
    rmdirSync(mkdtempSync(join(path, '.sandbox-kit-')));
  } catch (error) {
    throw new UsageError(`Can't write to the directory ${path} (${option}): ${reasonOf(error)}.`);
  }
}

/** `mkdir` with `recursive` never ends on a file system that refuses new directories, as /proc. */
function createWithParents(path: string): void {
  // Errors other than a missing entry are thrown as they are.
  if (statSync(path, { throwIfNoEntry: false })) return;
  createWithParents(dirname(path));
  mkdirSync(path);
}

function explainWriteError(path: string, option: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    const message = describeWriteError(path, option, error);
    throw isDiskError(error) ? new UnavailableError(message) : new UsageError(message);
  }
}

/** Returns whether an error is not the caller's mistake and appears only while writing. */
const isDiskError = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EIO'].includes((error as NodeJS.ErrnoException).code ?? '');
