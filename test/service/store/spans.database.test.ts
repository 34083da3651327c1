import type { StoreLocation } from '../../../src/service/store/store.ts';
import { openSpanWriter } from '../../../src/service/store/open-span-writer.ts';
import { openFile } from '../../../src/service/store/sqlite/open-file.ts';
import { execute } from '../../support/database/postgres.ts';
import {
  newCloseRequest,
  newSpan,
  newSpans,
  NOON_MS,
  noonNs,
} from '../../support/database/rows.ts';
import { testStore, withStore } from '../../support/database/store.ts';
import { nightOnly } from '../../support/nightly.ts';

testStore('a span is stored unchanged, to the nanosecond', async (t, database) => {
  const { store, sink, ownerId } = await withStore(t);
  const span = newSpan('1', {
    startNs: 1_763_640_000_123_456_789n,
    endNs: 2n ** 63n - 1n,
    parentSpanId: 'span-0',
    failed: true,
    inputMessages: '[{"role": cut off \u0000 \u{1F600}',
    outputMessages: undefined,
    attributes: { 'gen_ai.usage.input_tokens': 12, 'gen_ai.nested': { a: [1, null, 'ü'] } },
  });
  const request = newSpans(ownerId, [span]);
  t.same(await sink.insert([request]), [{ inserted: 1, repeated: 0, late: 0, rejected: 0 }]);
  const stored = {
    ...span,
    receivedAtMs: request.receivedAtMs,
    late: false,
    // PostgreSQL stores no NUL character.
    ...(database === 'PostgreSQL' && {
      inputMessages: span.inputMessages?.replace('\0', '\uFFFD'),
    }),
  };
  t.strictSame(await store.conversations.listSpans(ownerId, 'conversation-1'), [stored]);
});

testStore('spans are returned in start order, regardless of arrival order', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const at = (id: string, after: bigint) => newSpan(id, { startNs: noonNs + after });
  await sink.insert([
    newSpans(ownerId, [at('c', 3n), at('a', 1n)]),
    newSpans(ownerId, [at('b', 2n)]),
  ]);
  const spans = await store.conversations.listSpans(ownerId, 'conversation-1');
  t.same(
    spans.map(({ spanId }) => spanId),
    ['span-a', 'span-b', 'span-c'],
  );
});

testStore('spans that start together are returned in their order of arrival', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const requests = [['d', 'b'], ['c'], ['b', 'a', 'd']].map((ids) =>
    newSpans(
      ownerId,
      ids.map((id) => newSpan(id)),
    ),
  );
  await sink.insert(requests.slice(0, 2));
  await sink.insert(requests.slice(1));
  const spans = await store.conversations.listSpans(ownerId, 'conversation-1');
  t.same(
    spans.map(({ spanId }) => spanId),
    ['span-d', 'span-b', 'span-c', 'span-a'],
  );
});

testStore('a repeated span changes nothing, even in another conversation', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  await sink.insert([newSpans(ownerId, [newSpan('1')])]);
  const before = await store.conversations.find(ownerId, 'conversation-1');
  const again = newSpan('1', { endNs: noonNs + 9_000_000_000n, name: 'changed' });
  const moved = newSpan('1', { conversationId: 'conversation-2' });
  const later = { receivedAtMs: NOON_MS + 99_000 };
  const results = await sink.insert([
    newSpans(ownerId, [again], later),
    newSpans(ownerId, [moved], later),
  ]);
  t.same(results, Array(2).fill({ inserted: 0, repeated: 1, late: 0, rejected: 0 }));
  t.same(await store.conversations.find(ownerId, 'conversation-1'), before);
  t.equal(await store.conversations.find(ownerId, 'conversation-2'), undefined);
  t.match(await store.ingestLog.list(ownerId, 9), [
    { code: 'span_id_taken', level: 'warn' },
    { code: 'repeated_spans', level: 'info' },
  ]);
});

