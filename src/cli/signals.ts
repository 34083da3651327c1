import { once } from 'node:events';

/** Waits until the process is asked to stop: Ctrl-C, or SIGTERM. */
export async function untilStopped(): Promise<void> {
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}

/**
 * Lets a run go on when its reader leaves, as `head` does: what is written to files and the exit
 * code are still wanted.
 */
export function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}
