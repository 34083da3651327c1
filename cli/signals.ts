import { exitCodes } from './errors.ts';
import { waitForEndOfNpmShell } from './npm-shell.ts';
import { fill } from './output/message.ts';
import { STOP_SIGNALS, type CommandProcess } from './process.ts';

/**
 * Calls a function for each stop signal. Until it is disposed of, the signals do not end the process.
 */
export function onStopSignal(
  process: CommandProcess,
  listener: (signal: NodeJS.Signals) => void,
): Disposable {
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
  process: CommandProcess,
  message: string | (() => string | undefined),
): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const listening = onStopSignal(process, () => {
    if (controller.signal.aborted) {
      process.exit(exitCodes.notJudged);
      return;
    }
    const text = typeof message === 'string' ? message : message();
    if (text !== undefined) process.stderr.write(`\n${fill(text)}\n`);
    controller.abort();
  });
  return { signal: controller.signal, [Symbol.dispose]: listening[Symbol.dispose] };
}

/**
 * Listens for the first stop signal from now on, including one that ended only the shell of npx or
 * `npm run`. A second one ends the process, as do all after it is disposed of.
 */
export function listenForStop(
  process: CommandProcess,
): Disposable & { received: Promise<undefined> } {
  const { promise: received, resolve } = Promise.withResolvers<undefined>();
  const waiting = new AbortController();
  const stopListening = (): void => {
    listening[Symbol.dispose]();
    waiting.abort();
  };
  const stop = (): void => {
    stopListening();
    resolve(undefined);
  };
  const listening = onStopSignal(process, stop);
  void waitForEndOfNpmShell(process, waiting.signal).then((hasEnded) => {
    if (hasEnded) stop();
  });
  return { received, [Symbol.dispose]: stopListening };
}
