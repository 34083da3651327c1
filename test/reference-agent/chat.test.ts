import { connect } from 'node:net';
import { once } from 'node:events';
import t from 'tap';
import { startAgent } from '../../reference-agent/index.ts';
import { schemas, type ChatResponse } from '../../src/contract/index.ts';
import { manualClock } from '../../src/platform/manual-clock.ts';
import { generateKeyPair } from '../support/network/certificates.ts';
import { assertResponse } from '../support/network/send.ts';
import {
  assertError,
  CHAT_ROUTE,
  makeChatRequest,
  waitForInjection,
  withReferenceAgent,
} from '../support/sandboxes/reference-agent.ts';

void t.test('a request with only messages gets a complete response', async (t) => {
  const { send } = await withReferenceAgent(t);
  const response = await send(CHAT_ROUTE, { body: makeChatRequest('Where is order A-1001?') });

  assertResponse(t, response, 200, 'ChatResponse');
  t.match(response.json, {
    choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'stop' }],
    chat_id: /^chat_[0-9a-f]{16}$/,
    metadata: { agent_confidence: Number, response_time_ms: Number, tools_used: ['look_up_order'] },
  });
  t.notOk(
    'session_id' in (response.json as object),
    'no session id is echoed, because none was sent',
  );
});

void t.test(
  'every near miss of the contract is refused with the pointer to the problem',
  async (t) => {
    const { send } = await withReferenceAgent(t);
    const cases = [
      ...schemas.ChatRequest['x-near-misses'].map((miss) => ({ route: CHAT_ROUTE, ...miss })),
      ...schemas.UserCreateRequest['x-near-misses'].map((miss) => ({
        route: 'POST /users',
        ...miss,
      })),
    ];
    for (const { route, breaks, value } of cases) {
      const response = await send(route, { body: value });
      assertError(t, response, 400, 'bad_request');
      t.match(response.text, `${breaks} must be `);
      t.match(response.text, 'got ');
    }
  },
);

void t.test('bad input is refused and never fails the agent', async (t) => {
  const { send } = await withReferenceAgent(t);
  const chat = makeChatRequest('Hello');
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const cases: [string, Parameters<typeof send>[1], number][] = [
    ['invalid JSON', { raw: '{"messages": [' }, 400],
    ['an empty body', { raw: '' }, 400],
    ['no body', {}, 400],
    ['a null body', { raw: 'null' }, 400],
    ['an array as the body', { body: [chat] }, 400],
    ['a user_id of the wrong type', { body: { ...chat, user_id: 7 } }, 400],
    ['a session_id of the wrong type', { body: { ...chat, session_id: {} } }, 400],
    ['a persona of the wrong type', { body: { ...chat, metadata: { persona: 1 } } }, 400],
    ['null content', { body: { messages: [{ role: 'user', content: null }] } }, 400],
    ['a capitalized role', { body: { messages: [{ role: 'User', content: 'x' }] } }, 400],
    ['a deeply nested body', { raw: deep }, 400],
    ['text/plain', { body: chat, headers: { 'content-type': 'text/plain' } }, 400],
    ['an invalid content type', { body: chat, headers: { 'content-type': ';;' } }, 400],
    ['a compressed body', { raw: '\u001f\u008b', headers: { 'content-encoding': 'gzip' } }, 400],
  ];
  for (const [name, request, status] of cases) {
    await t.test(name, async (t) => {
      const response = await send(CHAT_ROUTE, request);
      assertError(t, response, status, 'bad_request');
      t.notMatch(response.text, /node_modules|at .*\.ts/, 'contains no stack trace or path');
    });
  }
  assertResponse(t, await send(CHAT_ROUTE, { body: chat }), 200, 'ChatResponse');
});

