import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import type { Test } from 'tap';
import type { CommandProcess } from '../../../cli/process.ts';
import { runCommandLine } from '../../../cli/run.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { COMPILE_CACHE, ROOT } from '../repository.ts';
import { until } from '../until.ts';

const MAIN = join(ROOT, 'cli/main.ts');

/** How to run a command inside the test process. */
export interface RunOptions {
  /** Variables in addition to PATH and HOME; the environment of the test is not inherited. */
  env?: Record<string, string>;
  /** The working directory (default: the root of the repository). */
  cwd?: string;
}

/** How to run a command in a process of its own. */
export interface ProcessOptions extends RunOptions {
  /** The input on stdin. */
  input?: string | Uint8Array;
  /** Ends a command that hangs (default: 5 minutes, so that a slow machine fails no test). */
  timeoutMs?: number;
  /** Size limit of written files; a write beyond it fails like a write to a full disk. */
  fileBytesMax?: number;
}

/** The result of a command. */
export interface CommandResult {
  /** Null if a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command of the kit inside the test process, which is much faster than a process of its own.
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
    ...{ stderr, stdoutSoFar, stderrSoFar, signal, end },
  };
}

/** Runs a command of the kit from its sources in a process of its own until it exits. */
export async function runProcess(
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<CommandResult> {
  const child = launch(args, options);
  child.stdin.end(options.input ?? '');
  using deadline = systemClock.deadline(options.timeoutMs ?? 300_000);
  deadline.signal.addEventListener('abort', () => child.kill('SIGKILL'));
  const [stdout, stderr, code] = await Promise.all([
    readText(child.stdout),
    readText(child.stderr),
    exitOf(child),
  ]);
  return { code, stdout, stderr };
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

/** A command in a process of its own. */
export interface RunningProcess extends RunningCommand {
  child: ChildProcessWithoutNullStreams;
}

/**
 * Starts a command in a process of its own, and waits for its first line on stdout. It is killed after
 * the test.
 */
export async function start(
  t: Test,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<RunningProcess> {
  const child = launch(args, options);
  let stdoutSoFar = '';
  child.stdout.on('data', (chunk) => (stdoutSoFar += String(chunk)));
  let stderrSoFar = '';
  child.stderr.on('data', (text: string) => (stderrSoFar += text));
  const stderr = readText(child.stderr);
  const ended = exitOf(child);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [firstLine] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(async () => [`exited: ${await stderr}`]),
  ])) as [string];
  return {
    firstLine,
    child,
    stderr,
    stdoutSoFar: () => stdoutSoFar,
    stderrSoFar: () => stderrSoFar,
    signal: (signal) => void child.kill(signal),
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

function launch(args: readonly string[], options: ProcessOptions): ChildProcessWithoutNullStreams {
  const { PATH = '', HOME = '' } = process.env;
  const cwd = options.cwd ?? ROOT;
  // The hooks that tap adds to a process double its start time and write files.
  const command = ['-u', 'NODE_OPTIONS', '-u', 'NODE_V8_COVERAGE', process.execPath, MAIN, ...args];
  const { fileBytesMax } = options;
  if (fileBytesMax === undefined) {
    const env = { PATH, HOME, NODE_COMPILE_CACHE: COMPILE_CACHE, ...options.env };
    return spawn('env', command, { cwd, env });
  }
  const settings = { cwd, env: { PATH, HOME, ...options.env } };
  // POSIX ulimit counts blocks of 512 bytes.
  const limited = `ulimit -f ${Math.ceil(fileBytesMax / 512)}; exec env "$@"`;
  return spawn('sh', ['-c', limited, 'sh', ...command], settings);
}

async function exitOf(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}
