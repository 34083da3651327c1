/** `POST /v1/traces`: authentication, content types, limits, and error responses. */
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { INGEST_BODY_BYTES_MAX } from '../../../src/contract/index.ts';
import { openDatabase } from '../../support/database/store.ts';
import { createLineLog } from '../../support/services/log-lines.ts';
import { assertError, withService, type ServiceUnderTest } from '../../support/services/service.ts';
import { makeProtobufRequest, makeTraceRequest, makeSpan } from '../../support/traces/otlp.ts';

const TRACES = 'POST /v1/traces';
const json = { 'content-type': 'application/json' };
const protobuf = { 'content-type': 'application/x-protobuf' };

const listCodes = async ({ ingestLog }: ServiceUnderTest): Promise<string[]> =>
  (await ingestLog()).map(({ code }) => code);

void t.test(
  'without a key or with an unknown key, every route of area A returns 401',
  async (t) => {
    const { send } = await withService(t);
    const routes = [
      TRACES,
      'POST /v1/sessions/conv-1/end',
      'GET /api/simulations/sessions/',
      'GET /api/prod-evaluations/sessions',
    ];
    for (const route of routes) {
      assertError(t, await send(route, { key: null }), 401, /x-service-api-key/);
      assertError(t, await send(route, { key: 'sk_wrong' }), 401, /the key is unknown/);
    }
  },
);

void t.test('the key header can be renamed', async (t) => {
  const { send, service } = await withService(t, { apiKeyHeader: 'X-Other-Key' });
  assertError(t, await send(TRACES, { body: makeTraceRequest() }), 401, /x-other-key/);
  const headers = { 'x-other-key': service.apiKey };
  t.equal((await send(TRACES, { body: makeTraceRequest(), headers, key: null })).status, 200);
});

void t.test(
  'exactly two content types are accepted, regardless of case and parameters',
  async (t) => {
    const tested = await withService(t);
    const { send } = tested;
    const text = JSON.stringify(makeTraceRequest());
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json;x="a;b"',
      ' application/json ',
    ]) {
      const response = await send(TRACES, { raw: text, headers: { 'content-type': type } });
      t.equal(response.status, 200, type);
      t.equal(response.headers.get('content-type'), 'application/json');
    }
    const upper = { 'content-type': 'APPLICATION/X-PROTOBUF; v=1' };
    const response = await send(TRACES, { raw: makeProtobufRequest(), headers: upper });
    t.equal(response.headers.get('content-type'), 'application/x-protobuf');
    for (const type of [
      'text/plain',
      'application/jsonx',
      'application/json-seq',
      'application/x-protobufx',
      'application/protobuf',
      'application/json, application/x-protobuf',
      'nonsense',
      ';;;',
    ]) {
      const rejected = await send(TRACES, { raw: text, headers: { 'content-type': type } });
      assertError(t, rejected, 415, /application\/x-protobuf/);
    }
    assertError(t, await send(TRACES, { raw: Buffer.from(text) }), 415, /got nothing/);
    assertError(t, await send(TRACES), 415, /got nothing/);
    t.ok((await listCodes(tested)).includes('unsupported_type'));
  },
);

void t.test('bodies are accepted uncompressed or with gzip', async (t) => {
  const { send } = await withService(t);
  const plain = Buffer.from(JSON.stringify(makeTraceRequest()));
  const send200 = async (encoding: string, raw: Uint8Array): Promise<void> => {
    const response = await send(TRACES, {
      raw,
      headers: { ...json, 'content-encoding': encoding },
    });
    t.equal(response.status, 200, `${encoding}: ${response.text}`);
  };
  await send200('gzip', gzipSync(plain));
  await send200('GZIP', gzipSync(plain));
  await send200('identity', plain);
  await send200(
    'gzip',
    Buffer.concat([gzipSync(plain.subarray(0, 9)), gzipSync(plain.subarray(9))]),
  );
  for (const encoding of ['zstd', 'deflate', 'br', 'gzip, gzip']) {
    const headers = { ...json, 'content-encoding': encoding };
    assertError(t, await send(TRACES, { raw: plain, headers }), 415, /gzip/);
  }
  const headers = { ...json, 'content-encoding': 'gzip' };
  assertError(t, await send(TRACES, { raw: plain, headers }), 400);
  assertError(t, await send(TRACES, { raw: gzipSync(plain).subarray(0, -9), headers }), 400);
  const bomb = gzipSync(Buffer.alloc(200_000_000));
  assertError(t, await send(TRACES, { raw: bomb, headers }), 413);
});

