/** The recording of the requests of callers. */
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { findViolations } from '../../../src/contract/index.ts';
import { withOneReplica, type ServiceUnderTest } from '../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';

const record = { recordCallers: true };

const recorded = async ({ service }: ServiceUnderTest) =>
  (await service.callerRecording())?.exchanges ?? [];

void t.test('records nothing unless the option is set', async (t) => {
  const tested = await withOneReplica(t);
  await tested.trace(makeSpan());
  t.equal(await tested.service.callerRecording(), undefined);
});

void t.test('records the requests to the interface in the order of arrival', async (t) => {
  const tested = await withOneReplica(t, record);
  await tested.trace(makeSpan());
  await tested.end('conv-1');
  await tested.production('?eval=polite');
  await tested.simulations();
  await tested.send('POST /v1/metrics', { body: {} });
  await tested.send('GET /v1/traces');
  await tested.send('GET /no/such/path');
  await tested.admin('POST /drain');
  const exchanges = await recorded(tested);
  t.same(
    exchanges.map(({ id, endpoint, request, response }) => [
      ...[id, endpoint, request.method, request.path, response?.status],
    ]),
    [
      [1, 'traces', 'POST', '/v1/traces', 200],
      [2, 'end', 'POST', '/v1/sessions/conv-1/end', 200],
      [3, 'production', 'GET', '/api/prod-evaluations/sessions/?eval=polite', 200],
      [4, 'simulations', 'GET', '/api/simulations/sessions/', 200],
      [5, 'elsewhere', 'POST', '/v1/metrics', 404],
      [6, 'elsewhere', 'GET', '/v1/traces', 405],
      [7, 'elsewhere', 'GET', '/no/such/path', 404],
    ],
    'without requests to /__admin',
  );
  for (const exchange of exchanges) t.same(findViolations('ExchangeRecord', exchange), []);
  t.match(JSON.parse(exchanges[0]?.request.body ?? ''), { resourceSpans: [{}] });
  t.match(JSON.parse(exchanges[1]?.response?.body ?? ''), { conversation_id: 'conv-1' });
  t.match(JSON.parse(exchanges[2]?.response?.body ?? ''), { items: [], total: 0 });
});

void t.test('records no key, in any part of a request', async (t) => {
  const tested = await withOneReplica(t, record);
  const { apiKey } = tested.service;
  const other = 'another-secret-key';
  await tested.send('GET /api/simulations/sessions/');
  await tested.send('GET /api/simulations/sessions/', { key: other });
  await tested.send(`GET /api/simulations/sessions/?api_key=${apiKey}&token=mine&eval=a`);
  await tested.send('GET /api/simulations/sessions/', {
    key: null,
    headers: { authorization: `Bearer ${apiKey}`, cookie: 'session=mine' },
  });
  const encoded = Buffer.from(apiKey).toString('base64').replace(/=+$/, '');
  await tested.send('POST /v1/traces', { body: { apiKey, encoded } });
  const text = JSON.stringify(await tested.service.callerRecording());
  for (const secret of [apiKey, encoded, other, 'mine']) t.notMatch(text, secret);
  t.match(text, /token=<redacted>&eval=a/);
  t.match(text, /"authorization":"Bearer <redacted>"/);
});

void t.test('records the whole body of a refused request', async (t) => {
  const tested = await withOneReplica(t, record);
  await tested.admin('PUT /faults', [{ kind: 'rate_limit', route: 'traces', times: 1 }]);
  const body = makeTraceRequest([makeSpan({ name: 'x'.repeat(200_000) })]);
  await tested.send('POST /v1/traces', { body });
  await tested.send('POST /v1/traces', { body, key: null });
  await tested.send('POST /v1/traces', { body, headers: { 'content-type': 'text/plain' } });
  const exchanges = await recorded(tested);
  t.same(
    exchanges.map(({ step, response }) => [step, response?.status]),
    [
      ['injected rate_limit', 429],
      ['request', 401],
      ['request', 415],
    ],
  );
  for (const { request } of exchanges) t.equal(request.body, JSON.stringify(body));
  t.equal(exchanges[0]?.response?.headers['retry-after'], '1');
});

void t.test('records compressed bodies as bytes, and only the size of a large body', async (t) => {
  const tested = await withOneReplica(t, record);
  const zipped = gzipSync(JSON.stringify(makeTraceRequest()));
  const headers = { 'content-type': 'application/json' };
  await tested.send('POST /v1/traces', {
    raw: zipped,
    headers: { ...headers, 'content-encoding': 'gzip' },
  });
  const large = ' '.repeat(11_000_000);
  await tested.send('POST /v1/traces', { raw: large, headers });
  const [first, second] = (await recorded(tested)).map(({ request }) => request);
  t.equal(first?.bodyBase64, zipped.toString('base64'));
  t.match(second, { bodyBytes: 11_000_000, body: '11000000 bytes of application/json' });
});

void t.test('the recording has real times when a test moves the service clock', async (t) => {
  const tested = await withOneReplica(t, record);
  await tested.trace(makeSpan());
  tested.clock.advance(86_400_000);
  await tested.admin('POST /clock', { advance_ms: 86_400_000 });
  await tested.production();
  const [first, second] = await recorded(tested);
  t.ok(first && second && second.startedMs >= first.endedMs && second.endedMs < 3_600_000);
});

void t.test('a reset keeps the recording', async (t) => {
  const tested = await withOneReplica(t, record);
  await tested.trace(makeSpan());
  await tested.admin('POST /reset', { to: 'empty' });
  t.equal((await recorded(tested)).length, 1);
});
