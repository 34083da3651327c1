import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';

/**
 * Creates a directory for all tests of a file, and removes it after them. `t.testdir` of the file itself
 * would be the same directory for all files that run in one process.
 */
export function createFolder(t: Pick<Test, 'teardown'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-kit-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Writes a file into a directory, and creates the directories of its name. Returns its path. */
export function writeFileIn(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
