/** Spans are compressed with LZ4, unless the server can't, or its operator chose something else. */
import t, { type Test } from 'tap';
import { openSpanWriter } from '../../../../src/service/store/open-span-writer.ts';
import { openStore } from '../../../../src/service/store/open-store.ts';
import { execute, withPostgres } from '../../../support/database/postgres.ts';
import { newSpan, NOON_MS } from '../../../support/database/rows.ts';

/** Stores a span with a long text, and returns how the text is compressed. */
async function storeLongText(t: Test, url: string): Promise<unknown> {
  const store = await openStore({ databaseUrl: url });
  t.teardown(() => store.close());
  const ownerId = await store.owners.ensure('owner');
  const writer = await openSpanWriter({ databaseUrl: url });
  t.teardown(() => writer.close());
  const span = newSpan('1', { inputMessages: 'text '.repeat(2_000) });
  const request = { ownerId, receivedAtMs: NOON_MS, tags: [], links: [], logEntries: [] };
  const [result] = await writer.insert([{ ...request, spans: [span] }]);
  t.match(result, { inserted: 1 });
  const [row] = await execute(
    url,
    'select pg_column_compression(input_messages) as method from spans',
  );
  return row?.['method'];
}

/** Returns whether the server was built with LZ4. */
async function hasLz4(url: string): Promise<boolean> {
  const rows = await execute(
    url,
    `select from pg_settings where name = 'default_toast_compression' and 'lz4' = any(enumvals)`,
  );
  return rows.length > 0;
}

void t.test('texts are compressed with LZ4 if the server can', async (t) => {
  const { url } = await withPostgres(t);
  t.equal(await storeLongText(t, url), (await hasLz4(url)) ? 'lz4' : 'pglz');
});

void t.test('the method that an operator chose stays', async (t) => {
  const { url } = await withPostgres(t);
  const name = new URL(url).pathname.slice(1);
  await execute(url, `alter database "${name}" set default_toast_compression = 'pglz'`);
  t.equal(await storeLongText(t, url), 'pglz');
});
