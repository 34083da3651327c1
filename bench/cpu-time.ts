/** CPU time of benchmarks that run their servers in child processes. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { listFamily, readProcess } from './processes.ts';

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

/**
 * Returns the CPU time of a process with its children, in microseconds; NaN if it is unknown, and on
 * systems without `/proc`.
 */
export function readServerCpuMicros(server: number): number {
  try {
    const family = listFamily(server);
    if (family.length === 0) return NaN;
    return family.reduce((sum, { ownMicros, childMicros }) => sum + ownMicros + childMicros, 0);
  } catch {
    return NaN;
  }
}

/** Returns the CPU time of all child processes that have ended, in microseconds; NaN if it is unknown. */
export const readEndedChildrenCpuMicros = (): number =>
  readProcess(process.pid)?.childMicros ?? NaN;