void t.test('a body up to the size limit is accepted', async (t) => {
  const { send } = await withReferenceAgent(t);
  const bytesAround = JSON.stringify(makeChatRequest('')).length;
  const fits = makeChatRequest('x'.repeat(1_048_576 - bytesAround));
  assertResponse(t, await send(CHAT_ROUTE, { body: fits }), 200, 'ChatResponse');

  const tooLong = makeChatRequest('x'.repeat(1_048_577 - bytesAround));
  assertError(t, await send(CHAT_ROUTE, { body: tooLong }), 413, 'body_too_large');
});

void t.test('unknown fields in a request are accepted', async (t) => {
  const { send } = await withReferenceAgent(t);
  const raw =
    '{"messages":[{"role":"user","content":"Hello","name":"x"}],"model":"y",' +
    '"metadata":{"__proto__":{"a":1},"stress_level":4}}';
  assertResponse(t, await send(CHAT_ROUTE, { raw }), 200, 'ChatResponse');
  assertResponse(t, await send(CHAT_ROUTE, { body: { messages: [] } }), 200, 'ChatResponse');
});

void t.test('an unknown path or method gets an error in the sandbox error shape', async (t) => {
  const { send } = await withReferenceAgent(t, { apiKey: 'right' });
  assertError(t, await send('GET /nowhere'), 404, 'not_found');
  assertError(t, await send('POST /__admin/nowhere', { body: {} }), 404, 'not_found');
  for (const [route, allow] of [
    ['GET /v1/chat/completions', 'POST'],
    ['PUT /health', 'GET, HEAD'],
    ['GET /users', 'POST'],
    ['OPTIONS /users/some_one', 'DELETE'],
  ] as const) {
    const response = await send(route);
    assertError(t, response, 405, 'method_not_allowed');
    t.equal(response.headers.get('allow'), allow);
  }
});

void t.test('bytes other than HTTP get an error in the sandbox error shape', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const socket = connect(Number(new URL(agent.url).port), '127.0.0.1');
  socket.end('nonsense\r\n\r\n');
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  t.match(bytes.toString(), /^HTTP\/1.1 400 [^]*"code":"bad_request"/);
});

void t.test('every endpoint except health requires the key', async (t) => {
  const { agent, send } = await withReferenceAgent(t, { apiKey: 'right' });
  t.equal(agent.apiKey, 'right');
  const wrong = { headers: { authorization: 'Bearer wrong' } };
  const right = { headers: { authorization: 'bearer right' } };

  assertResponse(t, await send('GET /health'), 200, 'Health');
  for (const credentials of [{}, wrong, { headers: { authorization: 'right' } }]) {
    const response = await send(CHAT_ROUTE, { body: makeChatRequest('Hello'), ...credentials });
    assertError(t, response, 401, 'unauthorized');
    t.equal(response.headers.get('www-authenticate'), 'Bearer');
  }
  assertError(
    t,
    await send('POST /users', { body: { user_id: 'u' }, ...wrong }),
    401,
    'unauthorized',
  );
  assertError(t, await send('DELETE /users/u', wrong), 401, 'unauthorized');
  assertResponse(
    t,
    await send(CHAT_ROUTE, { body: makeChatRequest('Hello'), ...right }),
    200,
    'ChatResponse',
  );
  assertResponse(
    t,
    await send('POST /users', { body: { user_id: 'u' }, ...right }),
    201,
    'UserCreated',
  );
});

void t.test('an agent without a key accepts any key', async (t) => {
  const { send } = await withReferenceAgent(t);
  const headers = { authorization: 'Bearer whatever' };
  assertResponse(
    t,
    await send(CHAT_ROUTE, { body: makeChatRequest('Hello'), headers }),
    200,
    'ChatResponse',
  );
});

void t.test('listening beyond loopback requires a key or the open option', async (t) => {
  await t.rejects(startAgent({ host: '0.0.0.0' }), { message: /Set apiKey, or set open/ });
  await t.rejects(startAgent({ apiKey: '' }), { message: /empty/ });
  const { send } = await withReferenceAgent(t, { host: '0.0.0.0', open: true });
  assertResponse(t, await send('GET /health'), 200, 'Health');
});

