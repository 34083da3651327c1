/** A pool of connections survives failures of the database, and says what they are. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type pg from 'pg';
import t, { type Test } from 'tap';
import {
  findPostgresProblem,
  type PostgresProblem,
} from '../../../../src/service/store/postgres/database-problem.ts';
import { openPool, type PoolOptions } from '../../../../src/service/store/postgres/pool.ts';
import { execute, withPostgres, withPostgresServer } from '../../../support/database/postgres.ts';
import { generateKeyPair } from '../../../support/network/certificates.ts';
import { withFreezingProxy } from '../../../support/network/freezing-proxy.ts';
import { withTcpServer } from '../../../support/network/tcp-server.ts';
import { until } from '../../../support/until.ts';

/** Long enough for any work on a busy machine, and short enough to wait for. */
const BUSY_MS = 2_500;

function withPool(t: Test, url: string, options: PoolOptions = {}): pg.Pool {
  const pool = openPool(url, options);
  t.teardown(() => pool.end());
  return pool;
}

/** Returns the problem of work that must fail. */
async function findProblem(work: Promise<unknown>): Promise<PostgresProblem | undefined> {
  try {
    await work;
  } catch (error) {
    const problem = findPostgresProblem(error);
    if (problem) return problem;
    throw error;
  }
  throw new Error('The work did not fail.');
}

function changeUrl(url: string, change: (parsed: URL) => void): string {
  const parsed = new URL(url);
  change(parsed);
  return parsed.href;
}

void t.test('a connection has the name of the kit and its time limits', async (t) => {
  const { url } = await withPostgres(t);
  const pool = withPool(t, url, { statementMsMax: 1_500, lockMsMax: 700 });
  const { rows } = await pool.query(
    `select name, setting from pg_settings where name in ('application_name', 'statement_timeout',
       'lock_timeout', 'idle_in_transaction_session_timeout') order by name`,
  );
  t.same(rows, [
    { name: 'application_name', setting: 'sandbox-kit' },
    { name: 'idle_in_transaction_session_timeout', setting: '30000' },
    { name: 'lock_timeout', setting: '700' },
    { name: 'statement_timeout', setting: '1500' },
  ]);
});

void t.test('int8 is a number, unless it would lose digits', async (t) => {
  const { url } = await withPostgres(t);
  const pool = withPool(t, url);
  const { rows } = await pool.query(
    'select count(*) as n, 9007199254740991::int8 as large, (-1)::int8 as less, null::int8 as none',
  );
  t.strictSame(rows, [{ n: 1, large: 9_007_199_254_740_991, less: -1, none: null }]);
  await t.rejects(pool.query('select 1795521600000000001::int8 as ns'), {
    message: /1795521600000000001 .*cast/,
  });
  const { rows: exact } = await pool.query('select 1795521600000000001::int8::text as ns');
  t.strictSame(exact, [{ ns: '1795521600000000001' }]);
});

void t.test('no more connections are open than allowed; others wait', async (t) => {
  const { url, superuserUrl, name } = await withPostgres(t);
  const pool = withPool(t, url, { connectionsMax: 3, connectMsMax: BUSY_MS });
  await Promise.all(Array.from({ length: 20 }, () => pool.query('select pg_sleep(0)')));
  const [row] = await execute(
    superuserUrl,
    `select count(*)::int as count from pg_stat_activity where usename = '${name}'`,
  );
  t.same(row, { count: 3 });
  const held = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
  t.match(await findProblem(pool.query('select 1')), { kind: 'timeout', code: 'pool_timeout' });
  for (const client of held) client.release();
  await pool.query('select 1');
});

void t.test('a restarted database breaks neither the process nor the pool', async (t) => {
  const { url, stop, start, kill } = await withPostgresServer(t);
  const lost: (PostgresProblem | undefined)[] = [];
  const pool = withPool(t, url, { onConnectionLost: (problem) => lost.push(problem) });
  const [idle, used] = await Promise.all([pool.connect(), pool.connect()]);
  idle.release();
  await used.query('begin');
  await stop();
  await until('both connections are lost', () => lost.length >= 2);
  t.match(lost[0], { kind: 'shutting_down', canRetry: true });
  t.ok(await findProblem(used.query('select 1')), 'the connection in use fails');
  used.release();
  t.match(await findProblem(pool.query('select 1')), { kind: 'unreachable', canRetry: true });
  await start();
  t.match((await pool.query('select 1 as one')).rows, [{ one: 1 }], 'it reconnects');
  const running = findProblem(pool.query('select pg_sleep(60)'));
  await until('the statement runs', async () => {
    const rows = await execute(
      url,
      "select from pg_stat_activity where query like 'select pg_sleep(6%' and state = 'active'",
    );
    return rows.length > 0;
  });
  await kill();
  t.match(await running, { canRetry: true });
  await start();
  t.match((await pool.query('select 1 as one')).rows, [{ one: 1 }]);
});

