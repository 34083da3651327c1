import { reasonOf } from './input/files.ts';
import { exitCodes, OutputLost } from './flags/usage-error.ts';

/**
 * Aborts when the process is asked to stop, after it has said so; asked again, the process ends at
 * once. Disposing of it leaves signals to others again.
 */
export function interruptible(say: string): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const asked = onStopRequest(() => {
    if (controller.signal.aborted) process.exit(exitCodes.notJudged);
    process.stderr.write(`\n${say}\n`);
    controller.abort();
  });
  return { signal: controller.signal, [Symbol.dispose]: asked[Symbol.dispose] };
}

/** Waits until the process is asked to stop. Asked again, it ends at once. */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    const asked = onStopRequest(() => {
      asked[Symbol.dispose]();
      resolve();
    });
  });
}

/** Ctrl-C, what `kill` and containers send, and a terminal that is closed. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Tells of each time that the process is asked to stop, which then does not end it. Disposing of it
 * leaves signals to others again.
 */
export function onStopRequest(tell: (signal: NodeJS.Signals) => void): Disposable {
  for (const signal of stopSignals) process.on(signal, tell);
  return {
    [Symbol.dispose]() {
      for (const signal of stopSignals) process.off(signal, tell);
    },
  };
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
