import t from 'tap';
import { startAgent } from '../../reference-agent/index.ts';
import type { ChatResponse, ScriptRule } from '../../src/contract/index.ts';
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

void t.test(
  'a script pattern that backtracks almost forever does not block the agent',
  async (t) => {
    const script = { rules: [{ when: { regex: '(a+)+$' }, reply: { content: 'No.' } }] };
    const { send } = await withReferenceAgent(t, { script });
    const answer = await send(CHAT_ROUTE, { body: makeChatRequest(`${'a'.repeat(60)}!`) });
    assertError(t, answer, 500, 'server_error');
    t.match(answer.text, /regex of \/rules\/0 in the script took longer than 100 ms/);
    t.equal((await send('GET /health')).status, 200);
  },
);

const rules: ScriptRule[] = [
  { when: { contains: 'PARROT', turn: 2 }, reply: { content: 'It rests.' } },
  {
    when: { regex: '^is it (dead|gone)\\?$', metadata: { persona: 'angry' } },
    times: 1,
    reply: {
      content: 'No.',
      tool_calls: [{ name: 'look_at_parrot', arguments: { kind: 'blue' }, result: { ok: true } }],
      evaluation_metadata: { tone: 'dry' },
      delay_ms: 500,
    },
  },
];

void t.test(
  'script rules that match text, turn, and metadata come before the dialogue',
  async (t) => {
    const clock = manualClock(0);
    const { send } = await withReferenceAgent(t, { clock, script: { rules } });
    const replyTo = async (...texts: string[]): Promise<string> => {
      const { json } = await send(CHAT_ROUTE, { body: makeChatRequest(...texts) });
      return (json as ChatResponse).choices[0].message.content;
    };
    t.match(await replyTo('My parrot'), /not sure/, 'the turn does not match');
    t.equal(await replyTo('Hello', 'Hello', 'My parrot'), 'It rests.');
    t.match(await replyTo('Is it dead?'), /not sure/, 'the metadata does not match');

    const angry = {
      body: { ...makeChatRequest('Is it dead?'), metadata: { persona: 'angry', more: 1 } },
    };
    const answer = send(CHAT_ROUTE, angry);
    for (let isWaiting = true; isWaiting;) {
      clock.advance(500);
      isWaiting = await Promise.race([
        answer.then(() => false),
        send('GET /health').then(() => true),
      ]);
    }
    assertResponse(t, await answer, 200, 'ChatResponse');
    t.match((await answer).json, {
      choices: [
        {
          message: {
            content: 'No.',
            tool_calls: [{ function: { name: 'look_at_parrot', arguments: '{"kind":"blue"}' } }],
          },
        },
      ],
      metadata: { tools_used: ['look_at_parrot'] },
      evaluation_metadata: { tone: 'dry' },
    });
    t.match((await send(CHAT_ROUTE, angry)).text, /not sure/, 'the rule is used up');
    await send('POST /__admin/reset');
  },
);

void t.test('an invalid script in code is refused with its first problem', async (t) => {
  const reply = { content: 'x' };
  for (const [script, problem] of [
    [{}, 'script.rules must be an array of at most 1000, got nothing.'],
    [{ rules: [{}] }, 'script.rules[0].reply must be an object, got nothing.'],
    [{ rules: [{ reply, wen: {} }] }, 'Unknown key script.rules[0].wen. Did you mean when?'],
    [
      { rules: [{ reply, when: { regex: '(' } }] },
      'script.rules[0].when.regex must be a regular expression, got "(".',
    ],
    [
      { rules: [{ reply, times: 0 }, {}] },
      'script.rules[0].times must be an integer of at least 1, got 0.',
    ],
  ] as const) {
    await t.rejects(startAgent({ script: script as never }), {
      name: 'TypeError',
      message: `startAgent: ${problem}`,
    });
  }
});

void t.test('faults in code get errors about the option, not about JSON', async (t) => {
  const latency = { min_ms: 3, max_ms: 1 };
  const example = 'for example { min_ms: 100, max_ms: 300 }';
  for (const [faults, problem] of [
    [{}, 'faults must be an array, got an object.'],
    [[3], 'faults[0] must be an object, got 3.'],
    [
      [{ kind: 'unhealthy' }, { kind: 'x', rout: 'chat' }],
      'Unknown key faults[1].rout. Did you mean route?',
    ],
    [[{ kind: 'jitter', latency: 9 }], 'faults[0].latency must be an object, got 9.'],
    [
      [{ kind: 'latency', latency }],
      `faults[0].latency must have a min_ms not greater than max_ms, ${example}.`,
    ],
    [
      [{ kind: 'jitter', route: 'chat', latency: { min_ms: 1, max_ms: 3 } }],
      'faults[0]: jitter applies to the route voice only, not to chat.',
    ],
  ] as const) {
    await t.rejects(startAgent({ faults: faults as never }), {
      name: 'TypeError',
      message: `startAgent: ${problem}`,
    });
  }
  await t.rejects(startAgent({ faults: [{ kind: 'oops' }] as never }), {
    message: /^startAgent: faults\[0\]\.kind must be one of "latency", .*, got "oops"\.$/,
  });
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