void t.test('a failed connection says what the operator must change', async (t) => {
  const { url, superuserUrl, name } = await withPostgres(t);
  const problemOf = (changed: string) => findProblem(withPool(t, changed).query('select 1'));
  t.match(await problemOf(changeUrl(url, (parsed) => (parsed.password = 'wrong'))), {
    kind: 'authentication_failed',
    code: '28P01',
    canRetry: false,
  });
  t.match(await problemOf(changeUrl(url, (parsed) => (parsed.username = 'nobody'))), {
    kind: 'authentication_failed',
  });
  t.match(await problemOf(changeUrl(url, (parsed) => (parsed.password = ''))), {
    kind: 'authentication_failed',
    code: 'password_missing',
  });
  t.match(await problemOf(changeUrl(url, (parsed) => (parsed.pathname = '/missing'))), {
    kind: 'database_missing',
    canRetry: false,
  });
  t.match(await problemOf(changeUrl(url, (parsed) => (parsed.port = '1'))), {
    kind: 'unreachable',
    code: 'ECONNREFUSED',
  });
  await execute(superuserUrl, 'create table private (n int)');
  t.match(await findProblem(withPool(t, url).query('select * from private')), {
    kind: 'permission_denied',
    canRetry: false,
  });
  await execute(superuserUrl, `alter role ${name} connection limit 0`);
  t.match(await problemOf(url), {
    kind: 'too_many_connections',
    canRetry: true,
    message: /^The role in the database URL has no free connection/,
  });
});

void t.test('a connection that fails does not stay open', async (t) => {
  const { url } = await withPostgres(t);
  const proxy = await withFreezingProxy(t, Number(new URL(url).port));
  const withoutPassword = changeUrl(url, (parsed) => {
    parsed.port = String(proxy.port);
    parsed.password = '';
  });
  t.match(await findProblem(withPool(t, withoutPassword).query('select 1')), {
    kind: 'authentication_failed',
  });
  await until('the server waits for no password', () => proxy.countSockets() === 0);
});

void t.test('a server that stops as it accepts a connection breaks no process', async (t) => {
  const port = await withTcpServer(t, (socket) => {
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, STOPPING])));
  });
  const lost: (PostgresProblem | undefined)[] = [];
  const pool = withPool(t, `postgres://kit@127.0.0.1:${port}/kit`, {
    onConnectionLost: (problem) => lost.push(problem),
  });
  const client = await pool.connect();
  t.match(lost[0], { kind: 'shutting_down', code: '57P01' });
  t.match(await findProblem(client.query('select 1')), { kind: 'unreachable' });
  client.release();
  t.match(await findProblem(pool.query('select 1')), { kind: 'shutting_down' });
});

void t.test('a server without free connections is a problem that a retry can solve', async (t) => {
  const { url } = await withPostgresServer(t, { settings: { max_connections: '8' } });
  const pool = withPool(t, url, { connectionsMax: 20 });
  const held = await Promise.allSettled(Array.from({ length: 20 }, () => pool.connect()));
  const refused = held.filter((each) => each.status === 'rejected');
  t.ok(refused.length > 0 && refused.length < 20, `${refused.length} of 20 refused`);
  for (const { reason } of refused) {
    t.match(findPostgresProblem(reason), {
      kind: 'too_many_connections',
      canRetry: true,
      message: /Raise max_connections/,
    });
  }
  for (const each of held) if (each.status === 'fulfilled') each.value.release();
  await pool.query('select 1');
});

void t.test('a write to a read-only database is a problem that a retry can solve', async (t) => {
  const { url, superuserUrl, name } = await withPostgres(t);
  await execute(superuserUrl, `alter database ${name} set default_transaction_read_only = on`);
  t.match(await findProblem(withPool(t, url).query('create table kept (n int)')), {
    kind: 'read_only',
    code: '25006',
    canRetry: true,
  });
});

