/** CPU time of benchmarks that run their servers in child processes. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the CPU time of this process so far, in microseconds. */
export function readCpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** What a measurement took: the time, and the CPU time of this process and of a database. */
interface Costs {
  elapsedS: number;
  cpuMicros: number;
  /** NaN without a database server. */
  databaseCpuMicros: number;
}

/** Measures what running something costs. `serverPid` is the process of the database server. */
export async function measureCosts(run: () => Promise<unknown>, serverPid = NaN): Promise<Costs> {
  const [cpuBefore, databaseCpuBefore] = [readCpuMicros(), readServerCpuMicros(serverPid)];
  const startedMs = performance.now();
  await run();
  const elapsedS = (performance.now() - startedMs) / 1_000;
  return {
    elapsedS,
    cpuMicros: readCpuMicros() - cpuBefore,
    databaseCpuMicros: readServerCpuMicros(serverPid) - databaseCpuBefore,
  };
}

/** Lets the parent process read the CPU time of this one. */
export function reportCpuTime(): void {
  process.on('message', () => process.send?.(readCpuMicros()));
}

/** Returns the CPU time so far of a child process that called `reportCpuTime`, in microseconds. */
export async function readChildCpuMicros(child: ChildProcess): Promise<number> {
  child.send('cpu');
  return ((await once(child, 'message')) as [number])[0];
}

/** Clock ticks per second in `/proc`, on all common systems. */
const TICKS_PER_SECOND = 100;
const toMicros = (ticks: number): number => (ticks / TICKS_PER_SECOND) * 1e6;

/**
 * Returns the CPU time of a process with its children, in microseconds; NaN if it is unknown, and on
 * systems without `/proc`.
 */
export function readServerCpuMicros(server: number): number {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const processes = pids.flatMap((name) => readProcess(Number(name)) ?? []);
    const own = processes.filter((found) => found.pid === server || found.parent === server);
    return own.length === 0 ? NaN : own.reduce((sum, { micros }) => sum + micros, 0);
  } catch {
    return NaN;
  }
}

/** Returns the CPU time of all child processes that have ended, in microseconds; NaN if it is unknown. */
export const readEndedChildrenCpuMicros = (): number =>
  readProcess(process.pid)?.childMicros ?? NaN;

interface ProcessTimes {
  pid: number;
  parent: number;
  /** With its ended children. */
  micros: number;
  childMicros: number;
}

/** Returns the CPU time of a process; undefined if it has just ended. */
function readProcess(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
    const own = toMicros(user + system);
    const childMicros = toMicros(childUser + childSystem);
    return { pid, parent: fields[1] ?? 0, micros: own + childMicros, childMicros };
  } catch {
    return undefined;
  }
}