testStore('a new conversation has the time bounds of its new spans only', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  await sink.insert([newSpans(ownerId, [newSpan('old', { startNs: 1n, endNs: 2n ** 60n })])]);
  const conversationId = 'conversation-2';
  const known = newSpan('old', { conversationId, startNs: 1n, endNs: 2n ** 62n });
  await sink.insert([newSpans(ownerId, [known, newSpan('new', { conversationId })])]);
  t.match(await store.conversations.find(ownerId, conversationId), {
    firstStartNs: noonNs,
    lastEndNs: noonNs + 1_000_000_000n,
  });
});

testStore('the same span id of two owners identifies two spans', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const results = await sink.insert([
    newSpans(ownerId, [newSpan('1')]),
    newSpans(other, [newSpan('1')]),
  ]);
  t.same(results, Array(2).fill({ inserted: 1, repeated: 0, late: 0, rejected: 0 }));
  await sink.insert([newSpans(other, [newSpan('2')])]);
  t.equal((await store.conversations.listSpans(ownerId, 'conversation-1')).length, 1);
  t.equal((await store.conversations.listSpans(other, 'conversation-1')).length, 2);
});

testStore('a conversation has its first start, last end, and last arrival', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const times = (id: string, startNs: bigint, endNs: bigint) => newSpan(id, { startNs, endNs });
  await sink.insert([
    newSpans(ownerId, [times('1', noonNs, noonNs + 5n)], { receivedAtMs: 20 }),
    newSpans(ownerId, [times('2', noonNs - 7n, noonNs + 1n)], { receivedAtMs: 10 }),
  ]);
  t.same(await store.conversations.find(ownerId, 'conversation-1'), {
    conversationId: 'conversation-1',
    state: 'open',
    firstStartNs: noonNs - 7n,
    lastEndNs: noonNs + 5n,
    lastReceivedAtMs: 20,
    spanCount: 2,
    closedAtMs: undefined,
    run: undefined,
    sessionId: undefined,
  });
});

testStore('a span without times does not date its conversation to 1970', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  await sink.insert([newSpans(ownerId, [newSpan('1', { startNs: 0n, endNs: 0n })])]);
  const closed = await store.conversations.close(newCloseRequest(ownerId));
  t.equal(closed?.run, 'Live traces 2026-11-20');
});

testStore('times out of range are stored as the nearest valid time', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const [result] = await sink.insert([
    newSpans(ownerId, [newSpan('1', { startNs: -5n, endNs: 2n ** 64n })]),
  ]);
  t.match(result, { inserted: 1 });
  const [span] = await store.conversations.listSpans(ownerId, 'conversation-1');
  t.equal(span?.startNs, 0n);
  t.equal(span?.endNs, 2n ** 63n - 1n);
});

testStore('tags are stored once per conversation, up to the limit', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const tag = (key: string, value: string) => ({ conversationId: 'conversation-1', key, value });
  const few = [tag('env', 'prod'), tag('env', 'test'), tag('env', 'prod')];
  await sink.insert([newSpans(ownerId, [newSpan('1')], { tags: few })]);
  t.same(await store.conversations.listTags(ownerId, 'conversation-1'), [
    { key: 'env', value: 'prod' },
    { key: 'env', value: 'test' },
  ]);
  const many = Array.from({ length: 300 }, (_, nth) => tag('n', String(nth)));
  await sink.insert([newSpans(ownerId, [newSpan('2')], { tags: [...few, ...many] })]);
  await sink.insert([newSpans(ownerId, [newSpan('3')], { tags: few })]);
  t.equal((await store.conversations.listTags(ownerId, 'conversation-1')).length, 256);
  const notes = await store.ingestLog.list(ownerId, 9);
  t.same(
    notes.map(({ code, about }) => [code, about['count']]),
    [['tags_left_out', 46]],
    'logged once: known tags do not count again',
  );
});

