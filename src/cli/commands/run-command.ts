import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { onStopRequest } from '../signals.ts';
import { UsageError } from '../flags/usage-error.ts';

/** Runs one command, and stands between it and whoever asks the kit to stop. */
export interface CommandRunner extends Disposable {
  /**
   * Runs the command to its end; its exit code, 128 + n where signal n ended it. Not even started
   * where a signal came before: 128 + n for that one.
   *
   * @throws {UsageError} when it can't be run.
   */
  run(command: string, args: string[], variables: Record<string, string>): Promise<number>;
}

/**
 * Listens from now on: asked to stop, it asks the command; asked again, it kills the command; asked
 * when no command runs any more, it ends the process at once.
 */
export function commandRunner(): CommandRunner {
  let child: ChildProcess | undefined;
  const asked: NodeJS.Signals[] = [];
  const listening = onStopRequest((signal) => {
    asked.push(signal);
    if (child?.exitCode === null && child.signalCode === null) {
      if (asked.length > 1) child.kill('SIGKILL');
      else if (!isFromTerminal(signal)) child.kill(signal);
    } else if (asked.length > 1) process.exit(codeOf(signal));
  });
  return {
    async run(command, args, variables) {
      const [signal] = asked;
      if (signal) return codeOf(signal);
      const env = { ...process.env, ...variables };
      child = spawn(command, args, { stdio: 'inherit', env });
      return await endOf(child, command);
    },
    [Symbol.dispose]: listening[Symbol.dispose],
  };
}

/**
 * A terminal sends Ctrl-C to the command as well: sent on, it would come twice, which many take for
 * an order to end without cleaning up.
 */
function isFromTerminal(signal: NodeJS.Signals): boolean {
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  return signal === 'SIGINT' && hasTerminal;
}

const codeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

function endOf(child: ChildProcess, command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'there is no such command' : error.message;
      reject(new UsageError(`${command} can't be run: ${why}.`));
    });
    child.once('close', (code, signal) => resolve(code ?? (signal ? codeOf(signal) : 0)));
  });
}
