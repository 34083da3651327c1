import { readFileSync, writeFileSync } from 'node:fs';
import { UsageError } from './usage-error.ts';

/**
 * Reads a text file that a flag names.
 *
 * @throws {UsageError} that names the flag, the file and what is wrong with it.
 */
export function readTextFile(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8');
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
    writeFileSync(1, text);
    return;
  }
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new UsageError(`${flag}: ${path} can't be written: ${reasonOf(error)}.`);
  }
}

const reasons: Partial<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  ENOTDIR: 'a part of its path is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}
