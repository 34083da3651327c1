/** `migrate` creates and updates the tables of a PostgreSQL database. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newestVersion } from '../../src/service/store/schema/changes.ts';
import { startService } from '../../src/service/index.ts';
import { assertUsageError, run, runInBackground, unwrap } from '../support/commands/command.ts';
import { runProcess, start } from '../support/commands/command-process.ts';
import { execute, withPostgresServer } from '../support/database/postgres.ts';
import { withTcpServer } from '../support/network/tcp-server.ts';
import { ROOT } from '../support/repository.ts';

/** Returns the statements in the documentation, for these roles. */
function readGrants({ owner, role }: { owner: string; role: string }): string[] {
  const page = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
  const [, statements = ''] = /```sql grants\n(.*?)```/s.exec(page) ?? [];
  const renamed = statements
    .replaceAll('kit_service', role)
    .replaceAll('for role kit ', `for role ${owner} `);
  return renamed.split(';').filter((statement) => statement.trim() !== '');
}

void t.test('migrate updates a PostgreSQL database, and says what it lacks', async (t) => {
  const server = await withPostgresServer(t);
  const runOn = (url: string) => run(['migrate'], { env: { SANDBOX_KIT_DATABASE_URL: url } });
  const outputs: string[] = [];
  const runArgs = async (args: string[], url: string) => {
    const result = await run([...args, '--database', url]);
    outputs.push(result.stdout, result.stderr);
    return result;
  };

  await t.test('processes that migrate at the same time wait for each other', async (t) => {
    const env = { SANDBOX_KIT_DATABASE_URL: server.url };
    const migrating = [run, run, runProcess].map((runIn) => runIn(['migrate'], { env }));
    const results = await Promise.all(migrating);
    outputs.push(...results.flatMap(({ stdout, stderr }) => [stdout, stderr]));
    t.same(
      results.map(({ code, stderr }) => ({ code, stderr })),
      Array(3).fill({ code: 0, stderr: '' }),
    );
    t.same(results.map(({ stdout }) => stdout).sort(), [
      `Migrated the database from version 0 to ${newestVersion()}.\n`,
      `The database already has version ${newestVersion()}.\n`,
      `The database already has version ${newestVersion()}.\n`,
    ]);
  });

  await t.test('a role that may only read and write rows can serve', async (t) => {
    const { name, superuserUrl } = server;
    const role = `${name}_rows`;
    await execute(
      superuserUrl,
      `create role ${role} login password 'rows-secret'`,
      'revoke all on schema public from public',
    );
    const url = new URL(server.url);
    url.username = role;
    url.password = 'rows-secret';
    const options = { env: { SANDBOX_KIT_DATABASE_URL: url.href } };
    const missing =
      /may not use the tables.*GRANT USAGE ON SCHEMA, GRANT SELECT, .*ON ALL SEQUENCES/s;
    const withoutSchema = await run(['serve', '--port', '0'], options);
    assertUsageError(t, withoutSchema, missing);
    await execute(superuserUrl, `grant usage on schema public to ${role}`);
    const withoutTables = await run(['serve', '--port', '0'], options);
    assertUsageError(t, withoutTables, missing);
    outputs.push(withoutSchema.stderr, withoutTables.stderr);
    await execute(server.url, ...readGrants({ owner: name, role }));
    await execute(server.url, 'create table of_a_later_version (n bigserial)');
    await execute(url.href, 'insert into of_a_later_version default values');
    const { firstLine } = await runInBackground(t, ['serve', '--port', '0', '--json'], options);
    t.match(JSON.parse(firstLine), { url: /^http:/ });
    const other = await server.createDatabase();
    const empty = new URL(other.url);
    empty.username = role;
    empty.password = 'rows-secret';
    await execute(other.superuserUrl, 'revoke create on schema public from public');
    for (const args of [['migrate'], ['serve', '--port', '0']]) {
      assertUsageError(
        t,
        await runArgs(args, empty.href),
        /lacks a permission .*\(42501\)\. Run (npx )?sandbox-kit migrate with a role that may create tables/,
      );
    }
  });

  await t.test('unencrypted connections to another machine cause one warning', async (t) => {
    const remote = new URL(server.url);
    // Counts as another machine, and reaches this one.
    remote.hostname = '0.0.0.0';
    const warning =
      /connections to the database on 0\.0\.0\.0 are not encrypted.*sslmode=verify-full/;
    const migrated = await runOn(remote.href);
    t.equal(migrated.code, 0);
    t.match(unwrap(migrated.stderr), warning);
    const env = { SANDBOX_KIT_DATABASE_URL: remote.href };
    const { end, stderr } = await runInBackground(t, ['serve', '--port', '0'], { env });
    t.equal(await end('SIGTERM'), 0);
    const lines = (await stderr).split('\n').filter((line) => line.startsWith('{'));
    t.match(
      lines.map((line) => JSON.parse(line) as unknown),
      [{ msg: 'database_not_encrypted', warning }],
    );
    t.equal(lines.length, 1);
    remote.search = '?sslmode=disable';
    t.equal((await runOn(remote.href)).stderr, '');
    outputs.push(migrated.stderr, ...lines);
  });

  await t.test('PGPASSWORD is the password of a URL without one', async (t) => {
    const url = new URL(server.url);
    const env = { PGPASSWORD: url.password };
    url.password = '';
    t.match(await runProcess(['migrate', '--database', url.href], { env }), {
      code: 0,
      stderr: '',
    });
  });

  const canRead = existsSync('/proc/self/cmdline');
  await t.test('ps does not show the URL of a running service', { skip: !canRead }, async (t) => {
    const { url } = await server.createDatabase();
    const { child } = await start(t, ['serve', '--port', '0', '--database', url]);
    const shown = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8');
    t.match(shown, /^sandbox-kit/);
    t.notOk(shown.includes(new URL(url).password));
  });

  await t.test('a database that is newer than the program is an error', async (t) => {
    const newer = await server.createDatabase();
    await runOn(newer.url);
    await execute(newer.url, 'update schema_version set version = 99');
    for (const args of [['migrate'], ['serve', '--port', '0']]) {
      const result = await run(args, { env: { SANDBOX_KIT_DATABASE_URL: newer.url } });
      outputs.push(result.stdout, result.stderr);
      assertUsageError(
        t,
        result,
        new RegExp(`has version 99, .* only versions up to ${newestVersion()}\\. Update`),
      );
    }
  });

  await t.test('a database of an unpublished version is an error', async (t) => {
    const older = await server.createDatabase();
    await runOn(older.url);
    await execute(older.url, 'update schema_version set version = 1');
    for (const args of [['migrate'], ['serve', '--port', '0']]) {
      const result = await run(args, { env: { SANDBOX_KIT_DATABASE_URL: older.url } });
      outputs.push(result.stdout, result.stderr);
      assertUsageError(
        t,
        result,
        /The database was written by an earlier, unpublished version .* Start with an empty database\./,
      );
    }
  });

  await t.test('a database that is not in UTF-8 is an error', async (t) => {
    const { name, superuserUrl } = server;
    const latin = new URL(server.url);
    latin.pathname = `/${name}_latin`;
    await execute(
      superuserUrl,
      `create database ${name}_latin owner ${name} template template0 encoding 'LATIN1' locale 'C'`,
    );
    const dataDir = t.testdir();
    const service = await startService({ dataDir });
    await service.stop();
    for (const args of [['migrate'], ['serve', '--port', '0'], ['move', '--from', dataDir]]) {
      const result = await run(args, { env: { SANDBOX_KIT_DATABASE_URL: latin.href } });
      outputs.push(result.stdout, result.stderr);
      assertUsageError(
        t,
        result,
        /The database has the encoding LATIN1, .* with encoding 'UTF8' template template0\./,
      );
    }
    const tables = await execute(latin.href, `select to_regclass('schema_version') as name`);
    t.same(tables, [{ name: null }], 'nothing was created');
  });

  await t.test('a server that accepts connections and never responds is an error', async (t) => {
    const port = await withTcpServer(t, () => undefined);
    const url = new URL(server.url);
    url.hostname = '127.0.0.1';
    url.port = String(port);
    for (const args of [['migrate'], ['serve', '--port', '0']]) {
      const result = await runArgs(args, url.href);
      t.equal(result.code, 3);
      t.match(
        unwrap(result.stderr),
        `The server at 127.0.0.1:${port} accepted the connection, but did not respond within 5 s (server_silent). `,
      );
    }
  });

  await t.test('a database that is unreachable at the start is an error', async (t) => {
    await server.stop();
    const unknown = new URL(server.url);
    unknown.hostname = 'db.invalid';
    for (const [url, code] of [
      [new URL(server.url), 'ECONNREFUSED'],
      [unknown, '(ENOTFOUND|EAI_AGAIN)'],
    ] as const) {
      const place = `${url.hostname}:${url.port}`.replaceAll('.', '\\.');
      const message = `The connection to the database at ${place} failed \\(${code}\\)\\. .*[^.]\\.\n$`;
      for (const args of [['migrate'], ['serve', '--port', '0']]) {
        const result = await runArgs(args, url.href);
        t.equal(result.code, 3);
        t.equal(result.stdout, '');
        t.match(unwrap(result.stderr), new RegExp(message, 's'));
      }
    }
  });

  await t.test('a missing URL is an error', async (t) => {
    assertUsageError(t, await run(['migrate']), /migrate needs a database\. Set its URL in/);
  });

  const text = outputs.join('\n');
  t.notMatch(text, new URL(server.url).password, 'nothing shows the password');
  t.notMatch(text, 'rows-secret');
});
