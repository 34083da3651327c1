/** A start notices that the database of a used data directory was emptied, replaced, or damaged. */
import {
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startService, type RunningService } from '../../../src/service/index.ts';
import { start } from '../../support/commands/command-process.ts';
import { nightOnly } from '../../support/nightly.ts';
import { createLineLog } from '../../support/services/log-lines.ts';
import { sendTo } from '../../support/services/service-process.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';

/** Sends a span of a conversation. Returns the status of the response. */
async function sendSpan(service: RunningService, conversationId: string): Promise<number> {
  const body = makeTraceRequest([makeSpan({ conversationId })]);
  return (await sendTo(service, 'POST /v1/traces', body)).status;
}

/** Starts and stops a service; returns its data directory. */
async function makeUsedDir(t: Test): Promise<string> {
  const dataDir = t.testdir({});
  const service = await startService({ dataDir });
  t.equal(await sendSpan(service, 'c-1'), 200);
  await service.stop();
  return dataDir;
}

async function assertStarts(t: Test, dataDir: string, ids: readonly string[]): Promise<void> {
  const service = await startService({ dataDir });
  for (const id of ids) {
    t.equal((await sendTo(service, `POST /v1/sessions/${id}/end`)).status, 200, id);
  }
  await service.stop();
}

void t.test('the service reports an emptied database and does not change it', async (t) => {
  const dataDir = await makeUsedDir(t);
  const file = join(dataDir, 'service.db');
  const saved = readFileSync(file);
  truncateSync(file, 0);
  for (let nth = 0; nth < 2; nth += 1) {
    await t.rejects(startService({ dataDir }), {
      code: 'start_failed',
      message: /service\.db was emptied: .* Restore it from a backup\. /,
    });
  }
  t.equal(readFileSync(file).length, 0);
  writeFileSync(file, saved);
  await assertStarts(t, dataDir, ['c-1']);
  rmSync(file);
  await assertStarts(t, dataDir, []);
});

void t.test('a replaced database is reported; another one can be chosen', async (t) => {
  const [dataDir, other] = [await makeUsedDir(t), join(t.testdirName, 'other')];
  const service = await startService({ dataDir: other });
  await service.stop();
  const file = join(dataDir, 'service.db');
  cpSync(file, `${file}.backup`);
  cpSync(join(other, 'service.db'), file);
  await t.rejects(startService({ dataDir }), {
    code: 'start_failed',
    message: /service\.db was replaced by another database since its last use\. .*service\.db\.id/,
  });
  cpSync(`${file}.backup`, file);
  await assertStarts(t, dataDir, ['c-1']);
  cpSync(join(other, 'service.db'), file);
  rmSync(`${file}.id`);
  await assertStarts(t, dataDir, []);
  await assertStarts(t, dataDir, []);
});

