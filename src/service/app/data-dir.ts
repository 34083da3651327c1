import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { withFileOf } from './start-failure.ts';

/**
 * The folder that everything is kept in, made where there is none; without one a folder that is
 * removed in the end.
 * @throws StartError.
 */
export async function openDataDir(
  given: string | undefined,
  undo: (() => Promise<void>)[],
): Promise<string> {
  if (given === undefined) {
    const made = await mkdtemp(join(tmpdir(), 'sandbox-kit-'));
    undo.push(() => rm(made, { recursive: true, force: true }));
    return made;
  }
  await withFileOf(`the data folder ${given}`, () => makeEach(resolve(given)));
  return given;
}

/** Node's own recursion takes a disk that is read-only for a folder that is missing. */
async function makeEach(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  await makeEach(dirname(folder));
  await mkdir(folder).catch((error: unknown) => {
    // Another process may have been quicker.
    if (!existsSync(folder)) throw error;
  });
}
