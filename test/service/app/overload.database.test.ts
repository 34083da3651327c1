/** More requests than the service can finish in time: some are refused immediately, and the others succeed. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import t, { type Test } from 'tap';
import { WAITING_MIN } from '../../../src/service/requests/work-queue.ts';
import { withPostgresServer } from '../../support/database/postgres.ts';
import type { HttpResponse } from '../../support/network/send.ts';
import { withOneReplica, type ServiceUnderTest } from '../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';
import { until } from '../../support/until.ts';

/** Requests that the service stores at the same time. */
const TRACES_RUNNING_MAX = 128;
/** A pause after which new requests would be late. */
const PAUSE_MS = 1_001;

async function readMetric({ send }: ServiceUnderTest, name: string): Promise<number> {
  const { text } = await send('GET /metrics', { key: null });
  const line = text.split('\n').find((each) => each.startsWith(`sandbox_kit_${name} `));
  return Number(line?.split(' ').at(-1));
}

function assertRefused(t: Test, { status, headers, text }: HttpResponse, message: RegExp): void {
  t.equal(status, 503);
  t.equal(headers.get('retry-after'), '1');
  t.match(text, message);
}

void t.test('late traces are refused before their body, and no other is lost', async (t) => {
  const dataDir = t.testdir();
  // Each key may send 120 requests.
  const keys = ['one', 'two', 'three'].map((name) => ({ key: `overload-key-${name}` }));
  const service = await withOneReplica(t, { dataDir, keys });
  const { send, clock, end } = service;
  const other = new Sqlite(join(dataDir, 'service.db'));
  t.teardown(() => other.close());
  other.exec('begin immediate');
  const sendTrace = (nth: number) =>
    send('POST /v1/traces', {
      key: keys[nth % keys.length]?.key ?? '',
      body: makeTraceRequest([makeSpan({ conversationId: `conversation-${nth}` })]),
    });
  const count = TRACES_RUNNING_MAX + WAITING_MIN;
  const admitted = Array.from({ length: count }, (_, nth) => sendTrace(nth));
  await until(`${WAITING_MIN} requests wait`, async () => {
    return (await readMetric(service, 'requests_waiting{kind="traces"}')) === WAITING_MIN;
  });
  t.equal(await readMetric(service, 'requests_running{kind="traces"}'), TRACES_RUNNING_MAX);
  clock.advance(PAUSE_MS);
  const refused = Array.from({ length: 10 }, (_, nth) => count + nth);
  const message = /^\{"message":"The service is processing too many traces right now\./;
  for (const nth of refused) assertRefused(t, await sendTrace(nth), message);
  const large = await send('POST /v1/traces', { key: null, raw: 'x'.repeat(1_000_000) });
  assertRefused(t, large, message);
  t.equal(await readMetric(service, 'requests_refused_total{kind="traces"}'), 11);

  other.exec('rollback');
  for (const { status, text } of await Promise.all(admitted)) t.equal(status, 200, text);
  for (const nth of refused) t.equal((await sendTrace(nth)).status, 200);
  for (const nth of [...admitted.keys(), ...refused]) {
    t.match(await end(`conversation-${nth}`), { status: 'evaluating' });
  }
});

void t.test('late reads are refused, and the others are finished', async (t) => {
  const database = await withPostgresServer(t);
  const service = await withOneReplica(t, { databaseUrl: database.url });
  const { send, clock } = service;
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  t.teardown(() => client.end());
  const cases = [
    {
      kind: 'results',
      sendOne: () => send('GET /api/prod-evaluations/sessions/'),
      message: /^\{"message":"The service is reading too many results right now\./,
    },
    {
      kind: 'pages',
      sendOne: () => send('GET /sessions', { key: null, headers: { accept: 'text/html' } }),
      message: /The service is showing too many pages right now\. Reload the page\./,
    },
  ];
  for (const { kind, sendOne, message } of cases) {
    await client.query('begin');
    await client.query('lock table sessions in access exclusive mode');
    const responses: Promise<HttpResponse>[] = [];
    const early: HttpResponse[] = [];
    await until('a request is refused', () => {
      clock.advance(PAUSE_MS);
      const response = sendOne();
      responses.push(response);
      void response.then((received) => early.push(received));
      return early.length > 0;
    });
    t.ok(responses.length > WAITING_MIN, `${kind}: ${responses.length} were sent`);
    for (const response of early) assertRefused(t, response, message);
    await client.query('rollback');
    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    const refusedCount = statuses.filter((status) => status === 503).length;
    t.ok(statuses.length - refusedCount > WAITING_MIN, `${refusedCount} were refused`);
    t.equal(await readMetric(service, `requests_refused_total{kind="${kind}"}`), refusedCount);
    t.equal((await sendOne()).status, 200);
  }
});
