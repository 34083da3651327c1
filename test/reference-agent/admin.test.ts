import t from 'tap';
import { manualClock } from '../../src/platform/manual-clock.ts';
import { sendHeaders } from '../support/network/send-headers.ts';
import { assertResponse, type Send } from '../support/network/send.ts';
import {
  assertError,
  CHAT_ROUTE,
  makeChatRequest,
  withReferenceAgent,
} from '../support/sandboxes/reference-agent.ts';

interface JournalView {
  total: number;
  requests: Record<string, unknown>[];
}
const journalOf = async (send: Send): Promise<JournalView> =>
  (await send('GET /__admin/requests')).json as JournalView;

void t.test('the journal lists requests and responses without bodies and secrets', async (t) => {
  const clock = manualClock(Date.UTC(2026, 10, 20));
  const { send } = await withReferenceAgent(t, { clock });
  const secret = { authorization: 'Bearer secret-of-caller' };
  const answer = await send(CHAT_ROUTE, { body: makeChatRequest('Hello'), headers: secret });
  await send('GET /nowhere?token=secret-in-query');
  await send('GET /health', { headers: { 'x-sandbox-kit-fault': 'dropped_connection' } }).catch(
    () => undefined,
  );

  const { total, requests } = await journalOf(send);
  t.equal(total, 3);
  t.same(requests[0], {
    method: 'POST',
    path: '/v1/chat/completions',
    status: 200,
    at: '2026-11-20T00:00:00.000Z',
    duration_ms: 0,
    request_bytes: JSON.stringify(makeChatRequest('Hello')).length,
    response_bytes: answer.text.length,
  });
  t.match(requests.slice(1), [
    { path: '/nowhere', status: 404 },
    { path: '/health', status: 0 },
  ]);
  t.notMatch(JSON.stringify(requests), /secret/);
});

void t.test('the journal contains bodies only with journalBodies', async (t) => {
  const { send } = await withReferenceAgent(t, { journalBodies: true });
  const answer = await send(CHAT_ROUTE, { body: makeChatRequest('Hello') });
  const { requests } = await journalOf(send);
  t.match(requests, [
    { request_body: JSON.stringify(makeChatRequest('Hello')), response_body: answer.text },
  ]);
});

void t.test('the journal is bounded, drops the oldest entries, and can be cleared', async (t) => {
  const { send } = await withReferenceAgent(t, { journalEntriesMax: 3 });
  for (const path of ['a', 'b', 'c', 'd', 'e']) await send(`GET /${path}`);
  const { total, requests } = await journalOf(send);
  t.equal(total, 5);
  t.same(
    requests.map(({ path }) => path),
    ['/c', '/d', '/e'],
  );
  await send('DELETE /__admin/requests');
  t.same(await journalOf(send), { total: 0, requests: [] });
});

void t.test('a journal may have a limit of 0 entries', async (t) => {
  const { send } = await withReferenceAgent(t, { journalEntriesMax: 0 });
  await send('GET /health');
  t.same(await journalOf(send), { total: 1, requests: [] });
});

void t.test('the metrics in the health response count failures', async (t) => {
  const { send } = await withReferenceAgent(t);
  const headers = { 'x-sandbox-kit-fault': 'server_error' };
  await send(CHAT_ROUTE, { body: makeChatRequest('Hello'), headers });
  await send(CHAT_ROUTE, { body: makeChatRequest('Hello') });
  t.match((await send('GET /health')).json, { metrics: { error_rate: 50 } });
});

void t.test('the control API has health and readiness endpoints', async (t) => {
  const { send } = await withReferenceAgent(t);
  t.same((await send('GET /__admin/health')).json, { status: 'healthy' });
  t.same((await send('GET /__admin/ready')).json, { ready: true });
});

