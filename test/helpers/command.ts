import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { ROOT } from './repository.ts';

const MAIN = join(ROOT, 'src/cli/main.ts');
/** What Node has compiled of the sources is kept from one process to the next. */
const COMPILED = join(ROOT, 'node_modules/.cache/compiled');

/** How a command is run. */
export interface RunOptions {
  /** Variables besides PATH and HOME: nothing of the caller's environment gets in. */
  env?: Record<string, string>;
  /** What it reads from stdin. */
  input?: string | Uint8Array;
  timeoutMs?: number;
  cwd?: string;
  /** No file that it writes may become longer; writing more fails as on a broken disk. */
  fileBytesMax?: number;
}

/** What came of a command. */
export interface Ran {
  /** Null where a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the kit to its end, from its sources. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = launch(args, options);
  child.stdin.end(options.input ?? '');
  using deadline = systemClock.deadline(options.timeoutMs ?? 30_000);
  deadline.signal.addEventListener('abort', () => child.kill('SIGKILL'));
  const [stdout, stderr, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    exitOf(child),
  ]);
  return { code, stdout, stderr };
}

/** Asserts wrong usage: exit code 2, nothing on stdout, one sentence on stderr. */
export function isRefused(t: Test, { code, stdout, stderr }: Ran, says: RegExp): void {
  t.equal(code, 2);
  t.equal(stdout, '');
  t.match(stderr, says);
  t.match(stderr, /^sandbox-kit: [^\n]+[.?]\n$/);
}

/** A verb that serves, and ends with the test. */
export interface Started {
  firstLine: string;
  child: ChildProcessWithoutNullStreams;
  /** All that it wrote to stderr, once it has ended. */
  stderr: Promise<string>;
  /** What it has written to stderr by now. */
  heard: () => string;
  /** Sends a signal and gives the exit code; null where the signal itself ended it. */
  end: (signal: NodeJS.Signals) => Promise<number | null>;
}

/** Starts a verb that serves, and waits for its first line on stdout. */
export async function start(
  t: Test,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Started> {
  const child = launch(args, options);
  let heard = '';
  child.stderr.on('data', (text: string) => (heard += text));
  const stderr = textOf(child.stderr);
  const ended = exitOf(child);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [firstLine] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(async () => [`ended: ${await stderr}`]),
  ])) as [string];
  return {
    firstLine,
    child,
    stderr,
    heard: () => heard,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

function launch(args: readonly string[], options: RunOptions): ChildProcessWithoutNullStreams {
  const { PATH = '', HOME = '' } = process.env;
  const cwd = options.cwd ?? ROOT;
  // What tap adds to a process makes its start take twice as long, and writes files of its own.
  const bare = ['-u', 'NODE_OPTIONS', '-u', 'NODE_V8_COVERAGE', process.execPath, MAIN, ...args];
  const { fileBytesMax } = options;
  if (fileBytesMax === undefined) {
    const env = { PATH, HOME, NODE_COMPILE_CACHE: COMPILED, ...options.env };
    return spawn('env', bare, { cwd, env });
  }
  const settings = { cwd, env: { PATH, HOME, ...options.env } };
  // POSIX counts in blocks of 512 bytes.
  const limited = `ulimit -f ${Math.ceil(fileBytesMax / 512)}; exec env "$@"`;
  return spawn('sh', ['-c', limited, 'sh', ...bare], settings);
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
