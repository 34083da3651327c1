/** Requests without a key or with an unknown key appear in the ingest log. */
import t from 'tap';
import { assertError, withService } from '../../support/services/service.ts';
import { makeTraceRequest, makeSpan } from '../../support/traces/otlp.ts';

const TRACES = 'POST /v1/traces';

void t.test(
  'the first unauthorized request of a series is in the ingest log, without its key',
  async (t) => {
    const tested = await withService(t, { apiKeyHeader: 'X-My-Key' });
    const { send, clock, service } = tested;
    const wrong = { body: makeTraceRequest(), headers: { 'x-my-key': 'my-secret-key' } };
    for (let nth = 0; nth < 5; nth += 1) assertError(t, await send(TRACES, wrong), 401);
    t.match(await tested.ingestLog(), {
      length: 1,
      0: {
        level: 'error',
        code: 'unauthorized',
        message: /the key is unknown/,
        about: { header: 'x-my-key', status: 401 },
      },
    });
    t.notMatch(JSON.stringify(await tested.ingestLog()), /my-secret-key|sk_dev/);
    clock.advance(3_600_000);
    assertError(t, await send(TRACES, wrong), 401);
    t.equal((await tested.ingestLog()).length, 1, 'still one entry for the series');

    const right = { body: makeTraceRequest([makeSpan()]), headers: { 'x-my-key': service.apiKey } };
    t.equal((await send(TRACES, right)).status, 200);
    assertError(t, await send('GET /api/prod-evaluations/sessions/'), 401);
    t.match(await tested.ingestLog(), [
      { message: /the header is missing/ },
      { message: /the key is unknown/ },
    ]);
  },
);

void t.test(
  'consecutive series of unauthorized requests leave one log entry per minute',
  async (t) => {
    const tested = await withService(t);
    const { send, clock, admin } = tested;
    const alternate = async (): Promise<void> => {
      for (let nth = 0; nth < 3; nth += 1) {
        assertError(t, await send('POST /v1/sessions/x/end', { key: 'unknown-key' }), 401);
        t.equal((await send('GET /api/simulations/sessions/')).status, 200);
      }
    };
    await alternate();
    t.equal((await tested.ingestLog()).length, 1);
    clock.advance(60_000);
    await alternate();
    t.equal((await tested.ingestLog()).length, 2);
    await admin('POST /reset', { to: 'empty' });
    await alternate();
    t.equal((await tested.ingestLog()).length, 1, 'a reset starts a new series');
  },
);

void t.test('a change of the problem is reported, once a minute for each problem', async (t) => {
  const tested = await withService(t);
  const alternate = async (): Promise<void> => {
    for (let nth = 0; nth < 3; nth += 1) {
      for (const key of [null, 'unknown-key']) {
        assertError(t, await tested.send(TRACES, { key, body: makeTraceRequest() }), 401);
      }
    }
  };
  await alternate();
  t.match(await tested.ingestLog(), {
    length: 2,
    0: { message: /the key is unknown/ },
    1: { message: /the header is missing/ },
  });
  tested.clock.advance(60_000);
  await alternate();
  t.equal((await tested.ingestLog()).length, 4);
});

void t.test('traces that are sent to another path are reported once a minute', async (t) => {
  const tested = await withService(t);
  const { send, clock } = tested;
  const protobuf = { body: 'any', headers: { 'content-type': 'application/x-protobuf' } };
  const post = async (path: string, options = {}): Promise<void> =>
    assertError(
      t,
      await send(`POST ${path}`, { key: 'my-secret-key', body: makeTraceRequest(), ...options }),
      404,
      /does not exist\. Send traces to \/v1\/traces\.$/,
    );
  for (const path of ['/traces?key=secret', '/v1/trace', '/api/traces/']) await post(path);
  await post('/otlp', protobuf);
  t.match(await tested.ingestLog(), {
    length: 1,
    0: {
      level: 'error',
      code: 'unknown_route',
      message: /^Rejected with 404: Route POST \/traces does not exist\. Send .*\/v1\/traces\./,
      about: { status: 404 },
    },
  });
  t.notMatch(JSON.stringify(await tested.ingestLog()), /secret/);
  clock.advance(60_000);
  await post('/v1/traces/v1/traces');
  t.equal((await tested.ingestLog()).length, 2);
  const other = { body: '{}', key: null };
  assertError(t, await send('POST /other', other), 404, /\/other does not exist\.$/);
  assertError(t, await send('POST /traces-of-gold', other), 404, /gold does not exist\.$/);
  assertError(t, await send('GET /traces', { key: null }), 404, /\/traces does not exist\.$/);
});

void t.test('a key in the wrong header gets a hint that does not repeat the key', async (t) => {
  const tested = await withService(t);
  const headers = { authorization: `Bearer ${tested.service.apiKey}` };
  const response = await tested.send(TRACES, { key: null, body: makeTraceRequest(), headers });
  assertError(
    t,
    response,
    401,
    /x-service-api-key must contain .* missing, and Authorization is ignored\.$/,
  );
  t.match(await tested.ingestLog(), [{ message: /Authorization is ignored\. / }]);
  t.notOk(
    (response.text + JSON.stringify(await tested.ingestLog())).includes(tested.service.apiKey),
  );
});
