/** A command releases what it used, so that its process ends by itself, also inside another program. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { run, runInBackground } from '../support/commands/command.ts';
import { atNight } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { until } from '../support/until.ts';

/** Counts what keeps the event loop of this process alive: servers, sockets, timers, threads, processes. */
function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

const describe = (resources: Map<string, number>): string =>
  [...resources].map(([name, count]) => `${count} ${name}`).join(', ');

/** Asserts that a command leaves neither resources nor listeners on the process. */
async function assertReleases(
  t: Test,
  name: string,
  runCommand: () => Promise<unknown>,
): Promise<void> {
  const before = countResources();
  const listenersBefore = process.eventNames().map((event) => process.listenerCount(event));
  await runCommand();
  const isReleased = (): boolean =>
    [...countResources()].every(([kind, count]) => count <= (before.get(kind) ?? 0));
  // A server or a connection that was closed is gone some turns of the event loop later.
  await until(`${name} released everything (before: ${describe(before)})`, isReleased);
  const listeners = process.eventNames().map((event) => process.listenerCount(event));
  t.same(listeners, listenersBefore, `${name}: the listeners of the process`);
}

void t.test('a command that has ended keeps nothing open', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const folder = t.testdir({});
  const scenario = ['--scenario', 'follow-up'];
  const load = ['load', agent.url, '--rate', '10', '--duration', '1s', '--warm-up', '0s'];
  const commands = [
    ['check', agent.url, '--area', 'chat,health,users'],
    ['check', 'http://127.0.0.1:1'],
    [...load, '--accept-not-proven'],
    [...load, '--engine', 'autocannon', '--profile', 'chat', '--accept-not-proven'],
    ['simulate', agent.url, ...scenario, '--html', join(folder, 'page.html')],
    ['doctor', agent.url],
    ['selftest', '--only', 'health/status-ok'],
    ['exec', '--agent', '--', process.execPath, '-e', ''],
    ['exec', '--', 'no-such-program'],
    ['serve', '--port', '0', '--seed-file', join(folder, 'not-there')],
    ['serve', '--port', new URL(agent.url).port],
    ['agent', '--port', new URL(agent.url).port],
    ...atNight([['demo'], ['check', agent.url, '--area', 'voice']], []),
  ];
  for (const args of commands) {
    await assertReleases(t, args.join(' '), () => run(args));
  }
});

void t.test('a server that was stopped keeps nothing open', async (t) => {
  for (const args of [
    ['agent', '--port', '0'],
    ['agent', '--mutant', 'chat/content-null'],
    ['serve', '--port', '0'],
    ['serve', '--port', '0', '--data', join(t.testdir({}), 'data')],
    ['serve', '--mutant', 'service/traces-202'],
  ]) {
    await assertReleases(t, args.join(' '), async () => {
      const { end } = await runInBackground(t, args);
      t.equal(await end('SIGTERM'), 0);
    });
  }
});
