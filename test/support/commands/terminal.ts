import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { COMPILE_CACHE, ROOT } from '../repository.ts';

/** Options of a test that needs a terminal, which the program `script` creates. */
export const needsTerminal: { skip: string | false } = {
  skip: spawnSync('script', ['--version']).status !== 0 && 'the program script is missing',
};

/** Runs a command of the kit in a terminal, and returns what that gets, with its escape codes. */
export async function runInTerminal(
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const command = [process.execPath, join(ROOT, 'cli/main.ts'), ...args].join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
  });
  return readText(child.stdout);
}
