/** Concurrent services and agents, in separate processes and in one process. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import t from 'tap';
import { startAgent, startService } from '../../../library/index.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { atNight, nightOnly } from '../../helpers/nightly.ts';

const PROGRAM = join(import.meta.dirname, '../../helpers/own-service.ts');
const COUNT = atNight(8, 3);
/** Ends a process that hangs; a busy machine must not. */
const RUN_MS_MAX = 600_000;

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** Starts a process, and returns the URLs that it prints when its service and its agent listen. */
async function launch(
  name: string,
): Promise<{ child: Child; exit: Promise<unknown[]>; urls: string[] }> {
  const child = spawn(process.execPath, [PROGRAM, name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'close');
  const lines = createInterface(child.stdout);
  const [line = ''] = (await Promise.race([once(lines, 'line'), exit.then(() => [])])) as string[];
  return { child, exit, urls: line.split(' ') };
}

void t.test(
  'Processes run concurrently, each with its own service and agent',
  nightOnly,
  async (t) => {
    const names = Array.from({ length: COUNT }, (_, nth) => `process-${nth}`);
    const processes = await Promise.all(names.map(launch));
    using deadline = systemClock.deadline(RUN_MS_MAX);
    deadline.signal.addEventListener('abort', () => {
      for (const { child } of processes) child.kill('SIGKILL');
    });
    const urls = processes.flatMap((started) => started.urls);
    t.equal(new Set(urls).size, 2 * COUNT, 'all listen concurrently, each at its own URL');
    // The processes start to send only now, so that they run concurrently.
    for (const { child } of processes) child.stdin.write('go\n');
    for (const [nth, { exit }] of processes.entries()) {
      t.same(await exit, [0, null], `process ${nth}`);
    }
    for (const url of urls) await t.rejects(fetch(url), 'no server is left');
  },
);

void t.test('Many services run in one process, each with its own key and data', async (t) => {
  const services = await Promise.all(Array.from({ length: COUNT }, () => startService()));
  const agents = await Promise.all(Array.from({ length: COUNT }, () => startAgent()));
  t.teardown(() => Promise.all([...services, ...agents].map((server) => server.stop())));
  t.equal(new Set([...services, ...agents].map(({ url }) => url)).size, 2 * COUNT);
  t.equal(new Set(services.map(({ apiKey }) => apiKey)).size, COUNT);
  for (const [nth, { url }] of services.entries()) {
    const statuses = services.map(async ({ apiKey }) => {
      const headers = { 'x-service-api-key': apiKey };
      return (await fetch(`${url}/api/simulations/sessions`, { headers })).status;
    });
    const expected = services.map((_, index) => (index === nth ? 200 : 401));
    t.same(await Promise.all(statuses), expected);
  }
});
