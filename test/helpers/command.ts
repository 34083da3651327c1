import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { ROOT } from './repository.ts';

const MAIN = join(ROOT, 'src/cli/main.ts');
/** Node's compile cache, shared by all processes that the tests start. */
export const COMPILE_CACHE: string = join(ROOT, 'node_modules/.cache/compiled');

/** How to run a command. */
export interface RunOptions {
  /** Variables in addition to PATH and HOME; the environment of the test is not inherited. */
  env?: Record<string, string>;
  /** The input on stdin. */
  input?: string | Uint8Array;
  /** Ends a command that hangs (default: 5 minutes, so that a slow machine fails no test). */
  timeoutMs?: number;
  cwd?: string;
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

/** Runs a command of the kit from its sources until it exits. */
export async function run(
  args: readonly string[],
  options: RunOptions = {},
): Promise<CommandResult> {
  const child = launch(args, options);
  child.stdin.end(options.input ?? '');
  using deadline = systemClock.deadline(options.timeoutMs ?? 300_000);
  deadline.signal.addEventListener('abort', () => child.kill('SIGKILL'));
  const [stdout, stderr, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
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

/** A running server command; it is killed after the test. */
export interface RunningCommand {
  firstLine: string;
  child: ChildProcessWithoutNullStreams;
  /** Its whole stderr; resolves when the command has ended. */
  stderr: Promise<string>;
  /** Its stdout so far. */
  stdoutSoFar: () => string;
  /** Its stderr so far. */
  stderrSoFar: () => string;
  /** Sends a signal and returns the exit code; null if the signal ended the process. */
  end: (signal: NodeJS.Signals) => Promise<number | null>;
}

/** Starts a server command, and waits for its first line on stdout. */
export async function start(
  t: Test,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunningCommand> {
  const child = launch(args, options);
  let stdoutSoFar = '';
  child.stdout.on('data', (chunk) => (stdoutSoFar += String(chunk)));
  let stderrSoFar = '';
  child.stderr.on('data', (text: string) => (stderrSoFar += text));
  const stderr = textOf(child.stderr);
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
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

function launch(args: readonly string[], options: RunOptions): ChildProcessWithoutNullStreams {
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

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += String(chunk);
  return text;
}

async function exitOf(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  const [code] = (await once(child, 'close')) as [number | null];
  return code;
}