void t.test(
  '120 requests are accepted in any 60 s; the next one gets a 429 with Retry-After',
  async (t) => {
    const tested = await withService(t);
    const { send, clock, admin } = tested;
    const body = { resourceSpans: [] };
    const statuses = new Set<number>();
    for (let nth = 0; nth < 60; nth += 1) statuses.add((await send(TRACES, { body })).status);
    clock.advance(30_500);
    for (let nth = 0; nth < 60; nth += 1) statuses.add((await send(TRACES, { body })).status);
    t.same([...statuses], [200]);

    for (let nth = 0; nth < 3; nth += 1) {
      const rejected = await send(TRACES, { body });
      assertError(t, rejected, 429, /30 s/);
      t.equal(rejected.headers.get('retry-after'), '30', 'whole seconds, rounded up');
    }
    const unsupported = await send(TRACES, { raw: 'x', headers: { 'content-type': 'text/plain' } });
    assertError(t, unsupported, 429);
    assertError(t, await send(TRACES, { body, key: 'sk_unknown' }), 401);
    t.same(
      (await listCodes(tested)).filter((code) => code === 'rate_limited').length,
      1,
      'logged once',
    );

    clock.advance(29_499);
    t.equal((await send(TRACES, { body })).headers.get('retry-after'), '1', 'never 0');
    clock.advance(1);
    t.equal((await send(TRACES, { body })).status, 200, 'rejected requests do not extend the wait');

    const { key } = (await admin('POST /keys', { owner: 'other' })) as { key: string };
    for (let nth = 0; nth < 100; nth += 1) await send(TRACES, { body });
    t.equal((await send(TRACES, { body })).status, 429);
    t.equal((await send(TRACES, { body, key })).status, 200, 'each key has its own window');
  },
);

void t.test(
  'errors have the order 401, 429, 415, 413, 400; the first that applies is returned',
  async (t) => {
    const { send } = await withService(t);
    const large = Buffer.alloc(INGEST_BODY_BYTES_MAX + 1);
    const text = { 'content-type': 'text/plain' };
    assertError(t, await send(TRACES, { raw: large, headers: text, key: 'sk_unknown' }), 401);
    assertError(t, await send(TRACES, { raw: large, headers: text }), 415);
    assertError(t, await send(TRACES, { raw: large, headers: json }), 413);
    assertError(t, await send(TRACES, { raw: 'nonsense', headers: json }), 400);
  },
);

void t.test('malformed bodies get 400 with a message and affect no other request', async (t) => {
  const { send, trace, end, admin } = await withService(t);
  const bodies = [
    '',
    'x',
    '[]',
    'null',
    '"text"',
    '7',
    '{"resourceSpans":7}',
    '{"resourceSpans":[7]}',
    '{"resourceSpans":[{"scopeSpans":{}}]}',
    '{"resourceSpans":[{"scopeSpans":[{"spans":[null]}]}]}',
    '['.repeat(100_000),
    '{"resourceSpans":[',
    '\u0000',
  ];
  const results = await Promise.all([
    ...bodies.map((raw) => send(TRACES, { raw, headers: json })),
    ...['\u0007', '\n\u00ff', 'not protobuf at all'].map((raw) =>
      send(TRACES, { raw: Buffer.from(raw, 'latin1'), headers: protobuf }),
    ),
    trace(makeSpan({ conversationId: 'valid' })),
  ]);
  for (const response of results) if (response) assertError(t, response, 400);
  t.equal((await end('valid')).conversation_id, 'valid');
  t.ok(JSON.stringify(await admin('GET /ingest-log')).includes('malformed_body'));
});

void t.test(
  'a request without spans to store is accepted; one without any conversation id is rejected',
  async (t) => {
    const tested = await withService(t);
    const { send, end } = tested;
    t.equal((await send(TRACES, { body: {} })).status, 200);
    t.equal((await send(TRACES, { raw: Buffer.alloc(0), headers: protobuf })).status, 200);
    const other = makeTraceRequest([makeSpan({ operation: null, conversationId: null })]);
    t.equal((await send(TRACES, { body: other })).status, 200, 'other spans are ignored');

    const without = makeTraceRequest([makeSpan({ conversationId: null })]);
    assertError(t, await send(TRACES, { body: without }), 400, /X-Conversation-Id/);
    t.ok((await listCodes(tested)).includes('no_conversation_id'));
    const headers = { 'x-conversation-id': 'Gespr\u00c3\u00a4ch' };
    t.equal((await send(TRACES, { body: without, headers })).status, 200);
    t.equal((await end('Gespr\u00e4ch')).conversation_id, 'Gespr\u00e4ch');
  },
);

