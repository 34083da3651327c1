/** CPU time of benchmarks that run their servers in child processes. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

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
