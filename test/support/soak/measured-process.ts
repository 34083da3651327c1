/** A command of the built kit in a process whose memory, handles, and CPU time are measured. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import type { Test } from 'tap';
import { readMemoryBytes, readProcess, readStatus } from '../../../bench/processes.ts';
import { ROOT } from '../repository.ts';
import type { UsedMemory } from './measure-memory.ts';

const PRELOAD = new URL('measure-memory.ts', import.meta.url).href;

/** The parts of the repository that the built kit consists of. */
const KIT = ['bin', 'dist', 'docs', 'schemas', 'shipped', 'package.json'];

/** Copies the built kit, so that a build during a long run changes nothing. Returns its program. */
export function copyKit(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const name of KIT) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'bin/sandbox-kit.js');
}

/** A running command. */
export interface MeasuredProcess {
  child: ChildProcess;
  /** The first line of its output. */
  firstLine: string;
  /** Resolves when it has ended, with what it wrote to stderr. */
  stderr: Promise<string>;
  /** What the system says about it. */
  readUsage: () => ProcessUsage;
  /** Lets it collect garbage, and returns what is still used. */
  measureMemory: () => Promise<UsedMemory>;
}

/** What the system says about a process. */
export interface ProcessUsage {
  residentBytes: number;
  descriptors: number;
  threads: number;
  cpuMs: number;
}

/** Starts a command, waits for its first line, and kills it after the test. */
export async function startMeasured(
  t: Test,
  program: string,
  args: readonly string[],
  { env = {}, preloads = [] }: { env?: Record<string, string>; preloads?: readonly string[] } = {},
): Promise<MeasuredProcess> {
  const { PATH = '', HOME = '' } = process.env;
  const imports = [PRELOAD, ...preloads].flatMap((preload) => ['--import', preload]);
  const child = fork(program, args, {
    env: { PATH, HOME, ...env },
    execArgv: ['--expose-gc', ...imports],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const [stdout, stderr] = [child.stdout as Readable, child.stderr as Readable];
  const ended = once(child, 'exit');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const errors = readText(stderr);
  const [firstLine] = (await Promise.race([
    once(createInterface(stdout), 'line'),
    ended.then(async () => [`exited: ${await errors}`]),
  ])) as [string];
  if (!firstLine.startsWith('{')) throw new Error(firstLine);
  stdout.resume();
  return {
    child,
    firstLine,
    stderr: errors,
    readUsage: () => readUsage(child.pid ?? 0),
    async measureMemory() {
      child.send('measure memory');
      return ((await once(child, 'message')) as [UsedMemory])[0];
    },
  };
}

/** @throws if the process has ended. */
const readUsage = (pid: number): ProcessUsage => ({
  residentBytes: readMemoryBytes(pid, 'VmRSS'),
  threads: readStatus(pid, 'Threads'),
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
  cpuMs: (readProcess(pid)?.ownMicros ?? NaN) / 1_000,
});
