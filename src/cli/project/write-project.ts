import { lstatSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../errors.ts';
import { createDirectory, writeTextFile } from '../input/files.ts';
import type { ProjectFile } from './templates.ts';

/**
 * Writes the files of a project. Without `overwrite`, writes nothing if one of them exists.
 *
 * @throws {UsageError} that lists the files that exist, or says why a file can't be written.
 */
export function writeProject(
  directory: string,
  files: readonly ProjectFile[],
  { overwrite }: { overwrite: boolean },
): void {
  createDirectory(directory, 'DIR');
  rejectBlocked(directory, files);
  const existing = files.map(({ path }) => path).filter((path) => exists(join(directory, path)));
  if (existing.length > 0 && !overwrite) {
    const count = existing.length === 1 ? '1 file' : `${existing.length} files`;
    throw new UsageError(
      `${directory} (DIR) already has ${count} of the template: ${existing.join(', ')}. Choose another directory, or use --force to overwrite them.`,
    );
  }
  for (const { path, text } of files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeTextFile(target, text, 'DIR');
  }
}

/** Rejects a file in place of a directory, and a directory in place of a file. */
function rejectBlocked(directory: string, files: readonly ProjectFile[]): void {
  for (const { path } of files) {
    const parts = path.split('/');
    for (const [index] of parts.entries()) {
      const place = join(directory, ...parts.slice(0, index + 1));
      const stats = lstatSync(place, { throwIfNoEntry: false });
      const isLast = index === parts.length - 1;
      if (!stats || stats.isSymbolicLink()) continue;
      if (isLast && stats.isDirectory()) {
        throw new UsageError(`${place} is a directory, but the template has a file there.`);
      }
      if (!isLast && !stats.isDirectory()) {
        throw new UsageError(`${place} is a file, but the template has a directory there.`);
      }
    }
  }
}

/** Also true for a link that leads nowhere. */
const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