void t.test('other methods and paths get 405 and 404 with an explanation', async (t) => {
  const { send } = await withService(t);
  const wrong = await send('GET /v1/traces');
  assertError(t, wrong, 405, /POST/);
  t.equal(wrong.headers.get('allow'), 'POST');
  assertError(t, await send('GET /v1/'), 404);
  assertError(t, await send('POST /v1/other', { raw: 'x', headers: { 'content-type': ';' } }), 404);
});

void t.test(
  'logs and metrics get 404 with the reason, even without a key and with an invalid body',
  async (t) => {
    const { send } = await withService(t);
    const metrics =
      /POST \/v1\/metrics: the service takes traces only, .*OTEL_METRICS_EXPORTER=none/;
    assertError(t, await send('POST /v1/metrics', { body: {} }), 404, metrics);
    const logs = /takes traces only, .*gen_ai\.input\.messages.*OTEL_LOGS_EXPORTER=none/;
    assertError(t, await send('POST /v1/logs', { body: {} }), 404, logs);
    const headers = { 'content-type': ';', 'content-encoding': 'gzip' };
    assertError(t, await send('POST /v1/logs', { raw: 'x', headers, key: null }), 404, logs);
    assertError(
      t,
      await send('POST /v1/logs', { raw: 'x'.repeat(1e6), headers: protobuf }),
      404,
      logs,
    );
    assertError(t, await send('GET /v1/logs'), 404, /GET \/v1\/logs/);
  },
);

void t.test('the 404 of an unknown conversation points to spans in another dialect', async (t) => {
  const tested = await withService(t);
  const span = makeSpan({ operation: null, attributes: { 'openinference.span.kind': 'LLM' } });
  const body = makeTraceRequest([span]);
  t.equal((await tested.send(TRACES, { body })).status, 200, 'ignored, as the interface says');
  t.same(await listCodes(tested), ['unreadable_spans']);
  const unknown = await tested.send('POST /v1/sessions/conv-1/end');
  assertError(t, unknown, 404, /unreadable_spans.*ingest-log/);
});

void t.test('injected faults cause 429, 500, 503, and slow responses', async (t) => {
  const { send, admin, trace } = await withService(t);
  await admin('POST /faults', { kind: 'rate_limit', route: 'traces', retry_after_s: 7, times: 1 });
  await admin('POST /faults', { kind: 'server_error', route: 'results', times: 1 });
  await admin('POST /faults', { kind: 'unavailable', route: 'end', ttl_ms: 1000 });
  const rejected = await send(TRACES, { body: makeTraceRequest() });
  assertError(t, rejected, 429, /fault/);
  t.equal(rejected.headers.get('retry-after'), '7');
  await trace(makeSpan());
  assertError(t, await send('GET /api/simulations/sessions'), 500, /fault/);
  t.equal((await send('GET /api/simulations/sessions')).status, 200);
  assertError(t, await send('POST /v1/sessions/conv-1/end'), 503, /An unavailable fault/);
  await admin('POST /clock', { advance_ms: 1000 });
  t.equal((await send('POST /v1/sessions/conv-1/end')).status, 200);

  await admin('PUT /faults', [{ kind: 'slow', delay_ms: 600_000 }]);
  const slow = send(TRACES, { body: makeTraceRequest() });
  while (!JSON.stringify(await admin('GET /faults')).includes('"injected":1'));
  await admin('POST /clock', { advance_ms: 600_000 });
  t.equal((await slow).status, 200);
});

void t.test('spans that cannot be stored cause a 500, and the log says why', async (t) => {
  const dataDir = t.testdir();
  const { log, lines } = createLineLog();
  const { send } = await withService(t, { dataDir, log });
  const failInserts =
    "create trigger full before insert on spans begin select raise(abort, 'no room')";
  openDatabase(t, join(dataDir, 'service.db')).exec(`${failInserts}; end`);
  assertError(
    t,
    await send(TRACES, { body: makeTraceRequest([makeSpan({ user: 'my secret' })]) }),
    500,
    /again/,
  );
  t.match(
    lines.join('\n'),
    /"event":"span_write_failed".*"reason":"SqliteError SQLITE_CONSTRAINT_TRIGGER at /,
  );
  t.notMatch(lines.join('\n'), /secret/);
});
