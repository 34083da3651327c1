/** Texts that are sent in binary format arrive unchanged. */
import t from 'tap';
import { openPool } from '../../../../src/service/store/postgres/pool.ts';
import { encodeTextArray } from '../../../../src/service/store/postgres/text-array.ts';
import { withPostgres } from '../../../support/database/postgres.ts';

void t.test('an array of texts arrives unchanged', async (t) => {
  const { url } = await withPostgres(t);
  const pool = openPool(url);
  t.teardown(() => pool.end());
  const arrays = {
    plain: ['one', 'two'],
    'nulls and empty texts': [null, '', null, 'NULL', ''],
    'what the text format escapes': ['{"a":["b\\"c",1]}', '\\', '"', ',', '{}', ' \n\t'],
    'more than one byte per character': ['naïve', '日本語', '👋🏽', '\ufffd'],
    'one long text': ['é'.repeat(100_000)],
  };
  for (const [name, texts] of Object.entries(arrays)) {
    const { rows } = await pool.query<{ text: string | null }>(
      'select text from unnest($1::text[]) with ordinality as given (text, nth) order by nth',
      [encodeTextArray(texts)],
    );
    t.same(
      rows.map(({ text }) => text),
      texts,
      name,
    );
  }
});
