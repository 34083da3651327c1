/** `move` copies a data directory into PostgreSQL, even if it is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import pg from 'pg';
import t, { type Test } from 'tap';
import { schemas } from '../../src/contract/index.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { movedTableNames } from '../../src/service/store/move/moved-tables.ts';
import { assertUsageError, run, unwrap } from '../support/commands/command.ts';
import { runProcess } from '../support/commands/command-process.ts';
import { execute, withPostgres, type TestDatabase } from '../support/database/postgres.ts';
import { atNight, isNightly } from '../support/nightly.ts';
import { ROOT } from '../support/repository.ts';
import { fillDataDir } from '../support/services/filled-data-dir.ts';
import { withService, type ServiceUnderTest } from '../support/services/service.ts';
import { makeSpan } from '../support/traces/otlp.ts';
import { until } from '../support/until.ts';

/** More than two batches. */
const SPANS = 5_000;
const NUL_SPANS = 3;
/** The key that the tests let the database wait at, in the second batch of spans. */
const HELD_KEY = 3_000;

/**
 * Runs the command, and ends it when the database waits for the lock that `hold` takes. Returns its exit
 * code, and what it wrote to stderr.
 */
async function killWhileHeld(
  { superuserUrl, url }: TestDatabase,
  dataDir: string,
  hold: string,
  signal: NodeJS.Signals = 'SIGKILL',
): Promise<{ code: number | null; stderr: string }> {
  const holder = new pg.Client({ connectionString: superuserUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query(hold);
  const main = join(ROOT, 'cli/main.ts');
  const child = spawn(process.execPath, [main, 'move', '--from', dataDir, '--to', url], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stderr = readText(child.stderr);
  await until('the command waits', async () => {
    if (child.exitCode !== null) throw new Error(`The command exited with ${child.exitCode}.`);
    // In the transaction of the holder, the view would not change.
    const rows = await execute(
      superuserUrl,
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  });
  child.kill(signal);
  const [code] = (await once(child, 'exit')) as [number | null];
  await holder.query('rollback');
  await holder.end();
  return { code, stderr: await stderr };
}

const migrateTarget = async ({ url }: TestDatabase): Promise<void> =>
  (await openStore({ databaseUrl: url })).close();

/** The JSON that the command prints. */
interface MoveReport {
  isResumed: boolean;
  wasComplete: boolean;
  hasSourceChanged: boolean;
  hasTargetChanged: boolean;
  tables: { name: string; sourceRows: number; targetRows: number }[];
  nulCharacters: number;
}

/** Moves with `--json`. Returns the exit code, and what the report says about earlier moves and changes. */
async function moveAsJson(dataDir: string, url: string) {
  const { code, stdout } = await run(['move', '--from', dataDir, '--to', url, '--json']);
  const { isResumed, wasComplete, hasSourceChanged, hasTargetChanged } = JSON.parse(
    stdout,
  ) as MoveReport;
  return { code, isResumed, wasComplete, hasSourceChanged, hasTargetChanged };
}

/** Removes what is random: the tokens of forms, ids of configured keys and of new conversations. */
const removeRandomValues = (text: string): string =>
  text
    .replaceAll(/name="(_token|request_id)"\s+value="[^"]*"|data-token="[^"]*"/g, '')
    .replaceAll(/playground-[\w-]+/g, '')
    .replaceAll(/"id":"\w+","configured":true/g, '');

/** Requests all that can be read, by following the links of the pages. */
async function readAll({ send, service }: ServiceUnderTest): Promise<Map<string, string>> {
  const routes = new Set([
    ...['/api/prod-evaluations/sessions/?limit=100', '/api/simulations/sessions/?limit=100'],
    ...['keys', 'evals', 'settings', 'agents', 'agents/agent/reports', 'personas'].map(
      (path) => `/__admin/${path}`,
    ),
    ...['scenarios', 'sessions', 'simulations', 'ingest-log'].map((path) => `/__admin/${path}`),
    ...['/__admin/conversations/friendly/scenario', '/'],
  ]);
  const bodies = new Map<string, string>();
  // A Set includes the entries that are added while it is read.
  for (const path of routes) {
    const { status, headers, text } = await send(`GET ${path}`, {
      headers: { accept: /^\/(__admin|api)\//.test(path) ? '*/*' : 'text/html' },
    });
    const isPage = headers.get('content-type')?.startsWith('text/html') === true;
    bodies.set(path, `${status} ${removeRandomValues(text).replaceAll(service.url, 'URL')}`);
    if (!isPage) continue;
    for (const [, link = ''] of text.matchAll(/href="(\/[^"#]*)/g)) {
      if (routes.size < atNight(150, 60)) routes.add(link.replaceAll('&amp;', '&'));
    }
  }
  return bodies;
}

void t.test('a move that is killed again and again continues', async (t) => {
  const dataDir = await fillDataDir(t, { spans: SPANS, nulSpans: NUL_SPANS });
  const database = await withPostgres(t);
  await migrateTarget(database);
  await execute(
    database.superuserUrl,
    `create function hold() returns trigger language plpgsql as
       $$ begin perform pg_advisory_xact_lock(1); return new; end $$`,
    `create trigger hold before insert on spans for each row
       when (new.key >= ${HELD_KEY}) execute function hold()`,
  );
  const count = async (table: string): Promise<number> => {
    const rows = await execute(database.superuserUrl, `select count(*) from ${table}`);
    return Number(rows[0]?.count);
  };
  const killIn = async (table: string): Promise<void> => {
    await killWhileHeld(database, dataDir, `lock table ${table} in exclusive mode`);
    t.equal(await count(table), 0, `killed in ${table}`);
  };
  // Tables are moved in the order of `movedTableNames`: these before the spans.
  if (isNightly) {
    await killIn('owners');
    await killIn('ingest_log');
  }
  await killWhileHeld(database, dataDir, 'select pg_advisory_xact_lock(1)');
  const spans = await count('spans');
  t.ok(spans > 0 && spans < SPANS, `killed between two batches: ${spans} spans`);
  const stopped = await killWhileHeld(
    database,
    dataDir,
    'select pg_advisory_xact_lock(1)',
    'SIGINT',
  );
  t.equal(stopped.code, 3);
  t.match(
    unwrap(stopped.stderr),
    /^sandbox-kit: The move was interrupted\. It has copied 2,\d{3} of 10,\d{3} rows\. To continue the move, run the command again\.\n$/,
  );
  await execute(database.superuserUrl, 'drop trigger hold on spans');
  for (const table of atNight(['tags', 'outcomes'], ['outcomes'])) await killIn(table);

  // An open connection would keep the process alive for 60 s.
  const early = await runProcess(['serve', '--port', '0', '--database', database.url], {
    timeoutMs: 45_000,
  });
  assertUsageError(
    t,
    early,
    /Moving data into the database is not finished\. Run (npx )?sandbox-kit move/,
  );

  const moved = await run(['move', '--from', dataDir, '--json'], {
    env: { SANDBOX_KIT_DATABASE_URL: database.url },
  });
  t.equal(moved.code, 0, moved.stderr);
  const { isResumed, wasComplete, tables, nulCharacters } = JSON.parse(moved.stdout) as MoveReport;
  t.same({ isResumed, wasComplete }, { isResumed: true, wasComplete: false });
  t.equal(nulCharacters, NUL_SPANS, 'those of earlier processes count, too');
  t.same(
    tables.map(({ name }) => name),
    movedTableNames,
  );
  for (const { name, sourceRows, targetRows } of tables) {
    t.ok(sourceRows > 0, `${name} has rows`);
    t.equal(targetRows, sourceRows, name);
  }
  t.notMatch(moved.stdout, new URL(database.url).password, 'no password in the output');
  const [stored] = await execute(
    database.url,
    `select (select count(*) from spans) = (select count(*) from span_ids) as have_ids,
       (select count(*) from spans_default)::int as outside`,
  );
  t.same(stored, { have_ids: true, outside: 0 }, 'each span is in the partition of its day');
  const analyzed = await execute(
    database.superuserUrl,
    `select relname from pg_class
     where relname = any ('{sessions,outcomes,turns}') and reltuples > 0 and relallvisible > 0`,
  );
  t.equal(analyzed.length, 3, 'the server has statistics, so that the first lists are fast');

  await t.test('a service on the database responds like one on the directory', async (t) => {
    const before = await withService(t, { dataDir });
    const after = await withService(t, { databaseUrl: database.url });
    t.equal(after.service.apiKey, before.service.apiKey, 'the development key moved');
    const [expected, found] = [await readAll(before), await readAll(after)];
    t.ok(expected.size > 50, `${expected.size} responses`);
    t.same([...found.keys()], [...expected.keys()]);
    for (const [path, body] of expected) t.equal(found.get(path), body, path);

    const attributes = { 'gen_ai.conversation.id': 'new' };
    await after.trace(makeSpan({ traceId: 'a'.repeat(32), attributes }));
    await after.end('new');
    await after.admin('POST /agents/agent/reports', schemas.LoadReport.examples[0]);
    await after.drain();
    const { total } = await before.production();
    t.ok((await after.production()).total > total, 'new data is added');
  });

  const again = await run(['move', '--from', dataDir, '--to', database.url]);
  t.equal(again.code, 1, 'the service added rows');
  t.match(
    again.stdout,
    /not have the same numbers of rows as the directory:\n( {2}\w+: [\d,]+ instead of [\d,]+\n)+/,
  );
});

void t.test('a database or directory that cannot be used', async (t) => {
  const folder = t.testdir({});
  const dataDir = join(folder, 'data');
  await t.test('fill', async (t) => {
    const { trace } = await withService(t, { dataDir });
    const inUse = await run(['move', '--from', dataDir, '--to', 'postgres://127.0.0.1:1/kit']);
    assertUsageError(t, inUse, /Another sandbox-kit process uses the data directory/);
    await trace(makeSpan());
  });
  const { url } = await withPostgres(t);
  const move = (...args: string[]) => run(['move', ...args]);

  assertUsageError(t, await move('--to', url), /Name the data directory/);
  assertUsageError(t, await move('--from', dataDir), /Name the database: --to URL/);
  const swapped = await move('--from', url, '--to', url);
  assertUsageError(t, swapped, /--from must be a path, got "postgres:/);
  assertUsageError(
    t,
    await move('--from', `${dataDir}-no`, '--to', url),
    /is not a data directory/,
  );
  t.notOk(existsSync(`${dataDir}-no`), 'creates no directory');
  assertUsageError(
    t,
    await move('--from', dataDir, '--to', 'mysql://x/y'),
    /must start with postgres:\/\/, not with mysql:\/\/\. Write postgres:\/\/USER:PASSWORD@HOST:/,
  );

  const away = await move('--from', dataDir, '--to', 'postgres://kit:secret@127.0.0.1:1/kit');
  t.equal(away.code, 3);
  t.match(
    unwrap(away.stderr),
    /connection to the database at 127\.0\.0\.1:1 failed.*run the command again\.\n$/s,
  );
  t.notMatch(away.stderr, 'secret');

  const moved = await move('--from', dataDir, '--to', url);
  t.equal(moved.code, 0, moved.stderr);
  t.match(moved.stdout, /^Moved \d+ rows from .*data to postgres:/);
  const again = await move('--from', dataDir, '--to', url);
  t.equal(again.code, 0, 'safe to repeat');
  t.match(again.stdout, /^All \d+ rows of .*data were already in postgres:/);

  const other = join(folder, 'other');
  await t.test('fill another', async (t) => {
    await withService(t, { dataDir: other });
  });
  assertUsageError(
    t,
    await move('--from', other, '--to', url),
    /has data of another directory\. Create an empty database/,
  );
  const { url: used } = await withPostgres(t);
  await t.test('use', async (t) => {
    await (await withService(t, { databaseUrl: used })).trace(makeSpan());
    const refused = await move('--from', other, '--to', used);
    assertUsageError(t, refused, /has other data/);
  });
  const keyed = await withPostgres(t);
  await t.test('add a key', async (t) => {
    const { admin } = await withService(t, { databaseUrl: keyed.url });
    await admin('POST /keys', { label: 'Other' });
  });
  for (const target of [used, keyed.url]) {
    const refused = await move('--from', other, '--to', target);
    assertUsageError(t, refused, /has other data, .*\. Create an empty database/);
  }
});

void t.test('a database where a service was only started', async (t) => {
  const dataDir = join(t.testdir({}), 'data');
  let apiKey = '';
  await t.test('fill', async (t) => {
    const { service, trace } = await withService(t, { dataDir });
    await trace(makeSpan());
    apiKey = service.apiKey;
  });
  const { url } = await withPostgres(t);
  await t.test('start', async (t) => {
    const { service } = await withService(t, { databaseUrl: url });
    t.not(service.apiKey, apiKey);
    const refused = await run(['move', '--from', dataDir, '--to', url]);
    assertUsageError(t, refused, /A service uses the database\. Stop it, and move again\./);
  });
  t.same(await moveAsJson(dataDir, url), {
    code: 0,
    isResumed: false,
    wasComplete: false,
    hasSourceChanged: false,
    hasTargetChanged: false,
  });

  await t.test('start again', async (t) => {
    const { service, end } = await withService(t, { databaseUrl: url });
    t.equal(service.apiKey, apiKey, 'the development key moved');
    await end('conv-1');
  });
  // A service removes its configured keys when it stops.
  const again = await run(['move', '--from', dataDir, '--to', url]);
  t.equal(again.code, 0, again.stdout);
  t.match(
    again.stdout,
    /^All \d+ rows of .* were already moved to .*\.\nSince then, a service .*:\n {2}keys: 0 instead of 1\n/,
  );
  const earlier = { isResumed: true, wasComplete: true };
  t.same(await moveAsJson(dataDir, url), {
    ...earlier,
    code: 0,
    hasSourceChanged: false,
    hasTargetChanged: true,
  });
  await t.test('use the directory', async (t) => {
    await (await withService(t, { dataDir })).trace(makeSpan({ traceId: 'b'.repeat(32) }));
  });
  const changed = await run(['move', '--from', dataDir, '--to', url]);
  t.equal(changed.code, 1, changed.stdout);
  t.match(changed.stdout, /The directory has changed since its data was moved\./);
  t.same(await moveAsJson(dataDir, url), {
    ...earlier,
    code: 1,
    hasSourceChanged: true,
    hasTargetChanged: false,
  });
});

void t.test('a directory without a development key: the next start creates one', async (t) => {
  const dataDir = join(t.testdir({}), 'data');
  await t.test('fill', (t) => withService(t, { dataDir, keys: [{ key: 'a-key-of-mine' }] }));
  const { url } = await withPostgres(t);
  const keys: string[] = [];
  const start = (t: Test) =>
    withService(t, { databaseUrl: url }).then(({ service }) => keys.push(service.apiKey));
  await t.test('start', start);
  const moved = await run(['move', '--from', dataDir, '--to', url]);
  t.equal(moved.code, 0, moved.stderr);
  await t.test('start again', start);
  t.equal(new Set(keys).size, 2, 'the earlier key is gone');
});

void t.test('a directory that changed after the move began is refused', async (t) => {
  const dataDir = join(t.testdir({}), 'data');
  await t.test('fill', async (t) => (await withService(t, { dataDir })).trace(makeSpan()));
  const database = await withPostgres(t);
  await migrateTarget(database);
  await killWhileHeld(database, dataDir, 'lock table spans in exclusive mode');
  await t.test('change', async (t) => {
    await (await withService(t, { dataDir })).trace(makeSpan({ traceId: 'b'.repeat(32) }));
  });
  const refused = await run(['move', '--from', dataDir, '--to', database.url]);
  assertUsageError(t, refused, /changed after the move began\. Create an empty database/);
});

void t.test('missing rows are named', async (t) => {
  const dataDir = join(t.testdir({}), 'data');
  await t.test('fill', async (t) => (await withService(t, { dataDir })).trace(makeSpan()));
  const database = await withPostgres(t);
  await migrateTarget(database);
  await execute(
    database.superuserUrl,
    'create rule lose as on insert to traces do instead nothing',
  );
  const moved = await run(['move', '--from', dataDir, '--to', database.url]);
  t.equal(moved.code, 1, moved.stderr);
  t.match(moved.stdout, '  traces: 0 instead of 1\n');
});
