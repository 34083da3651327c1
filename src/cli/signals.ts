import { reasonOf } from './files.ts';
import { exitCodes, OutputLost } from './usage-error.ts';

/**
 * Aborts when the process is asked to stop, after it has said so; asked again, the process ends at
 * once. Disposing of it leaves signals to others again.
 */
export function interruptible(say: string): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.notJudged);
    process.stderr.write(`\n${say}\n`);
    controller.abort();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      process.off('SIGINT', stop).off('SIGTERM', stop).off('SIGHUP', stop);
    },
  };
}

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
      // A socket says ECONNRESET where its reader left something unread.
      if (error.code === 'EPIPE' || error.code === 'ECONNRESET') return;
      throw new OutputLost(`What was found can't be written: ${reasonOf(error)}.`);
    });
  }
}