void t.test('without its database file, a service is not ready and stores nothing', async (t) => {
  const changes: [change: (file: string) => void, message: RegExp][] = [
    [(file) => rmSync(file), /service\.db was moved away or deleted while/],
    [
      (file) => truncateSync(file, 0),
      /service\.db was emptied while the service was running\. Stop/,
    ],
    [
      (file) => truncateSync(file, 1_000),
      /service\.db was cut from \d+ to 1000 bytes while the service was running\. Stop/,
    ],
    [
      (file) => {
        cpSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
      /service\.db was replaced by another file while/,
    ],
  ];
  for (const [nth, [change, message]] of changes.entries()) {
    const dataDir = join(t.testdir({}), `data-${nth}`);
    const { log, lines } = createLineLog();
    const service = await startService({ dataDir, log });
    const askReady = async () => {
      const response = await fetch(`${service.adminUrl}/ready`);
      return [response.status, await response.json()] as const;
    };
    t.same(await askReady(), [200, { ready: true }]);
    t.equal(await sendSpan(service, 'before'), 200);
    change(join(dataDir, 'service.db'));
    for (const [route, body] of [
      ['POST /v1/traces', makeTraceRequest([makeSpan({ conversationId: 'after' })])],
      ['POST /v1/traces', makeTraceRequest([makeSpan({ conversationId: 'after-that' })])],
      ['POST /v1/sessions/before/end', undefined],
      ['PUT /__admin/settings', { run_name: 'x' }],
    ] as const) {
      const { status, retryAfter, text } = await sendTo(service, route, body);
      t.same({ status, retryAfter }, { status: 503, retryAfter: '5' }, route);
      t.match(JSON.parse(text), {
        message: /^The database file of the service was deleted or replaced\. Nothing was stored\./,
      });
    }
    t.match(await askReady(), [503, { ready: false, reason: message }]);
    t.equal((await fetch(`${service.url}/ready`)).status, 503);
    const logged = lines.filter((line) => line.includes('database_file_changed'));
    t.match(logged, [message], 'one line says what happened');
    t.match(logged, [/Stop the service, and restore the file from a backup\./]);
    t.notMatch(lines.join('\n'), /request_failed|span_write_failed/);
    const headers = { 'x-service-api-key': service.apiKey, accept: 'text/html' };
    const page = await fetch(service.url, { headers });
    t.match(await page.text(), message, 'the overview says so');
    await service.stop();
  }
});

void t.test('a database that is moved back works again', async (t) => {
  const dataDir = t.testdir({});
  const file = join(dataDir, 'service.db');
  const service = await startService({ dataDir });
  renameSync(file, `${file}.away`);
  t.equal(await sendSpan(service, 'c-1'), 503);
  renameSync(`${file}.away`, file);
  t.equal(await sendSpan(service, 'c-1'), 200);
  await service.stop();
  await assertStarts(t, dataDir, ['c-1']);
});

void t.test('serve: the last line tells the truth about the data', nightOnly(), async (t) => {
  const changes = [
    (dataDir: string) => rmSync(dataDir, { recursive: true }),
    (dataDir: string) => truncateSync(join(dataDir, 'service.db'), 0),
  ];
  for (const [nth, change] of changes.entries()) {
    const dataDir = join(t.testdir({}), `data-${nth}`);
    const { end, stderr } = await start(t, ['serve', '--port', '0', '--data', dataDir]);
    change(dataDir);
    t.equal(await end('SIGINT'), 0);
    const lastLine = (await stderr).replaceAll(/\s+/g, ' ');
    t.match(
      lastLine,
      /The service stopped\. \S+service\.db was (moved|emptied) .* from a backup\./,
    );
    t.notMatch(lastLine, /Its data is in/);
  }
});

/** Returns a directory that a killed service left behind: all conversations are in the WAL. */
async function makeCrashedDir(t: Test): Promise<{ dataDir: string; ids: string[] }> {
  const [running, dataDir] = [join(t.testdir({}), 'running'), join(t.testdirName, 'data')];
  const service = await startService({ dataDir: running });
  const ids = ['c-1', 'c-2', 'c-3', 'c-4'];
  for (const id of ids) t.equal(await sendSpan(service, id), 200);
  // What a `kill -9` leaves are the files as they are now.
  cpSync(running, dataDir, { recursive: true });
  await service.stop();
  return { dataDir, ids };
}

const PAGE_BYTES = 4096 + 24;

void t.test('a damaged WAL is reported, and an intact one loses nothing', async (t) => {
  const { dataDir, ids } = await makeCrashedDir(t);
  const file = join(dataDir, 'service.db');
  const wal = readFileSync(`${file}-wal`);
  const shm = readFileSync(`${file}-shm`);
  const database = readFileSync(file);
  const frames = (wal.length - 32) / PAGE_BYTES;
  const restore = (damagedWal: Buffer, hasIndex: boolean): void => {
    writeFileSync(file, database);
    writeFileSync(`${file}-wal`, damagedWal);
    if (hasIndex) writeFileSync(`${file}-shm`, shm);
    else rmSync(`${file}-shm`, { force: true });
  };
  const flip = (at: number): Buffer => {
    const damaged = Buffer.from(wal);
    damaged[at] = (damaged[at] ?? 0) ^ 0xff;
    return damaged;
  };
  const middle = 32 + Math.floor(frames / 3) * PAGE_BYTES;
  for (const [what, damaged, hasIndex] of [
    ['a page in the middle', flip(middle + 200), true],
    ['a page in the middle, without an index', flip(middle + 200), false],
    ['a frame header', flip(middle + 9), false],
    ['the last page', flip(wal.length - 100), true],
    ['the header', flip(2), true],
    ['the header, without an index', flip(17), false],
    ['the end is missing', wal.subarray(0, wal.length - 5000), true],
    ['everything is missing', Buffer.alloc(0), true],
    ['only zeros', Buffer.alloc(wal.length), true],
  ] as const) {
    restore(damaged, hasIndex);
    await t.rejects(
      startService({ dataDir }),
      { code: 'start_failed', message: /service\.db-wal is damaged: .* can't be read\. / },
      what,
    );
    t.ok(readFileSync(`${file}-wal`).equals(damaged), 'the file is unchanged');
  }
  restore(Buffer.concat([wal, Buffer.alloc(3000, 1)]), true);
  await assertStarts(t, dataDir, ids);
  for (const name of ['wal', 'shm']) t.notOk(existsSync(`${file}-${name}`));
  restore(wal.subarray(0, wal.length - 100), false);
  const service = await startService({ dataDir });
  await service.stop();
  t.pass('the last transaction may be incomplete after a crash');
});
