import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * Runs a test file whose tests have their own time limits. Prints its output without the assertions that
 * passed, and returns its exit code.
 */
export async function runTestFile(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ...env, TAP_TIMEOUT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) {
    if (!/^ *ok /.test(line)) console.log(line);
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode ?? 1;
}
