/** Commands inside the test process, and what the messages of commands have in common. */
import { EventEmitter, once } from 'node:events';
import type { Test } from 'tap';
import type { CommandProcess } from '../../../cli/process.ts';
import { runCommandLine } from '../../../cli/run.ts';
import { ROOT } from '../repository.ts';
import { until } from '../until.ts';

/** How to run a command inside the test process. */
export interface RunOptions {
  /** Variables in addition to PATH and HOME; the environment of the test is not inherited. */
  env?: Record<string, string>;
  /** The working directory (default: the root of the repository). */
  cwd?: string;
}

/** The result of a command. */
export interface CommandResult {
  /** Null if a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command of the kit inside the test process, which is much faster than a separate process.
 * Its output is captured, and it gets neither the environment nor the signals of the test.
 *
 * @throws {Error} if the command still listens for signals after it has ended.
 */
export async function run(
  args: readonly string[],
  options: RunOptions = {},
): Promise<CommandResult> {
  const command = createCommandProcess(options.env);
  const leaveDirectory = await enterDirectory(options.cwd ?? ROOT);
  const code = await runCommandLine(args, command.process).finally(leaveDirectory);
  command.assertReleased();
  return { code, stdout: command.stdoutSoFar(), stderr: command.stderrSoFar() };
}

/** A process for a command inside the test process. */
interface FakeProcess {
  process: CommandProcess;
  stdoutSoFar: () => string;
  stderrSoFar: () => string;
  /** Sends a signal to the command. */
  signal: (signal: NodeJS.Signals) => void;
  /** Throws if the command still listens for signals or reads stdin. */
  assertReleased: () => void;
}

function createCommandProcess(variables: Record<string, string> = {}): FakeProcess {
  const { PATH = '', HOME = '' } = process.env;
  const signals = new EventEmitter();
  const stdin = Object.assign(new EventEmitter(), { isTTY: false, pause() {} });
  const stdout = createOutput();
  const stderr = createOutput();
  return {
    process: {
      env: { PATH, HOME, ...variables },
      stdin: stdin as unknown as CommandProcess['stdin'],
      stdout,
      stderr,
      pid: process.pid,
      ppid: process.ppid,
      title: 'node',
      on: (signal, listener) => signals.on(signal, listener),
      off: (signal, listener) => signals.off(signal, listener),
      exit(code) {
        throw new Error(`The command ended its process with ${code}: use runProcess or start.`);
      },
    },
    stdoutSoFar: stdout.textSoFar,
    stderrSoFar: stderr.textSoFar,
    signal: (signal) => signals.emit(signal, signal),
    assertReleased() {
      const left = [...signals.eventNames(), ...stdin.eventNames()];
      if (left.length > 0) throw new Error(`The command still listens for ${left.join(', ')}.`);
    },
  };
}

/** Collects output. A character may be split over two writes. */
function createOutput() {
  const parts: Uint8Array[] = [];
  return {
    write: (text: string | Uint8Array) => parts.push(Buffer.from(text)),
    textSoFar: () => Buffer.concat(parts).toString(),
  };
}

/** The working directory of the commands that run now. Node has one for the whole process. */
const shared = { path: '', before: '', commands: 0, freed: new EventEmitter() };

/**
 * Changes to a directory, after waiting until no command runs in another one. Returns a function that
 * leaves it.
 */
async function enterDirectory(path: string): Promise<() => void> {
  while (shared.commands > 0 && shared.path !== path) await once(shared.freed, 'freed');
  if (shared.commands === 0) {
    shared.before = process.cwd();
    process.chdir(path);
  }
  shared.path = path;
  shared.commands += 1;
  return () => {
    shared.commands -= 1;
    if (shared.commands > 0) return;
    process.chdir(shared.before);
    shared.freed.emit('freed');
  };
}

/** A command that runs until it gets a signal; it is stopped after the test. */
export interface RunningCommand {
  firstLine: string;
  /** Its whole stderr; resolves when the command has ended. */
  stderr: Promise<string>;
  /** Its stdout so far. */
  stdoutSoFar: () => string;
  /** Its stderr so far. */
  stderrSoFar: () => string;
  /** Sends a signal, and does not wait for the end. */
  signal: (signal: NodeJS.Signals) => void;
  /** Sends a signal and returns the exit code; null if the signal ended the process. */
  end: (signal: NodeJS.Signals) => Promise<number | null>;
}

/** Starts a command inside the test process, and waits for its first line on stdout. */
export async function runInBackground(
  t: Test,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunningCommand> {
  const { process, stdoutSoFar, stderrSoFar, signal, assertReleased } = createCommandProcess(
    options.env,
  );
  const leaveDirectory = await enterDirectory(options.cwd ?? ROOT);
  const ended = runCommandLine(args, process);
  const end = async (name: NodeJS.Signals): Promise<number | null> => {
    signal(name);
    const code = await ended;
    assertReleased();
    return code;
  };
  t.teardown(() => end('SIGTERM'));
  const state = { hasEnded: false };
  void ended.then(() => (state.hasEnded = true));
  await until('the first line', () => state.hasEnded || stdoutSoFar().includes('\n'));
  leaveDirectory();
  const [firstLine = '', ...more] = stdoutSoFar().split('\n');
  const stderr = ended.then(stderrSoFar);
  return {
    firstLine: more.length > 0 ? firstLine : `exited: ${stderrSoFar()}`,
    stderr,
    stdoutSoFar,
    stderrSoFar,
    signal,
    end,
  };
}

/** Joins the lines of a wrapped message. */
export const unwrap = (text: string): string => text.replaceAll(/\n\s*(?=\S)/g, ' ');

/** Asserts that a message fits a terminal. Only a word that is longer than a line may be wider. */
export function assertWidth(t: Test, text: string): void {
  const wide = text.split('\n').filter((line) => line.length > 80 && line.includes(' '));
  t.same(wide, [], 'fits 80 columns');
}

/** Asserts wrong usage: exit code 2, nothing on stdout, one message on stderr. */
export function assertUsageError(
  t: Test,
  { code, stdout, stderr }: CommandResult,
  message: RegExp,
): void {
  t.equal(code, 2);
  t.equal(stdout, '');
  assertWidth(t, stderr);
  t.match(unwrap(stderr), message);
  t.match(unwrap(stderr), /^sandbox-kit: [^\n]+[^.?!\n][.?]\n$/);
}
