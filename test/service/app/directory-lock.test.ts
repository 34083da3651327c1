/** Only one service at a time uses a data directory. */
import { join } from 'node:path';
import t from 'tap';
import { startService } from '../../../src/service/index.ts';
import { run, assertUsageError } from '../../support/commands/command.ts';
import { start } from '../../support/commands/command-process.ts';
import { isNightly } from '../../support/nightly.ts';

void t.test('a second process fails to start, and changes nothing for the first', async (t) => {
  const dir = join(t.testdir({}), 'data');
  const args = ['serve', '--port', '0', '--json', '--data', dir];
  const { firstLine, child, end } = await start(t, args);
  const { adminUrl } = JSON.parse(firstLine) as { adminUrl: string };
  await t.rejects(startService({ dataDir: dir }), {
    code: 'start_failed',
    message: new RegExp(
      `Another sandbox-kit process uses the data directory \\S+data \\(process ${child.pid}\\)\\. ` +
        'Stop it, or choose another directory\\.',
    ),
  });
  t.equal((await fetch(`${adminUrl}/ready`)).status, 200);
  if (isNightly) assertUsageError(t, await run(args), /Another sandbox-kit process uses the data/);
  await end('SIGKILL');
  const third = await startService({ dataDir: dir });
  t.match(third, { url: /^http/ }, 'kill -9 releases the directory');
  await third.stop();
});

void t.test('a second service in the same process fails to start, too', async (t) => {
  const dataDir = t.testdir({});
  const first = await startService({ dataDir });
  for (let nth = 0; nth < 2; nth += 1) {
    await t.rejects(startService({ dataDir }), {
      code: 'start_failed',
      message: `Another sandbox-kit process uses the data directory ${dataDir} (process ${process.pid}). Stop it, or choose another directory.`,
    });
  }
  await first.stop();
  await (await startService({ dataDir })).stop();
});

void t.test(
  'only one of several services that start at the same time on a directory succeeds',
  async (t) => {
    const dataDir = t.testdir({});
    const starts = await Promise.allSettled([1, 2, 3].map(() => startService({ dataDir })));
    const running = starts.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    t.equal(running.length, 1);
    for (const service of running) await service.stop();
  },
);
