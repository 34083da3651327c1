import { systemClock } from '../src/platform/clock.ts';
import { exitCodes } from './errors.ts';
import { isRunByNpm, waitForEndOfNpmShell } from './npm-shell.ts';
import { fill } from './output/message.ts';
import { STOP_SIGNALS, type CommandProcess } from './process.ts';

/**
 * How long a second signal counts as the first one. A terminal sends Ctrl-C to all its programs, and
 * npm then also passes it on to the program that it runs.
 */
const repetitionMsOf = ({ env }: CommandProcess): number => (isRunByNpm(env) ? 300 : 0);

/**
 * Calls a function for each stop signal, and with SIGTERM if one ended only the shell of npx or
 * `npm run`. Until it is disposed of, the signals do not end the process.
 */
export function onStopSignal(
  process: CommandProcess,
  listener: (signal: NodeJS.Signals) => void,
): Disposable {
  const waiting = new AbortController();
  const repetitionMs = repetitionMsOf(process);
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
  return {
    [Symbol.dispose]() {
      waiting.abort();
      for (const signal of STOP_SIGNALS) process.off(signal, receive);
    },
  };
}

/**
 * Aborts its signal at the first stop signal. If there is a message, it is written to stderr first, with
 * a note that a second Ctrl-C exits immediately. A second stop signal ends the process.
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
    if (text !== undefined) {
      process.stderr.write(`\n${fill(`${text} Press Ctrl-C again to exit immediately.`)}\n`);
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
): Disposable & { received: Promise<undefined> } {
  const { promise: received, resolve } = Promise.withResolvers<undefined>();
  const repetitionMs = repetitionMsOf(process);
  const listening = onStopSignal(process, () => {
    resolve(undefined);
    if (repetitionMs === 0) listening[Symbol.dispose]();
    else void systemClock.sleep(repetitionMs).then(() => listening[Symbol.dispose]());
  });
  return { received, [Symbol.dispose]: listening[Symbol.dispose] };
}
