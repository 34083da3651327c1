/** The store when processes are killed, and when several processes or stores use one file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { openFile } from '../../../src/service/store/sqlite/open-file.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { openSpanWriter } from '../../../src/service/store/sqlite/span-writer.ts';
import { randomSeed, seededRandom } from '../../../src/platform/random.ts';
import {
  newCloseRequest,
  newSession,
  newSpan,
  newSpans,
  NOON_MS,
  newOutcome,
} from '../../support/database/rows.ts';
import {
  withFileStore,
  testStore,
  withStore,
  readValue,
  openDatabase,
} from '../../support/database/store.ts';
import { nightOnly } from '../../support/nightly.ts';

const PROGRAM = join(import.meta.dirname, '../../support/crashes/insert-spans.ts');

/** Runs the program until it has written this many bytes, kills it, and returns its complete lines. */
async function killAfter(bytes: number, args: string[]): Promise<string[]> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (text.length >= bytes) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (signal !== 'SIGKILL') throw new Error('The program exited before it was killed.');
  // The last line may be incomplete.
  return text.split('\n').slice(0, -1);
}

void t.test('after kill -9, no acknowledged span is lost or duplicated', nightOnly(), async (t) => {
  const seed = randomSeed();
  const chance = seededRandom(seed);
  const file = join(t.testdir(), 'store.db');
  const store = await openStore({ file });
  const ownerId = await store.owners.ensure('development');
  // No other process has the file open from here on, so the next one to open it runs the recovery.
  await store.close();
  t.comment(`seed ${seed}`);
  for (let round = 0; round < 10; round += 1) {
    const acknowledged = await killAfter(chance.integer(1, 30_000), [file, ownerId, `${round}`]);
    const db = openFile(file, { busyMs: 0 });
    t.equal(readValue(db, 'pragma integrity_check'), 'ok');
    t.same(db.pragma('foreign_key_check'), []);
    const stored = db
      .prepare<[string], string>('select span_id from spans where span_id glob ?')
      .pluck()
      .all(`span-${round}-*`);
    t.equal(new Set(stored).size, stored.length, 'each span once');
    const lost = new Set(acknowledged);
    for (const spanId of stored) lost.delete(spanId);
    t.same([...lost], [], `none of ${acknowledged.length} acknowledged spans is lost`);
    const emptyCount = `select count(*) as n from conversations
       where not exists (select 1 from spans where conversation_key = conversations.key)`;
    t.equal(readValue(db, emptyCount), 0, 'no conversation without spans');
    db.close();
  }
});

void t.test(
  "two stores on one file see each other's writes and close a conversation once",
  async (t) => {
    const { file, store, sink, ownerId } = await withFileStore(t);
    const other = await openStore({ file });
    t.teardown(() => other.close());
    t.equal(await other.owners.findId('development'), ownerId);
    const ids = Array.from({ length: 30 }, (_, nth) => `conversation-${nth}`);
    await sink.insert(ids.map((id) => newSpans(ownerId, [newSpan(id, { conversationId: id })])));
    const closings = ids.flatMap((conversationId) => [
      store.conversations.close(
        newCloseRequest(ownerId, { conversationId, sessionId: `${conversationId} x` }),
      ),
      other.conversations.close(
        newCloseRequest(ownerId, { conversationId, sessionId: `${conversationId} y` }),
      ),
    ]);
    const results = await Promise.all(closings);
    t.equal(results.filter((result) => result?.alreadyClosed === false).length, 30);
    t.equal((await other.jobs.getBacklog()).count, 60);
    const jobs = await Promise.all([
      store.jobs.take('one', NOON_MS * 2, 1_000, 40),
      other.jobs.take('two', NOON_MS * 2, 1_000, 40),
    ]);
    t.equal(new Set(jobs.flat().map(({ id }) => id)).size, 60, 'each job is taken by one worker');
  },
);

void t.test('two processes that open a new file concurrently both find its tables', async (t) => {
  const file = join(t.testdir(), 'store.db');
  const stores = await Promise.all([openStore({ file }), openStore({ file })]);
  const ids = await Promise.all(stores.map((store) => store.owners.ensure('development')));
  t.equal(ids[0], ids[1]);
  for (const store of stores) await store.close();
});

void t.test(
  'reads continue while a long write holds the lock; writes wait without blocking the thread',
  async (t) => {
    const { file, store, ownerId } = await withFileStore(t);
    await store.sessions.add(newSession(ownerId, 'before'));
    const long = openDatabase(t, file);
    long.exec('begin immediate');
    long.exec(`update sessions set status = 'failed'`);

    const startedMs = performance.now();
    let isWritten = false;
    const write = store.sessions.add(newSession(ownerId, 'after')).then(() => {
      isWritten = true;
    });
    const filter = { ownerId, kind: 'production', failedOnly: false, skip: 0, limit: 50 } as const;
    for (let read = 0; read < 50; read += 1) {
      const { sessions, total } = await store.sessions.listPage(filter);
      if (total !== 1 || sessions[0]?.status !== 'completed')
        t.fail('the read saw uncommitted data');
    }
    t.equal(isWritten, false, 'the write waits');
    t.ok(performance.now() - startedMs < 5_000, 'and does not block the thread for its 10 s');
    long.exec('commit');
    await write;
    t.equal((await store.sessions.listPage(filter)).total, 2);
  },
);

void t.test('the span writer stores nothing and throws when it cannot get the lock', async (t) => {
  const { file, store, ownerId } = await withFileStore(t);
  const sink = openSpanWriter({ file, lockWaitMsMax: 1 });
  t.teardown(() => sink.close());
  const long = openDatabase(t, file);
  long.exec('begin immediate');
  const [first, second] = await sink.insert(
    [1, 2].map((id) => newSpans(ownerId, [newSpan(String(id))])),
  );
  t.match(first, /locked/);
  t.match(second, /locked/);
  long.exec('rollback');
  t.equal(await store.conversations.find(ownerId, 'conversation-1'), undefined);
  t.match(
    await sink.insert([newSpans(ownerId, [newSpan('1')])]),
    [{ inserted: 1 }],
    'the writer continues',
  );
});

testStore('concurrent writes are all applied', async (t) => {
  const { store, ownerId } = await withStore(t);
  // PostgreSQL fails a write that waits more than 5 s for a connection, so not all are concurrent.
  for (const round of [1, 2, 3, 4]) {
    const ids = Array.from({ length: 50 }, (_, nth) => `${round}-${nth}`);
    await Promise.all(
      ids.map((id) => store.sessions.add(newSession(ownerId, id, { outcomes: [newOutcome(id)] }))),
    );
  }
  const filter = { ownerId, kind: 'production', failedOnly: false, skip: 0, limit: 500 } as const;
  t.equal((await store.sessions.listPage(filter)).sessions.length, 200);
});
