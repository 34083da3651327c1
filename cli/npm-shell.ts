import { systemClock } from '../src/platform/clock.ts';
import { PROGRAM_NAME } from '../src/report-kit/program-name.ts';
import { readVariable } from './flags/environment.ts';
import type { CommandProcess, Variables } from './process.ts';

/** How often the parent process is checked. */
const INTERVAL_MS = 500;

/** A script that runs only this program. The shell of such a script ends with it, not before. */
const OWN_SCRIPT = new RegExp(`^(["']?)${PROGRAM_NAME}\\1(\\s[^&|;<>()$\`\\n]*)?$`);

/** Returns whether npx or `npm run` runs the program, and nothing else in the same shell. */
export const isRunByNpm = (env: Variables): boolean =>
  OWN_SCRIPT.test(readVariable('npm_lifecycle_script', env) ?? '');

/**
 * Waits until the shell that npx or `npm run` started the program in has ended. At SIGTERM, both end
 * their shell, and shells such as dash don't pass the signal on. Without this, the program would keep
 * its port or go on with an abandoned run. Returns false if the signal aborts first, or if npm did not
 * start the program.
 */
export async function waitForEndOfNpmShell(
  process: Pick<CommandProcess, 'env' | 'ppid'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isRunByNpm(process.env)) return false;
  const { ppid: shell } = process;
  try {
    while (process.ppid === shell) await systemClock.sleep(INTERVAL_MS, signal);
    return true;
  } catch {
    // The wait was aborted.
    return false;
  }
}