void t.test('statements, locks, and idle transactions have limits', async (t) => {
  const { url } = await withPostgres(t);
  await execute(url, 'create table kept (n int)', 'insert into kept values (1)');
  // Each limit has its own pool, so that no other one ends first on a busy machine.
  const brief = withPool(t, url, { statementMsMax: 400 });
  t.match(await findProblem(brief.query('select pg_sleep(60)')), {
    kind: 'timeout',
    code: '57014',
  });
  const pool = withPool(t, url, { lockMsMax: 100 });
  const holder = await pool.connect();
  await holder.query('begin');
  await holder.query('update kept set n = 2');
  t.match(await findProblem(pool.query('update kept set n = 3')), {
    kind: 'timeout',
    code: '55P03',
  });
  await holder.query('rollback');
  const idle = await withPool(t, url, { idleInTransactionMsMax: 300 }).connect();
  const broken = once(idle, 'error');
  await idle.query('begin');
  const [error] = (await broken) as [Error];
  t.match(
    findPostgresProblem(error),
    { kind: 'timeout', code: '25P03' },
    'the transaction is idle',
  );
  idle.release();
  holder.release();
  await pool.query('update kept set n = 4');
});

void t.test('a server that stops responding fails the query, and its connection', async (t) => {
  const { url } = await withPostgres(t);
  const proxy = await withFreezingProxy(t, Number(new URL(url).port));
  const pool = withPool(
    t,
    changeUrl(url, (parsed) => (parsed.port = String(proxy.port))),
    {
      connectionsMax: 1,
      responseMsMax: BUSY_MS,
      connectMsMax: BUSY_MS,
    },
  );
  await pool.query('select 1');
  proxy.freeze();
  t.match(await findProblem(pool.query('select 1')), { kind: 'timeout', code: 'response_timeout' });
  await until('the connection is closed', () => pool.totalCount === 0);
  t.match(await findProblem(pool.query('select 1')), { kind: 'unreachable' }, 'so is a new one');
  proxy.thaw();
  t.match((await pool.query('select 2 as two')).rows, [{ two: 2 }]);
});

void t.test('sslmode decides about encryption and the check of the certificate', async (t) => {
  const tls = await generateKeyPair('db.example');
  const { url } = await withPostgresServer(t, { tls });
  const ca = join(t.testdir(), 'ca.pem');
  writeFileSync(ca, tls.cert);
  const select = async (query: string, host = '127.0.0.1'): Promise<unknown> => {
    const changed = changeUrl(url, (parsed) => (parsed.hostname = host));
    const { rows } = await withPool(t, `${changed}?${query}`).query<{ ssl: boolean }>(
      'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
    );
    return rows[0]?.ssl;
  };
  t.equal(await select('sslmode=disable'), false);
  t.equal(await select('sslmode=require'), true);
  t.equal(await select(`sslmode=verify-full&sslrootcert=${ca}`), true);
  t.match(await findProblem(select('sslmode=verify-full')), {
    kind: 'tls_failed',
    canRetry: false,
  });
  t.match(await findProblem(select(`sslmode=verify-full&sslrootcert=${ca}`, 'localhost')), {
    kind: 'tls_failed',
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  });
  t.equal(await select(`sslmode=verify-ca&sslrootcert=${ca}`, 'localhost'), true);
  const { url: plain } = await withPostgres(t);
  t.match(await findProblem(withPool(t, `${plain}?sslmode=require`).query('select 1')), {
    kind: 'tls_failed',
    code: 'tls_not_offered',
  });
});

void t.test('no error and no object shows the password', async (t) => {
  const { url, superuserUrl, name } = await withPostgres(t);
  const { password } = new URL(url);
  const pool = withPool(t, url);
  const client = await pool.connect();
  const shown = [inspect(pool, { depth: null }), inspect(client, { depth: null })];
  client.release();
  await execute(superuserUrl, `alter role ${name} password 'changed'`);
  const refused = withPool(t, url);
  for (const fail of [
    () => refused.query('select 1'),
    () => refused.connect(),
    () => pool.query('select broken'),
  ]) {
    shown.push(await fail().then(String, (error: unknown) => inspect(error, { depth: null })));
  }
  t.match(shown.slice(2), [/28P01/, /28P01/, /42703/], 'all three failed');
  for (const text of shown) t.notOk(text.includes(password));
});

const AUTHENTICATED = createMessage('R', '\0\0\0\0');
const READY = createMessage('Z', 'I');
const STOPPING = createMessage('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');

/** Returns a message of the PostgreSQL protocol: its type, its length, and its content. */
function createMessage(type: string, content: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(length.length + content.length);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)]);
}
