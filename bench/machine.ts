import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpus } from 'node:os';

/** Describes the machine that measures. */
export const describeMachine = (): string =>
  `node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`;

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

/** The processors of a load generator and of its server, which includes a database. */
export const GENERATOR_CPU = '0';
export const SERVER_CPU = '1';

/** Lets a process with all its threads run on one processor. Returns whether the system can do that. */
export const pin = (pid: number | undefined, cpu: string): boolean =>
  spawnSync('taskset', ['-acp', cpu, String(pid)]).status === 0;

/** Starts programs that use as much of a processor as they get. */
export const startBusyPrograms = (count: number, cpu: string): ChildProcess[] =>
  Array.from({ length: count }, () =>
    spawn('taskset', ['-c', cpu, process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' }),
  );

/**
 * Pins this process, and those that it starts, to one processor. Returns a sentence that says how the
 * processes share the machine.
 */
export const pinGenerator = (): string =>
  pin(process.pid, GENERATOR_CPU)
    ? `load generator on processor ${GENERATOR_CPU}, server on processor ${SERVER_CPU}`
    : 'load generator and server share all processors';