void t.test('a health response is complete and has no error while healthy', async (t) => {
  const clock = manualClock(Date.UTC(2026, 10, 20, 9, 30));
  const { send } = await withReferenceAgent(t, { clock });
  clock.advance(90_700);
  const response = await send('GET /health');

  assertResponse(t, response, 200, 'Health');
  t.match(response.json, {
    status: 'healthy',
    timestamp: '2026-11-20T09:31:30.700Z',
    version: String,
    uptime: 90,
    dependencies: { database: 'healthy', llm_service: 'healthy', external_apis: 'healthy' },
    metrics: { response_time_avg: 0, error_rate: 0, memory_usage: Number, cpu_usage: Number },
  });
  t.notOk('error' in (response.json as object));
  t.equal((await send('HEAD /health')).status, 200);
});

void t.test('an invalid user id in the path is refused', async (t) => {
  const { send } = await withReferenceAgent(t);
  for (const id of ['a-b', '', '%20', '%zz', 'x'.repeat(65), 'x'.repeat(3000), 'a%2Fb']) {
    assertError(t, await send(`DELETE /users/${id}`), 400, 'bad_request');
  }
  const headers = { 'content-type': 'application/json' };
  assertError(t, await send(`DELETE /users/${'x'.repeat(64)}`, { headers }), 404, 'user_not_found');
});

void t.test('a stop completes the requests in flight and closes idle connections', async (t) => {
  const { agent, send } = await withReferenceAgent(t, {
    faults: [{ kind: 'latency', route: 'chat', latency: { min_ms: 60_000, max_ms: 60_000 } }],
  });
  const inFlight = send(CHAT_ROUTE, { body: makeChatRequest('Hello') });
  await waitForInjection(send);
  await Promise.all([agent.stop(), agent.stop()]);

  t.equal((await inFlight).status, 200);
  await t.rejects(send('GET /health'), 'new connections are refused');
});

void t.test('a generated certificate is its own CA', async (t) => {
  const { agent, send } = await withReferenceAgent(t, { tls: { kind: 'generated' } });
  t.match(agent.url, /^https:/);
  assertResponse(t, await send('GET /health'), 200, 'Health');
  await t.rejects(fetch(`${agent.url}/health`), 'a client without the CA does not trust it');
});

void t.test('a certificate can be read from files', async (t) => {
  const { cert, key } = await generateKeyPair('localhost');
  const folder = t.testdir({ 'cert.pem': cert, 'key.pem': key });
  const files = { certFile: `${folder}/cert.pem`, keyFile: `${folder}/key.pem` };
  const { agent, send } = await withReferenceAgent(t, { tls: { ...files, kind: 'files' } }, cert);
  t.equal(agent.caPem, null, 'the agent does not know the CA of a certificate from a file');
  assertResponse(t, await send('GET /health'), 200, 'Health');

  const missing = { kind: 'files', certFile: '/nowhere/cert', keyFile: '/nowhere/key' } as const;
  await t.rejects(startAgent({ tls: missing }), { code: 'start_failed', message: /nowhere.cert/ });
  const wrong = { ...files, certFile: files.keyFile, kind: 'files' } as const;
  await t.rejects(startAgent({ tls: wrong }), { code: 'start_failed', message: /certificate/ });
});

void t.test('a port that is in use fails the start', async (t) => {
  const { agent } = await withReferenceAgent(t);
  await t.rejects(startAgent({ port: Number(new URL(agent.url).port) }), {
    code: 'start_failed',
    message: /EADDRINUSE/,
  });
});

void t.test('the response states its measured response time', async (t) => {
  const clock = manualClock(0);
  const { send } = await withReferenceAgent(t, {
    clock,
    faults: [{ kind: 'latency', route: 'chat', latency: { min_ms: 250, max_ms: 250 } }],
  });
  const slow = send(CHAT_ROUTE, { body: makeChatRequest('Hello') });
  await waitForInjection(send);
  clock.advance(250);
  const { json } = await slow;
  t.equal((json as ChatResponse).metadata?.response_time_ms, 250);
});
