import { closeSync, openSync, readFileSync } from 'node:fs';
import { SandboxKitError } from '../../src/platform/sandbox-kit-error.ts';

/**
 * Reads a text file. `-` is stdin.
 *
 * @throws {SandboxKitError} with the option, the path, and the reason.
 */
export function readTextFile(path: string, option: string): string {
  return readBytes(path, option).toString('utf8');
}

/**
 * Reads a text file that must have content. `-` is stdin.
 *
 * @param expected What the file must be, such as `a file of sandbox-kit check --record`.
 * @throws {SandboxKitError} as `readTextFile` does, and if the file is empty.
 */
export function readFilledFile(path: string, option: string, expected: string): string {
  const text = readTextFile(path, option);
  if (text.trim() !== '') return text;
  throw new SandboxKitError('invalid_file', `${option} must be ${expected}, but ${path} is empty.`);
}

/**
 * Reads a file. `-` is stdin.
 *
 * @throws {SandboxKitError} with the option, the path, and the reason.
 */
export function readBytes(path: string, option: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    throw new SandboxKitError(
      'unreadable_file',
      `Can't read ${path} (${option}): ${reasonOf(error)}.`,
      { cause: error },
    );
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

/** Describes why a file can't be written. */
export const describeWriteError = (path: string, option: string, error: unknown): string =>
  `Can't write ${path} (${option}): ${reasonOf(error)}.`;

/** Throws unless a file can be written. Creates an empty file if none exists, and keeps its content. */
export const reserve = (path: string): void => closeSync(openSync(path, 'a'));
