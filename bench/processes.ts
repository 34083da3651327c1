/** What Linux says about processes, in `/proc`. */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns a number of the status of a process; NaN if it is unknown, and on systems without `/proc`. */
export function readStatus(pid: number | undefined, name: 'Threads' | 'VmHWM' | 'VmRSS'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  } catch {
    return NaN;
  }
}

/** Returns the memory of a process in bytes: the resident one, or the most that it has used (`VmHWM`). */
export const readMemoryBytes = (pid: number | undefined, name: 'VmHWM' | 'VmRSS'): number =>
  readStatus(pid, name) * 1_024;

/** Clock ticks per second in `/proc`, on all common systems. */
const TICKS_PER_SECOND = 100;
const toMicros = (ticks: number): number => (ticks / TICKS_PER_SECOND) * 1e6;

/** A process, and its CPU time in microseconds. */
interface ProcessTimes {
  pid: number;
  parent: number;
  ownMicros: number;
  /** That of its ended children. */
  childMicros: number;
}

/** Returns the CPU time of a process; undefined if it has just ended. */
export function readProcess(pid: number): ProcessTimes | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
    return {
      pid,
      parent: fields[1] ?? 0,
      ownMicros: toMicros(user + system),
      childMicros: toMicros(childUser + childSystem),
    };
  } catch {
    return undefined;
  }
}

/** Returns a process and its children. @throws on systems without `/proc`. */
export function listFamily(pid: number): ProcessTimes[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const processes = pids.flatMap((name) => readProcess(Number(name)) ?? []);
  return processes.filter((found) => found.pid === pid || found.parent === pid);
}
