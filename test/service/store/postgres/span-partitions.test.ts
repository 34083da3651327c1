/** Spans are in one partition per day, and a day that is old is dropped. */
import t, { type Test } from 'tap';
import pg from 'pg';
import { openSpanWriter } from '../../../../src/service/store/open-span-writer.ts';
import { openStore } from '../../../../src/service/store/open-store.ts';
import type { SpanWriter } from '../../../../src/service/store/span-writer.ts';
import type { SpanPartitions, Store } from '../../../../src/service/store/store.ts';
import { execute, withPostgres } from '../../../support/database/postgres.ts';
import { newSpan, newSpans, NOON_MS } from '../../../support/database/rows.ts';
import { withService } from '../../../support/services/service.ts';
import { makeSpan } from '../../../support/traces/otlp.ts';

const DAY_MS = 86_400_000;

/** Returns the number of spans in each partition. */
async function countSpans(url: string): Promise<Record<string, number>> {
  const partitions = await execute(
    url,
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'spans'::regclass order by 1`,
  );
  const counts: Record<string, number> = {};
  for (const { name } of partitions) {
    const [row] = await execute(url, `select count(*)::int as count from ${String(name)}`);
    counts[String(name)] = Number(row?.['count']);
  }
  return counts;
}

interface Opened {
  url: string;
  store: Store;
  partitions: SpanPartitions;
  writer: SpanWriter;
  ownerId: string;
}

async function open(t: Test): Promise<Opened> {
  const { url } = await withPostgres(t, 'migrated');
  const store = await openStore({ databaseUrl: url });
  const writer = await openSpanWriter({ databaseUrl: url });
  t.teardown(async () => {
    await writer.close();
    await store.close();
  });
  const { spanPartitions: partitions } = store;
  if (!partitions) throw new Error('PostgreSQL has partitions.');
  return { url, store, partitions, writer, ownerId: await store.owners.ensure('development') };
}

/** Stores a span of a new conversation. */
async function insert(
  { writer, ownerId }: Pick<Opened, 'writer' | 'ownerId'>,
  id: string,
  receivedAtMs: number,
): Promise<void> {
  const spans = [newSpan(id, { conversationId: `conversation ${id}` })];
  const [result] = await writer.insert([newSpans(ownerId, spans, { receivedAtMs })]);
  t.match(result, { inserted: 1 }, id);
}

async function removeAll({ store, ownerId }: Opened, receivedBeforeMs: number): Promise<void> {
  while (
    await store.retention.removeSpans(ownerId, { receivedBeforeMs, atMs: NOON_MS + 40 * DAY_MS })
  );
}

void t.test('a service creates partitions ahead, and drops old ones', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const tested = await withService(t, { databaseUrl: url, retentionMs: 30 * DAY_MS });
  const { admin, end, trace } = tested;
  await trace(makeSpan({ conversationId: 'old', traceId: '1'.repeat(32) }));
  await end('old');
  t.same(await countSpans(url), {
    spans_20261120: 1,
    spans_20261121: 0,
    spans_20261122: 0,
    spans_default: 0,
  });
  await admin('POST /clock', { advance_ms: 2 * DAY_MS });
  await trace(makeSpan({ conversationId: 'old', traceId: '1'.repeat(32) }));
  await trace(makeSpan({ conversationId: 'young', traceId: '2'.repeat(32) }));
  t.same(
    await countSpans(url),
    {
      spans_20261120: 2,
      spans_20261121: 0,
      spans_20261122: 1,
      spans_20261123: 0,
      spans_20261124: 0,
      spans_default: 0,
    },
    'a late span is with its conversation',
  );
  await admin('POST /clock', { advance_ms: 29 * DAY_MS });
  t.same(await countSpans(url), {
    spans_20261121: 0,
    spans_20261122: 1,
    spans_20261123: 0,
    spans_20261124: 0,
    spans_20261221: 0,
    spans_20261222: 0,
    spans_20261223: 0,
    spans_default: 0,
  });
  t.same(
    await execute(url, 'select count(*)::int as ids from span_ids'),
    [{ ids: 1 }],
    'the ids of dropped spans are deleted',
  );
});

void t.test('spans outside of partitions are kept, and deleted when they are old', async (t) => {
  const opened = await open(t);
  const { url, partitions, ownerId } = opened;
  await insert(opened, 'before', NOON_MS);
  t.same(await countSpans(url), { spans_default: 1 });
  t.equal(await partitions.create(NOON_MS), true);
  await insert(opened, 'after', NOON_MS);
  await insert(opened, 'tomorrow', NOON_MS + DAY_MS);
  t.same(
    await countSpans(url),
    { spans_20261121: 1, spans_20261122: 0, spans_default: 2 },
    'a day whose spans are outside has no partition',
  );
  await removeAll(opened, NOON_MS);
  t.equal(await partitions.deleteOutside(ownerId, NOON_MS), false);
  t.match(await countSpans(url), { spans_default: 2 }, 'young ones stay');
  await removeAll(opened, NOON_MS + DAY_MS);
  t.equal(await partitions.drop(NOON_MS + DAY_MS), 0);
  await partitions.deleteOutside(ownerId, NOON_MS + DAY_MS);
  t.same(await countSpans(url), { spans_20261121: 1, spans_20261122: 0, spans_default: 0 });
});

void t.test('traces are stored while a partition waits to be dropped', async (t) => {
  const opened = await open(t);
  const { url, partitions } = opened;
  await partitions.create(NOON_MS);
  await insert(opened, 'old', NOON_MS);
  await removeAll(opened, NOON_MS + DAY_MS);
  const reader = new pg.Client({ connectionString: url });
  await reader.connect();
  await reader.query('begin');
  await reader.query('select count(*) from spans');
  let isDropped = false;
  const dropping = partitions.drop(NOON_MS + DAY_MS).then((count) => {
    isDropped = true;
    return count;
  });
  for (let nth = 0; nth < 10; nth += 1) await insert(opened, `new ${nth}`, NOON_MS + DAY_MS);
  t.equal(isDropped, false, 'the reader holds the partition');
  await reader.query('commit');
  await reader.end();
  t.equal(await dropping, 1);
  t.same(await countSpans(url), { spans_20261121: 10, spans_20261122: 0, spans_default: 0 });
});

void t.test('two processes create and drop partitions at the same time', async (t) => {
  const opened = await open(t);
  const other = await openStore({ databaseUrl: opened.url });
  t.teardown(() => other.close());
  const onBoth = <Result>(
    run: (partitions: SpanPartitions) => Promise<Result>,
  ): Promise<Result[]> =>
    Promise.all([opened.partitions, other.spanPartitions ?? opened.partitions].map(run));
  t.same(await onBoth((each) => each.create(NOON_MS)), [true, true]);
  const inserting = Promise.all(
    Array.from({ length: 20 }, (_, nth) => insert(opened, `${nth}`, NOON_MS)),
  );
  await onBoth((each) => each.create(NOON_MS + DAY_MS));
  await inserting;
  t.match(await countSpans(opened.url), { spans_20261120: 20, spans_default: 0 });
  await removeAll(opened, NOON_MS + DAY_MS);
  await onBoth((each) => each.drop(NOON_MS + DAY_MS));
  t.same(await countSpans(opened.url), {
    spans_20261121: 0,
    spans_20261122: 0,
    spans_20261123: 0,
    spans_default: 0,
  });
});

void t.test('a role that may not create tables deletes old spans row by row', async (t) => {
  const { url, superuserUrl, name } = await withPostgres(t, 'migrated');
  await (await openStore({ databaseUrl: url })).close();
  const role = `${name}_app`;
  const password = 'only-a-test';
  await execute(
    superuserUrl.replace(/\/[^/]*$/, `/${name}`),
    `create role ${role} login password '${password}'`,
    `grant usage on schema public to ${role}`,
    `grant select, insert, update, delete on all tables in schema public to ${role}`,
    `grant usage, select on all sequences in schema public to ${role}`,
  );
  t.teardown(() =>
    execute(
      superuserUrl.replace(/\/[^/]*$/, `/${name}`),
      `drop owned by ${role}`,
      `drop role ${role}`,
    ),
  );
  const roleUrl = new URL(url);
  roleUrl.username = role;
  roleUrl.password = password;
  const warnings: string[] = [];
  const log = { info() {}, warn: (event: string) => void warnings.push(event), error() {} };
  await t.test('without a retention, nothing is deleted, and there is no warning', async (t) => {
    await withService(t, { databaseUrl: roleUrl.href, log });
    t.same(warnings, []);
  });
  const tested = await withService(t, {
    databaseUrl: roleUrl.href,
    retentionMs: 30 * DAY_MS,
    log,
  });
  t.same(warnings, ['span_partitions_missing']);
  await tested.trace(makeSpan({ conversationId: 'old' }));
  t.same(await countSpans(url), { spans_default: 1 });
  await tested.admin('POST /clock', { advance_ms: 31 * DAY_MS });
  t.same(await countSpans(url), { spans_default: 0 });
});
