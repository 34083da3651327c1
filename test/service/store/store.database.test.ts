import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { connect } from '../../../src/service/store/sqlite/connect.ts';
import { openFile } from '../../../src/service/store/sqlite/open-file.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import {
  newAgent,
  newAgentReport,
  newEval,
  newFormResult,
  newRecording,
  newSession,
  newSimulatedSession,
  newSimulation,
  newSpan,
  newSpans,
  NOON_MS,
  newCloseRequest,
} from '../../support/database/rows.ts';
import {
  readValue,
  openDatabase,
  withFileStore,
  testStore,
  withStore,
} from '../../support/database/store.ts';
import { until } from '../../support/until.ts';

const digest = (key: string): string => createHash('sha256').update(key).digest('hex');

testStore('an owner is created once per name and stays the same', async (t) => {
  const { store, ownerId } = await withStore(t);
  t.equal(await store.owners.ensure('development'), ownerId);
  t.equal(await store.owners.findId('development'), ownerId);
  t.not(await store.owners.ensure('other'), ownerId);
  t.equal(await store.owners.findId('unknown'), undefined);
});

testStore('a key identifies exactly its owner until it is removed', async (t) => {
  const { store, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  t.equal(await store.owners.addKey(ownerId, digest('one')), true);
  t.equal(await store.owners.addKey(ownerId, digest('one')), true, 'safe to repeat');
  t.equal(
    await store.owners.addKey(other, digest('one')),
    false,
    'a key of another owner is not reassigned',
  );
  t.same(await store.owners.findByKey(digest('one')), { ownerId, keyDigest: digest('one') });
  t.equal(await store.owners.findByKey(digest('two')), undefined);
  t.equal(await store.owners.removeKey(other, digest('one')), false);
  t.equal(await store.owners.removeKey(ownerId, digest('one')), true);
  t.equal(await store.owners.findByKey(digest('one')), undefined);
});

testStore('only the latest configured keys are valid; added keys stay valid', async (t) => {
  const { store, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const configure = (...keys: string[]) =>
    store.owners.configureKeys(keys.map((key) => ({ ownerId, keyDigest: digest(key) })));
  const known = async (...keys: string[]) => {
    const found = await Promise.all(keys.map((key) => store.owners.findByKey(digest(key))));
    return keys.filter((_, nth) => found[nth] !== undefined);
  };
  await store.owners.addKey(other, digest('added'));
  await configure('one', 'two');
  await store.owners.addKey(ownerId, digest('two'));
  await configure('three');
  t.same(await known('added', 'one', 'two', 'three'), ['added', 'two', 'three']);
  await t.rejects(configure('four', 'added'), { name: 'KeyTakenError' }, 'a key of another owner');
  t.same(await known('three', 'four'), ['three'], 'nothing has changed');
});

testStore('evals are listed in insertion order; put replaces', async (t) => {
  const { store, ownerId } = await withStore(t);
  for (const id of ['b', 'a']) await store.evals.put(ownerId, newEval(id));
  await store.evals.put(ownerId, newEval('b', { name: 'Better', required: false }));
  t.same(await store.evals.list(ownerId), [
    newEval('b', { name: 'Better', required: false }),
    newEval('a'),
  ]);
  t.equal(await store.evals.remove(ownerId, 'b'), true);
  t.equal(await store.evals.remove(ownerId, 'b'), false);
  t.same(await store.evals.list(ownerId), [newEval('a')]);
  t.same(await store.evals.list(await store.owners.ensure('other')), []);
});

testStore(
  'documents are identified by owner, kind, and id; no list contains the key of a sandbox',
  async (t) => {
    const { file, store, ownerId } = await withFileStore(t);
    const { documents } = store;
    const other = await store.owners.ensure('other');
    const calm = { id: 'one', name: 'Calm' };
    await documents.put(ownerId, newAgent('one', 'the-key-of-the-sandbox'));
    await documents.put(ownerId, { kind: 'persona', document: { ...calm, language: 'en' } });
    await documents.put(ownerId, { kind: 'persona', document: { id: 'two', name: 'Two' } });
    await documents.put(ownerId, { kind: 'persona', document: calm });
    t.same(await documents.list(ownerId, 'persona', 9), [calm, { id: 'two', name: 'Two' }]);
    t.same(await documents.list(ownerId, 'persona', 1), [calm]);
    t.same(await documents.list(ownerId, 'agent', 9), [newAgent('one', 'x').document]);
    t.same(await documents.list(other, 'agent', 9), []);
    t.equal(await documents.findApiKey(ownerId, 'one'), 'the-key-of-the-sandbox');
    t.equal(await documents.findApiKey(other, 'one'), undefined);
    await documents.put(ownerId, newAgent('one', undefined));
    t.equal(
      await documents.findApiKey(ownerId, 'one'),
      undefined,
      'a put replaces the whole document',
    );
    t.equal(await documents.remove(other, 'persona', 'one'), false);
    t.equal(await documents.remove(ownerId, 'persona', 'one'), true);
    t.equal(
      (await documents.list(ownerId, 'agent', 9)).length,
      1,
      'a document of another kind with the same id stays',
    );
    for (const name of [file, `${file}-wal`, `${file}-shm`]) {
      t.equal(statSync(name).mode & 0o777, 0o600, 'only the file owner may read it');
    }
  },
);

testStore(
  'only the given settings change, and the defaults are those of the interface',
  async (t) => {
    const { store, ownerId } = await withStore(t);
    t.same(await store.settings.get(ownerId), { evals: [], run_name: 'Live traces' });
    await store.settings.update(ownerId, { evals: ['a', 'gone'] });
    await store.settings.update(ownerId, { run_name: 'Shop' });
    t.same(await store.settings.get(ownerId), { evals: ['a', 'gone'], run_name: 'Shop' });
  },
);

testStore('the ingest log is sorted newest first and limited per owner', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const entry = (code: string) => ({
    level: 'warn' as const,
    code,
    message: 'what to do',
    about: { conversation_id: 'conversation-1', count: 3 },
  });
  const other = await store.owners.ensure('other');
  await store.ingestLog.add(other, NOON_MS, [entry('of_other')]);
  for (let batch = 0; batch < 101; batch += 1) {
    const logEntries = Array.from({ length: 100 }, (_, nth) => entry(`${batch}_${nth}`));
    await sink.insert([newSpans(ownerId, [], { logEntries, receivedAtMs: NOON_MS + batch })]);
  }
  await store.ingestLog.add(ownerId, NOON_MS + 200, [entry('last')]);
  await store.ingestLog.add(other, NOON_MS, [entry('of_other')]);
  const entries = await store.ingestLog.list(ownerId, 20_000);
  t.equal(entries.length, 10_000);
  t.same(entries[0], { ...entry('last'), atMs: NOON_MS + 200 });
  t.equal(entries.at(-1)?.code, '1_1', 'the oldest entries are deleted');
  t.equal((await store.ingestLog.list(ownerId, 3)).length, 3);
  t.same(
    (await store.ingestLog.list(other, 9)).map(({ code }) => code),
    ['of_other', 'of_other'],
  );
});

testStore('one request leaves a limited number of log entries of limited length', async (t) => {
  const { store, ownerId } = await withStore(t);
  const entry = { level: 'info' as const, code: 'x', message: 'y'.repeat(5_000), about: {} };
  await store.ingestLog.add(ownerId, NOON_MS, Array<typeof entry>(5_000).fill(entry));
  const [last, ...others] = await store.ingestLog.list(ownerId, 10_000);
  t.match(last, { code: 'notes_left_out', about: { notes: 4_800 } });
  t.equal(others.length, 200);
  t.equal(others[0]?.message.length, 2_000);
});

void t.test(
  'deleting the data of an owner keeps its keys and the data of other owners',
  async (t) => {
    const { file, store, sink, ownerId } = await withFileStore(t);
    const other = await store.owners.ensure('other');
    for (const owner of [ownerId, other]) {
      await store.owners.addKey(owner, digest(owner));
      const tags = [{ conversationId: 'conversation-1', key: 'k', value: 'v' }];
      const links = [{ traceId: 'trace-1', spanId: 'span-0', parentSpanId: 'span-9' }];
      await sink.insert([newSpans(owner, [newSpan('1')], { tags, links })]);
      await store.evals.put(owner, newEval('a'));
      await store.settings.update(owner, { evals: ['a'] });
      await store.documents.put(owner, newAgent('shop', 'k'));
      const agent = { id: 'shop', url: 'http://127.0.0.1:1' };
      const limits = { agent, keep: 50 };
      await store.agentReports.add(owner, newAgentReport('shop'), limits);
      await store.ingestLog.add(owner, NOON_MS, [
        { level: 'info', code: 'c', message: 'm', about: {} },
      ]);
      await store.conversations.close(newCloseRequest(owner));
      const turns = [{ sequence: 1, userInput: 'hi', userReason: undefined, agentResponse: 'ho' }];
      const uploaded = newSession(owner, 'uploaded', { turns, metadata: { k: 'v' } });
      await store.sessions.add(uploaded);
      const review = { evalId: 'a', mark: 'right' as const, note: '', atMs: NOON_MS };
      t.ok(await store.reviews.put(owner, 'uploaded', review));
      await store.recordings.add(owner, 'uploaded', newRecording());
      await store.formResults.add(owner, newFormResult(), { countMax: 1, bytesMax: 1 });
      await store.sessions.add(newSimulatedSession(owner, 'simulated'));
      await store.simulations.add(newSimulation(owner));
    }
    const db = openDatabase(t, file);
    const rows = (): Record<string, number> => {
      const query = `select name from sqlite_schema where type = 'table'`;
      const tables = db.prepare<[], string>(query).pluck().all();
      const filled = tables.filter(
        (name) => !/^(sqlite_sequence|owners|keys|store_id)$/.test(name),
      );
      return Object.fromEntries(
        filled.map((name) => [name, Number(readValue(db, `select count(*) from ${name}`))]),
      );
    };
    const before = rows();
    for (const [table, count] of Object.entries(before)) t.ok(count > 0, `${table} was filled`);
    await store.deleteOwnerData(ownerId);
    for (const [table, count] of Object.entries(rows())) {
      t.equal(count, (before[table] ?? 0) / 2, `half of ${table} is left`);
    }
    t.equal((await store.owners.findByKey(digest(ownerId)))?.ownerId, ownerId);
    t.equal((await store.conversations.find(other, 'conversation-1'))?.state, 'closed');
  },
);

void t.test('stored data is there when the file is opened again', async (t) => {
  const file = join(t.testdir(), 'store.db');
  const first = await openStore({ file });
  const ownerId = await first.owners.ensure('development');
  await first.sessions.add(newSession(ownerId, 'one'));
  await first.close();
  const second = await openStore({ file });
  t.equal((await second.sessions.find(ownerId, 'one'))?.id, 'one');
  await second.close();
});

void t.test('commits are synced to disk, except for a temporary file', async (t) => {
  const { file, store, ownerId } = await withFileStore(t);
  await store.evals.put(ownerId, newEval('a'));
  t.ok(statSync(`${file}-wal`).size > 0);
  const db = openDatabase(t, file);
  t.equal(readValue(db, 'pragma page_size'), 4096);
  t.equal(readValue(db, 'pragma journal_mode'), 'wal');
  // A setting of the connection, not of the file, so it is read from connections opened like the store's.
  for (const [isTemporary, setting] of [
    [false, 2],
    [true, 0],
  ] as const) {
    const connection = openFile(file, { busyMs: 0, isTemporary });
    t.equal(
      connection.pragma('synchronous', { simple: true }),
      setting,
      `temporary: ${isTemporary}`,
    );
    connection.close();
  }
});

void t.test(
  'a file of another program or of a newer kit version, or one that is not a database, is rejected',
  async (t) => {
    const folder = t.testdir();
    const file = (name: string): string => join(folder, name);
    using foreign = new DatabaseSync(file('foreign.db'));
    foreign.exec('create table theirs (x)');
    await t.rejects(openStore({ file: file('foreign.db') }), /belongs to another program/);
    // Byte 18 of the header is 2 for a file in WAL mode, otherwise 1.
    t.equal(readFileSync(file('foreign.db'))[18], 1, 'the file is unchanged');

    await (await openStore({ file: file('newer.db') })).close();
    using newer = new DatabaseSync(file('newer.db'));
    newer.exec('pragma user_version = 99');
    await t.rejects(
      openStore({ file: file('newer.db') }),
      /has version 99, but this program supports only versions up to \d/,
    );

    writeFileSync(file('text.db'), 'a text file that is not a database');
    await t.rejects(openStore({ file: file('text.db') }), /not a database/);
  },
);

void t.test('a write that queued behind a long one waits for a brief lock', async (t) => {
  const file = join(t.testdir(), 'store.db');
  const { write, close } = connect({ file, isTemporary: true, lockWaitMsMax: 500 });
  t.teardown(close);
  const other = openDatabase(t, file);
  const startedMs = performance.now();
  const long = write('o1', () =>
    until('the wait is over', () => performance.now() - startedMs > 600),
  );
  let hasEnded = false;
  const queued = write('o1', () => Promise.resolve('stored')).finally(() => (hasEnded = true));
  const lock = long.then(() => other.exec('begin immediate'));
  await lock;
  await new Promise(setImmediate);
  t.notOk(hasEnded);
  other.exec('rollback');
  t.equal(await queued, 'stored');
});

void t.test('writes that queued during a long lock do not wait one after the other', async (t) => {
  const file = join(t.testdir(), 'store.db');
  const { write, close } = connect({ file, isTemporary: true, lockWaitMsMax: 1_000 });
  t.teardown(close);
  const other = openDatabase(t, file);
  other.exec('begin immediate');
  const startedMs = performance.now();
  const change = () => Promise.resolve('stored');
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => write('o1', change)));
  const ms = performance.now() - startedMs;
  for (const result of results) {
    t.match(result, { status: 'rejected', reason: { code: /^SQLITE_BUSY/ } });
  }
  t.ok(ms >= 1_000 && ms < 15_000, `${ms} ms`);
  other.exec('rollback');
  t.equal(await write('o1', change), 'stored');
});
