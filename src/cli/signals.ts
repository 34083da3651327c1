import { exitCodes, OutputError } from './errors.ts';
import { reasonOf } from './input/files.ts';
import { fill } from './output/help-layout.ts';

/** Ctrl-C, the signal of `kill` and containers, and a closed terminal. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Calls a function for each stop signal. Until it is disposed of, the signals do not end the process.
 */
export function onStopSignal(listener: (signal: NodeJS.Signals) => void): Disposable {
  for (const signal of STOP_SIGNALS) process.on(signal, listener);
  return {
    [Symbol.dispose]() {
      for (const signal of STOP_SIGNALS) process.off(signal, listener);
    },
  };
}

/**
 * Aborts its signal at the first stop signal, after writing the message to stderr unless it is
 * undefined. A second stop signal ends the process.
 */
export function abortOnStopSignal(
  message: string | (() => string | undefined),
): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const listening = onStopSignal(() => {
    if (controller.signal.aborted) process.exit(exitCodes.notJudged);
    const text = typeof message === 'string' ? message : message();
    if (text !== undefined) process.stderr.write(`\n${fill(text)}\n`);
    controller.abort();
  });
  return { signal: controller.signal, [Symbol.dispose]: listening[Symbol.dispose] };
}

/** Waits for the first stop signal. A second one ends the process. */
export async function waitForStopSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    const listening = onStopSignal(() => {
      listening[Symbol.dispose]();
      resolve();
    });
  });
}

/**
 * Lets a run continue after the reader of its output has closed the pipe, as `head` does: the run
 * still writes its files and sets its exit code. Throws an OutputError for other errors of stdout
 * and stderr.
 */
export function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // A socket reports ECONNRESET if its reader left data unread.
      if (error.code === 'EPIPE' || error.code === 'ECONNRESET') return;
      throw new OutputError(`Can't write the output: ${reasonOf(error)}.`);
    });
  }
}
