import { readFileSync } from 'node:fs';
import { UsageError } from '../usage-error.ts';

/**
 * Reads a text file. `-` is stdin.
 *
 * @throws {UsageError} with the option, the path, and the reason.
 */
export function readTextFile(path: string, option: string): string {
  return readBytes(path, option).toString('utf8');
}

/**
 * Reads a file. `-` is stdin.
 *
 * @throws {UsageError} with the option, the path, and the reason.
 */
export function readBytes(path: string, option: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    throw new UsageError(`Can't read ${path} (${option}): ${reasonOf(error)}.`);
  }
}

const reasons: Partial<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  ENOTDIR: 'a part of its path is not a directory',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Returns why a file or stream can't be read or written, as a phrase. */
export function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return reasons[code] ?? message;
}
