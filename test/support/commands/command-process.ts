/** Runs commands as separate processes, to test signals, pipes, full disks, and stdin. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import { COMPILE_CACHE, ROOT } from '../repository.ts';
import type { CommandResult, RunningCommand, RunOptions } from './command.ts';

const MAIN = join(ROOT, 'cli/main.ts');

/** How to run a command in a separate process. */
export interface ProcessOptions extends RunOptions {
  /** The input on stdin. */
  input?: string | Uint8Array;
  /** Ends a command that hangs (default: 5 minutes, so that a slow machine fails no test). */
  timeoutMs?: number;
  /** Size limit of written files; a write beyond it fails like a write to a full disk. */
  fileBytesMax?: number;
  /** A module that the process and its threads load first. */
  preload?: string;
}

/** Runs a command of the kit from its sources in a separate process until it exits. */
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

/** A command in a separate process. */
export interface RunningProcess extends RunningCommand {
  child: ChildProcessWithoutNullStreams;
}

/**
 * Starts a command in a separate process, and waits for its first line on stdout. It is killed after
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
  const program = [...(options.preload ? ['--import', options.preload] : []), MAIN, ...args];
  const command = ['-u', 'NODE_OPTIONS', '-u', 'NODE_V8_COVERAGE', process.execPath, ...program];
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
