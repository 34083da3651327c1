/** While another program locks the database, writes get a retryable 503 instead of a 500. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { runOnQuietMachine } from '../../support/measurements/quiet-machine.ts';
import { createLineLog } from '../../support/services/log-lines.ts';
import { makeContainsEval, withService } from '../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';

void t.test(
  'a lock that is longer than the wait gives 503 with Retry-After, and loses nothing',
  async (t) => {
    const dataDir = t.testdir();
    const { log, lines } = createLineLog();
    const { send, trace, end } = await withService(t, { dataDir, log });
    await trace(makeSpan({ conversationId: 'before' }));
    const other = new Sqlite(join(dataDir, 'service.db'));
    t.teardown(() => other.close());
    other.exec('begin immediate');
    const body = makeTraceRequest([makeSpan({ conversationId: 'during' })]);
    const routes = [
      ['POST /v1/traces', { body }],
      // More requests than the ingest thread stores in one transaction: they wait only once.
      ...Array.from({ length: 100 }, () => ['POST /v1/traces', { body }] as const),
      ['POST /v1/sessions/before/end', {}],
      ['POST /__admin/evals', { body: makeContainsEval('any', 'way') }],
      ['PUT /__admin/settings', { body: { run_name: 'x' } }],
    ] as const;
    const sendAll = async () => {
      const startedMs = performance.now();
      const responses = await Promise.all(routes.map(([route, options]) => send(route, options)));
      return { responses, isInTime: performance.now() - startedMs < 9_500 };
    };
    const sent = await runOnQuietMachine(t, sendAll, ({ isInTime }) => isInTime);
    if (sent) t.ok(sent.isInTime, 'exporters stop waiting after 10 s');
    const { responses } = sent ?? (await sendAll());
    for (const { status, headers, text } of responses) {
      t.equal(status, 503);
      t.match(headers.get('retry-after'), /^[1-9]\d*$/);
      t.match(text, /^\{"message":"Another program has locked the database of the service\. /);
    }
    const read = await send('GET /api/prod-evaluations/sessions/');
    t.equal(read.status, 200, 'reads still work');
    t.match(lines.join('\n'), /"event":"database_locked".*"code":"SQLITE_BUSY/);
    t.notMatch(lines.join('\n'), 'span_write_failed');

    other.exec('rollback');
    t.equal((await send('POST /v1/traces', { body })).status, 200, 'a retry succeeds');
    t.match(await end('during'), { status: 'evaluating' });
    t.match(await end('before'), { status: 'evaluating' });
  },
);