testStore('a trace maps to the conversation of its first span', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const spans = [
    newSpan('1', { traceId: 'shared' }),
    newSpan('2', { traceId: 'shared', conversationId: 'conversation-2' }),
  ];
  await sink.insert([newSpans(ownerId, spans)]);
  const known = new Map([['shared', 'conversation-1']]);
  t.same(await sink.findConversations(ownerId, ['shared', 'unknown']), known);
  const other = await store.owners.ensure('other');
  t.same(await sink.findConversations(other, ['shared']), new Map());
});

testStore('a request that fails stores nothing; the others in its batch are stored', async (t) => {
  const { store, sink, ownerId } = await withStore(t);
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  const bad = [newSpan('2'), newSpan('3', { attributes: cycle })];
  const results = await sink.insert([
    newSpans(ownerId, [newSpan('1')]),
    newSpans(ownerId, bad),
    newSpans('unknown-owner', [newSpan('4')]),
    newSpans(ownerId, [newSpan('5')]),
  ]);
  t.same(
    results.map((result) => result instanceof Error),
    [false, true, true, false],
  );
  const spans = await store.conversations.listSpans(ownerId, 'conversation-1');
  t.same(
    spans.map(({ spanId }) => spanId),
    ['span-1', 'span-5'],
  );
});

/** Runs a statement on the database of a store, and returns its rows. */
async function run(location: StoreLocation, statement: string): Promise<unknown[]> {
  if ('databaseUrl' in location) return execute(location.databaseUrl, statement);
  const db = openFile(location.file, { busyMs: 5_000 });
  const prepared = db.prepare(statement);
  const rows = prepared.reader ? prepared.all() : [prepared.run()];
  db.close();
  return rows;
}

const linkOf = (spanId: string) => ({ traceId: 'trace-1', spanId, parentSpanId: 'span-9' });

testStore('links of one owner do not evict those of another', async (t, database) => {
  const { location, store, sink, ownerId } = await withStore(t);
  const other = await store.owners.ensure('other');
  const count = async (owner: string): Promise<number> =>
    (await store.conversations.listLinks(owner, 'conversation-1')).length;
  for (const owner of [ownerId, other]) {
    await sink.insert([
      newSpans(owner, [newSpan('1')], { links: [linkOf('ignored-1'), linkOf('ignored-2')] }),
    ]);
  }
  await run(
    location,
    `insert into span_links (owner_id, key, trace_id, span_id, parent_span_id)
     values ('${other}', 900000, 'trace-1', 'ignored-3', 'span-9')`,
  );
  if (database === 'PostgreSQL') await run(location, "select setval('link_keys', 900000)");
  // A writer that just started deletes old links with the first ones of each owner.
  const second = await openSpanWriter(location);
  t.teardown(() => second.close());
  for (const owner of [other, ownerId]) {
    await second.insert([newSpans(owner, [], { links: [linkOf('ignored-4')] })]);
  }
  t.equal(await count(other), 4);
  t.equal(await count(ownerId), 3);
});

testStore(
  'an owner keeps its newest links, up to the limit',
  async (t, database) => {
    const { location, sink, ownerId } = await withStore(t);
    const series = {
      SQLite: `with recursive series (n) as
        (select 1 union all select n + 1 from series where n < 500000) select n from series`,
      PostgreSQL: 'select n from generate_series(1, 500000) as n',
    };
    await sink.insert([newSpans(ownerId, [], { links: [linkOf('oldest')] })]);
    const writer = await openSpanWriter(location);
    t.teardown(() => writer.close());
    await run(
      location,
      `insert into span_links (owner_id, trace_id, span_id, parent_span_id)
       select '${ownerId}', 'trace-1', n, 'span-9' from (${series[database]}) as numbers`,
    );
    await writer.insert([newSpans(ownerId, [], { links: [linkOf('newest')] })]);
    t.same(
      await run(
        location,
        `select count(*) as links, min(length(span_id)) as shortest,
           count(case when span_id in ('oldest', '1') then 1 end) as oldest from span_links`,
      ),
      [{ links: 500_000, shortest: 1, oldest: 0 }],
    );
  },
  nightOnly(),
);