void t.test('a reset restores users, faults, and the journal', async (t) => {
  const { send } = await withReferenceAgent(t, { faults: [{ kind: 'rate_limit', times: 1 }] });
  const user = { body: { user_id: 'u' } };
  t.equal((await send('POST /users', user)).status, 429);
  t.equal((await send('POST /users', user)).status, 201);
  await send('POST /__admin/faults', { body: { kind: 'unhealthy' } });

  t.same((await send('POST /__admin/reset')).json, { reset: true });
  t.same(await journalOf(send), { total: 0, requests: [] });
  assertResponse(t, await send('GET /health'), 200, 'Health');
  t.equal(
    (await send('POST /users', user)).status,
    429,
    'the count of the option fault starts again',
  );
  assertResponse(t, await send('POST /users', user), 201, 'UserCreated');
});

void t.test('on loopback, the control API refuses web pages of other origins', async (t) => {
  const { agent, send } = await withReferenceAgent(t, { apiKey: 'right' });
  const url = `${agent.url}/__admin/requests`;
  const { host } = new URL(url);
  const cases: [Record<string, string>, number][] = [
    [{}, 200],
    [{ host: 'localhost:80' }, 200],
    [{ host: 'LOCALHOST' }, 200],
    [{ host: '[::1]:80' }, 200],
    [{ host: 'evil.example' }, 403],
    [{ host: '127.0.0.1.evil.example' }, 403],
    [{ origin: `http://${host}` }, 200],
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'http://127.0.0.1:1' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: `evil://${host}` }, 403],
    [{ origin: `http://evil.example/://${host}` }, 403],
    [{ origin: `http://evil.example://${host}` }, 403],
    [{ host: '[localhost]' }, 403],
    [{ host: 'evil.example/.localhost' }, 403],
    [{ host: 'localhost:80:80' }, 403],
  ];
  for (const [headers, status] of cases) {
    t.equal((await sendHeaders(url, headers)).status, status, JSON.stringify(headers));
  }
  const answer = await send('GET /__admin/requests', {
    headers: { origin: 'http://evil.example' },
  });
  assertError(t, answer, 403, 'forbidden');
  t.notOk([...answer.headers.keys()].some((name) => name.startsWith('access-control')));
});

void t.test('a fault header is ignored if the Host is not loopback', async (t) => {
  const { agent } = await withReferenceAgent(t, { apiKey: 'right' });
  const headers = { 'x-sandbox-kit-fault': 'unhealthy' };
  t.equal((await sendHeaders(`${agent.url}/health`, headers)).status, 503);
  t.equal(
    (await sendHeaders(`${agent.url}/health`, { ...headers, host: 'evil.example' })).status,
    200,
  );
});

void t.test('the control API requires JSON', async (t) => {
  const { send } = await withReferenceAgent(t);
  const headers = { 'content-type': 'text/plain' };
  const answer = await send('PUT /__admin/faults', { body: [], headers });
  assertError(t, answer, 400, 'bad_request');
});

void t.test('beyond loopback, admin wants the key', async (t) => {
  const keyed = await withReferenceAgent(t, { host: '0.0.0.0', apiKey: 'right' });
  assertError(t, await keyed.send('GET /__admin/health'), 401, 'unauthorized');
  const headers = { authorization: 'Bearer right' };
  t.equal((await keyed.send('GET /__admin/health', { headers })).status, 200);

  const open = await withReferenceAgent(t, { host: '0.0.0.0', open: true });
  assertError(t, await open.send('GET /__admin/health'), 403, 'forbidden');
});

void t.test('requests that a proxy forwarded need the key for /__admin and faults', async (t) => {
  const headers = { 'x-forwarded-for': '203.0.113.7' };
  const fault = { 'x-sandbox-kit-fault': 'unhealthy' };
  const open = await withReferenceAgent(t);
  assertError(t, await open.send('GET /__admin/requests', { headers }), 403, 'forbidden');
  t.equal((await open.send('GET /health', { headers: { ...headers, ...fault } })).status, 200);
  const { send } = await withReferenceAgent(t, { apiKey: 'the-key' });
  t.equal((await send('GET /__admin/requests', { headers })).status, 401);
  const authorized = { ...headers, authorization: 'Bearer the-key' };
  t.equal((await send('GET /__admin/requests', { headers: authorized })).status, 200);
  const faulty = await send('GET /health', { headers: { ...authorized, ...fault } });
  t.equal(faulty.status, 503);
});
