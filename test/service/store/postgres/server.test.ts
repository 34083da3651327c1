/** The PostgreSQL servers that other tests use behave like those of users. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import t, { type Test } from 'tap';
import { execute, withPostgres } from '../../../support/database/postgres.ts';
import { migrate } from '../../../../src/service/store/postgres/migrate.ts';
import { newestVersion } from '../../../../src/service/store/schema/changes.ts';
import { nightOnly } from '../../../support/nightly.ts';
import { ROOT } from '../../../support/repository.ts';
import { until } from '../../../support/until.ts';

async function connect(t: Test, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

void t.test('commits are durable', async (t) => {
  const { url } = await withPostgres(t);
  const rows = await execute(
    url,
    "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit') order by 1",
  );
  t.same(rows, [
    { name: 'fsync', setting: 'on' },
    { name: 'synchronous_commit', setting: 'on' },
  ]);
});

void t.test('a database can have the tables of the service, owned by its role', async (t) => {
  const { url, name } = await withPostgres(t, 'migrated');
  const other = await withPostgres(t, 'migrated');
  t.not(other.name, name);
  const owners = await execute(
    url,
    `select distinct pg_get_userbyid(relowner)::text as owner from pg_class
       where relnamespace = 'public'::regnamespace
     union select pg_get_userbyid(datdba)::text from pg_database where datname = '${name}'`,
  );
  t.same(owners, [{ owner: name }]);
  const version = newestVersion();
  t.same(await migrate(url), { from: version, to: version }, 'they are up to date');
});

void t.test('two databases are independent, and are dropped after their tests', async (t) => {
  let dropped = '';
  await t.test('with a database', async (t) => {
    const [one, two] = await Promise.all([withPostgres(t), withPostgres(t)]);
    dropped = one.name;
    await connect(t, one.url);
    await execute(one.url, 'create table numbers (n int)', 'insert into numbers values (1)');
    await execute(two.url, 'create table numbers (n int)');
    t.same(await execute(one.url, 'select * from numbers'), [{ n: 1 }]);
    t.same(await execute(two.url, 'select * from numbers'), []);
    await t.rejects(
      execute(one.url.replace(one.name, two.name), 'select 1'),
      'a role knows only its own password',
    );
  });
  const { superuserUrl } = await withPostgres(t);
  t.same(await execute(superuserUrl, `select from pg_database where datname = '${dropped}'`), []);
  t.same(await execute(superuserUrl, `select from pg_roles where rolname = '${dropped}'`), []);
});

void t.test(
  'no server outlives a killed test process',
  existsSync('/proc') ? nightOnly() : { skip: 'without /proc' },
  async (t) => {
    const serverFile = join(ROOT, 'test/support/database/postgres-server.ts');
    const program = `
    const { startServerProcess } = await import(${JSON.stringify(serverFile)});
    const { pid, directory } = await startServerProcess({});
    console.log(JSON.stringify({ pid: pid(), directory }));
    setInterval(() => undefined, 1_000);`;
    const tester = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => tester.kill('SIGKILL'));
    const [line] = (await once(createInterface(tester.stdout), 'line')) as [string];
    const { pid, directory } = JSON.parse(line) as { pid: number; directory: string };
    t.ok(isRunning(pid) && existsSync(directory), 'the server runs');
    tester.kill('SIGKILL');
    await until('the server has ended', () => !isRunning(pid));
    await until('its directory is removed', () => !existsSync(directory));
  },
);

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
