import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The root directory of the repository. */
export const ROOT: string = join(import.meta.dirname, '../..');

/** Node's compile cache, shared by the tests and all processes that they start. */
export const COMPILE_CACHE: string = join(ROOT, 'node_modules/.cache/node');

/** Returns the path, from the root, of every file that git tracks or would add. */
export function listFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard'];
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)));
}
