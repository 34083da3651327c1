import { once } from 'node:events';

/** Waits until the process is asked to stop: Ctrl-C, or SIGTERM. */
export async function untilStopped(): Promise<void> {
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}
