import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the files of one directory with a suffix, sorted. */
export function listFiles(directory: string, suffix: string): string[] {
  const names = readdirSync(directory === '' ? '.' : directory);
  return names
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => join(directory, name));
}
