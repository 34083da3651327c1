import { lstatSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../errors.ts';
import { createDirectory, writeTextFile } from '../output/files.ts';
import type { ProjectFile } from './templates.ts';

/**
 * Writes the files of a project. Without `canOverwrite`, writes nothing if one of them exists.
 *
 * @throws {UsageError} if a file exists or can't be written; the message names the files.
 */
export function writeProject(
  directory: string,
  files: readonly ProjectFile[],
  { canOverwrite }: { canOverwrite: boolean },
): void {
  createDirectory(directory, 'DIR');
  rejectBlocked(directory, files);
  const existing = files.map(({ path }) => path).filter((path) => exists(join(directory, path)));
  if (existing.length > 0 && !canOverwrite) {
    const count = existing.length === 1 ? '1 file' : `${existing.length} files`;
    throw new UsageError(
      `${directory} (DIR) already has ${count} of the template. Choose another directory, or use --force to overwrite them.`,
      existing,
    );
  }
  for (const { path, text } of files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeTextFile(target, text, 'DIR');
  }
}

/** Throws if a file exists where a directory is needed, or a directory where a file is needed. */
function rejectBlocked(directory: string, files: readonly ProjectFile[]): void {
  for (const { path } of files) {
    const parts = path.split('/');
    for (const [index] of parts.entries()) {
      const place = join(directory, ...parts.slice(0, index + 1));
      const stats = lstatSync(place, { throwIfNoEntry: false });
      const isLast = index === parts.length - 1;
      if (!stats || stats.isSymbolicLink()) continue;
      if (isLast && stats.isDirectory()) {
        throw new UsageError(
          `${place} is a directory, but the template has a file at this path. Remove it, or choose another directory.`,
        );
      }
      if (!isLast && !stats.isDirectory()) {
        throw new UsageError(
          `${place} is a file, but the template has a directory at this path. Remove it, or choose another directory.`,
        );
      }
    }
  }
}

/** Returns whether a path exists; a symbolic link exists even if its target does not. */
const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
