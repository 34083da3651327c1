import type { Test } from 'tap';
import { until } from '../until.ts';

/** Counts what calls open in this process: UDP sockets and threads. */
export const countCallResources = (): number =>
  process.getActiveResourcesInfo().filter((name) => /UDP|MESSAGEPORT|WORKER/i.test(name)).length;

/** Waits until no more of them are open than before the calls. */
export async function assertCallsClosed(t: Test, before: number): Promise<void> {
  await until('calls leave no socket and no thread', () => countCallResources() <= before);
  t.pass('calls leave no socket and no thread');
}
