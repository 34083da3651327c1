/** CPU time of benchmarks that run their servers in child processes. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the CPU time of this process so far, in microseconds. */
export function readCpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
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

/** Returns the CPU time of a process with its ended children; undefined if it has just ended. */
function readProcess(pid: number): { pid: number; parent: number; micros: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
    return { pid, parent: fields[1] ?? 0, micros: (ticks / TICKS_PER_SECOND) * 1e6 };
  } catch {
    return undefined;
  }
}
