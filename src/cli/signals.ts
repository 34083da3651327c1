/** Waits until the process is asked to stop: Ctrl-C, or SIGTERM. Asked again, it ends at once. */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve());
  });
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
