import { systemClock } from '../src/platform/clock.ts';
import { exitCodes } from './errors.ts';
import { isRunByNpm, waitForEndOfNpmShell } from './npm-shell.ts';
import { fill } from './output/message.ts';
import { STOP_SIGNALS, type CommandProcess } from './process.ts';

/**
 * How long a second signal counts as the first one under npm. A terminal sends Ctrl-C to all its
 * programs, and npm then also passes it on to the program that it runs.
 */
const REPETITION_MS = 300;

/**
 * Calls a function for each stop signal, and with SIGTERM if one ended only the shell of npx or
 * `npm run`. Until it is disposed of, the signals do not end the process; a repetition of the last
 * signal does not end it even then.
 */
export function onStopSignal(
  process: CommandProcess,
  listener: (signal: NodeJS.Signals) => void,
): Disposable {
  const waiting = new AbortController();
  const repetitionMs = isRunByNpm(process.env) ? REPETITION_MS : 0;
  let receivedMs = -Infinity;
  const receive = (signal: NodeJS.Signals): void => {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - receivedMs < repetitionMs) return;
    receivedMs = nowMs;
    // A signal to both the shell and the program is one signal.
    waiting.abort();
    listener(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, receive);
  void waitForEndOfNpmShell(process, waiting.signal).then((hasEnded) => {
    if (hasEnded) receive('SIGTERM');
  });
  const stopListening = (): void => {
    for (const signal of STOP_SIGNALS) process.off(signal, receive);
  };
  return {
    [Symbol.dispose]() {
      waiting.abort();
      const restMs = receivedMs + repetitionMs - systemClock.monotonicMs();
      if (restMs > 0) void systemClock.sleep(restMs).then(stopListening);
      else stopListening();
    },
  };
}

/**
 * Returns a sentence that says how to end a command immediately while it is stopping. If a program
 * sent the signal, the sentence names the process: npx ends with SIGTERM and leaves it behind.
 */
export function describeExit(signal: NodeJS.Signals, { pid }: CommandProcess): string {
  const action = signal === 'SIGINT' ? 'Press Ctrl-C again' : `Send ${signal} to process ${pid}`;
  return `${action} to exit immediately.`;
}

/**
 * Aborts its signal at the first stop signal. If there is a message, it is written to stderr first, with
 * a note that a second signal exits immediately. A second stop signal ends the process.
 */
export function abortOnStopSignal(
  process: CommandProcess,
  message: string | (() => string | undefined),
): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const listening = onStopSignal(process, (signal) => {
    if (controller.signal.aborted) {
      process.exit(exitCodes.notJudged);
      return;
    }
    const text = typeof message === 'string' ? message : message();
    if (text !== undefined) {
      process.stderr.write(`\n${fill(`${text} ${describeExit(signal, process)}`)}\n`);
    }
    controller.abort();
  });
  return { signal: controller.signal, [Symbol.dispose]: listening[Symbol.dispose] };
}

/**
 * Listens for the first stop signal from now on. A second one ends the process, as do all after it
 * is disposed of.
 */
export function listenForStop(
  process: CommandProcess,
): Disposable & { received: Promise<NodeJS.Signals> } {
  const { promise: received, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const listening = onStopSignal(process, (signal) => {
    resolve(signal);
    listening[Symbol.dispose]();
  });
  return { received, [Symbol.dispose]: listening[Symbol.dispose] };
}
