/** The command that `exec` runs. */
import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { UsageError } from '../errors.ts';
import type { CommandProcess } from '../process.ts';
import { onStopSignal } from '../signals.ts';

/** Runs one command, and passes stop signals on to it. */
interface CommandRunner extends Disposable {
  /** Whether a stop signal was received. */
  readonly isInterrupted: boolean;
  /**
   * Runs a command, and returns its exit code, or 128 + n if signal n ended it. Does not start it if
   * a stop signal came before.
   *
   * @throws {UsageError} if the command can't be started.
   */
  run(command: string, args: string[], variables: Record<string, string>): Promise<number>;
}

/**
 * Listens for stop signals from now on. The first one is passed to the command, the second one kills
 * it. After the command has ended, the second one ends the process.
 */
export function createCommandRunner(process: CommandProcess): CommandRunner {
  let child: ChildProcess | undefined;
  const received: NodeJS.Signals[] = [];
  const listening = onStopSignal(process, (signal) => {
    received.push(signal);
    if (child?.exitCode === null && child.signalCode === null) {
      if (received.length > 1) child.kill('SIGKILL');
      else if (!isSentByTerminal(signal, process)) child.kill(signal);
    } else if (received.length > 1) process.exit(exitCodeOf(signal));
  });
  return {
    get isInterrupted() {
      return received.length > 0;
    },
    async run(command, args, variables) {
      const [signal] = received;
      if (signal) return exitCodeOf(signal);
      const env = { ...process.env, ...variables };
      child = spawn(command, args, { stdio: stdioOf(process), env });
      forwardOutput(child, process);
      return await waitForExit(child, command);
    },
    [Symbol.dispose]: listening[Symbol.dispose],
  };
}

/** Lets the command use the streams of the process itself; those without a descriptor get its output. */
function stdioOf({ stdin, stdout, stderr }: CommandProcess): ('inherit' | 'pipe')[] {
  return [stdin, stdout, stderr].map((stream) => ('fd' in stream ? 'inherit' : 'pipe'));
}

function forwardOutput(child: ChildProcess, { stdout, stderr }: CommandProcess): void {
  child.stdin?.end();
  child.stdout?.on('data', (chunk: Buffer) => void stdout.write(chunk));
  child.stderr?.on('data', (chunk: Buffer) => void stderr.write(chunk));
}

/**
 * Returns whether a terminal sends the signal to the command, too. Many programs take a second Ctrl-C
 * as an order to end without cleaning up.
 */
function isSentByTerminal(
  signal: NodeJS.Signals,
  { stdin, stdout, stderr }: CommandProcess,
): boolean {
  return signal === 'SIGINT' && [stdin, stdout, stderr].some(({ isTTY }) => isTTY === true);
}

const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

function waitForExit(child: ChildProcess, command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ENOENT' ? 'command not found' : error.message;
      reject(new UsageError(`Can't run ${command}: ${reason}.`));
    });
    child.once('close', (code, signal) => resolve(code ?? (signal ? exitCodeOf(signal) : 0)));
  });
}
