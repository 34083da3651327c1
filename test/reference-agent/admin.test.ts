import { request } from 'node:http';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { readScript } from '../../reference-agent/index.ts';
import type { ChatResponse } from '../../src/contract/index.ts';
import { manualClock } from '../../src/platform/clock.ts';
import {
  makeChatRequest,
  CHAT_ROUTE,
  assertResponse,
  assertError,
  withAgent,
  type Send,
} from '../helpers/agent.ts';

interface JournalView {
  seen: number;
  requests: Record<string, unknown>[];
}
const journalOf = async (send: Send): Promise<JournalView> =>
  (await send('GET /__admin/requests')).json as JournalView;

void t.test('the journal tells what came in and how it was answered, and no more', async (t) => {
  const clock = manualClock(Date.UTC(2026, 10, 20));
  const { send } = await withAgent(t, { clock });
  const secret = { authorization: 'Bearer secret-of-caller' };
  const answer = await send(CHAT_ROUTE, { body: makeChatRequest('Hello'), headers: secret });
  await send('GET /nowhere?token=secret-in-query');
  await send('GET /health', { headers: { 'x-sandbox-kit-fault': 'dropped_connection' } }).catch(
    () => undefined,
  );

  const { seen, requests } = await journalOf(send);
  t.equal(seen, 3);
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

void t.test('the journal keeps what was said only when asked to', async (t) => {
  const { send } = await withAgent(t, { journalBodies: true });
  const answer = await send(CHAT_ROUTE, { body: makeChatRequest('Hello') });
  const { requests } = await journalOf(send);
  t.match(requests, [
    { request_body: JSON.stringify(makeChatRequest('Hello')), response_body: answer.text },
  ]);
});

void t.test('the journal is bounded, drops the oldest, and can be emptied', async (t) => {
  const { send } = await withAgent(t, { journalEntriesMax: 3 });
  for (const path of ['a', 'b', 'c', 'd', 'e']) await send(`GET /${path}`);
  const { seen, requests } = await journalOf(send);
  t.equal(seen, 5);
  t.same(
    requests.map(({ path }) => path),
    ['/c', '/d', '/e'],
  );
  await send('DELETE /__admin/requests');
  t.same(await journalOf(send), { seen: 0, requests: [] });
});

void t.test('a journal of no entries is legal', async (t) => {
  const { send } = await withAgent(t, { journalEntriesMax: 0 });
  await send('GET /health');
  t.same(await journalOf(send), { seen: 1, requests: [] });
});

void t.test('failures show in the metrics of the health answer', async (t) => {
  const { send } = await withAgent(t);
  const headers = { 'x-sandbox-kit-fault': 'server_error' };
  await send(CHAT_ROUTE, { body: makeChatRequest('Hello'), headers });
  await send(CHAT_ROUTE, { body: makeChatRequest('Hello') });
  t.match((await send('GET /health')).json, { metrics: { error_rate: 50 } });
});

void t.test('health and ready answer', async (t) => {
  const { send } = await withAgent(t);
  t.same((await send('GET /__admin/health')).json, { status: 'healthy' });
  t.same((await send('GET /__admin/ready')).json, { ready: true });
});

void t.test('a reset takes users, faults and journal back to the start', async (t) => {
  const { send } = await withAgent(t, { faults: [{ kind: 'rate_limit', times: 1 }] });
  const user = { body: { user_id: 'u' } };
  t.equal((await send('POST /users', user)).status, 429);
  t.equal((await send('POST /users', user)).status, 201);
  await send('POST /__admin/faults', { body: { kind: 'unhealthy' } });

  t.same((await send('POST /__admin/reset')).json, { reset: true });
  t.same(await journalOf(send), { seen: 0, requests: [] });
  assertResponse(t, await send('GET /health'), 200, 'Health');
  t.equal((await send('POST /users', user)).status, 429, 'faults of the options are wound up');
  assertResponse(t, await send('POST /users', user), 201, 'UserCreated');
});

/** The status of a request whose Host and Origin are chosen; fetch would not let us. */
async function statusWith(url: string, headers: Record<string, string>): Promise<number> {
  const sent = request(url, { headers });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

void t.test('on loopback, admin is closed to pages in a browser', async (t) => {
  const { agent, send } = await withAgent(t, { apiKey: 'right' });
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
  ];
  for (const [headers, status] of cases) {
    t.equal(await statusWith(url, headers), status, JSON.stringify(headers));
  }
  const answer = await send('GET /__admin/requests', {
    headers: { origin: 'http://evil.example' },
  });
  assertError(t, answer, 403, 'forbidden');
  t.notOk([...answer.headers.keys()].some((name) => name.startsWith('access-control')));
});

void t.test('a fault header does not count under a foreign Host', async (t) => {
  const { agent } = await withAgent(t);
  const headers = { 'x-sandbox-kit-fault': 'unhealthy' };
  t.equal(await statusWith(`${agent.url}/health`, headers), 503);
  t.equal(await statusWith(`${agent.url}/health`, { ...headers, host: 'evil.example' }), 200);
});

void t.test('admin wants JSON', async (t) => {
  const { send } = await withAgent(t);
  const headers = { 'content-type': 'text/plain' };
  const answer = await send('PUT /__admin/faults', { body: [], headers });
  assertError(t, answer, 400, 'bad_request');
});

void t.test('beyond loopback, admin wants the key', async (t) => {
  const keyed = await withAgent(t, { host: '0.0.0.0', apiKey: 'right' });
  assertError(t, await keyed.send('GET /__admin/health'), 401, 'unauthorized');
  const headers = { authorization: 'Bearer right' };
  t.equal((await keyed.send('GET /__admin/health', { headers })).status, 200);

  const open = await withAgent(t, { host: '0.0.0.0', open: true });
  assertError(t, await open.send('GET /__admin/health'), 403, 'forbidden');
});

const rules = [
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

void t.test('a script answers first, by text, turn and metadata', async (t) => {
  const clock = manualClock(0);
  const folder = t.testdir({ 'script.json': JSON.stringify({ rules }) });
  const { send } = await withAgent(t, { clock, script: readScript(`${folder}/script.json`) });
  const says = async (...texts: string[]): Promise<string> => {
    const { json } = await send(CHAT_ROUTE, { body: makeChatRequest(...texts) });
    return (json as ChatResponse).choices[0].message.content;
  };
  t.match(await says('My parrot'), /not sure/, 'another turn');
  t.equal(await says('Hello', 'Hello', 'My parrot'), 'It rests.');
  t.match(await says('Is it dead?'), /not sure/, 'other metadata');

  const angry = {
    body: { ...makeChatRequest('Is it dead?'), metadata: { persona: 'angry', more: 1 } },
  };
  const answer = send(CHAT_ROUTE, angry);
  for (let waits = true; waits;) {
    clock.advance(500);
    waits = await Promise.race([answer.then(() => false), send('GET /health').then(() => true)]);
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
  t.match((await send(CHAT_ROUTE, angry)).text, /not sure/, 'times is over');
  await send('POST /__admin/reset');
});

void t.test('a script that is wrong is refused with its name and what is wrong', (t) => {
  const rule = { reply: { content: 'x' } };
  const folder = t.testdir({
    'no-json': '{',
    'no-rules': '{}',
    'no-reply': JSON.stringify({ rules: [{}] }),
    'bad-regex': JSON.stringify({ rules: [{ when: { regex: '(' }, ...rule }] }),
    'long-regex': JSON.stringify({ rules: [{ when: { regex: 'x'.repeat(201) }, ...rule }] }),
    'unknown-key': JSON.stringify({ rules: [{ wen: {}, ...rule }] }),
    fine: JSON.stringify({ rules: [rule] }),
  });
  for (const name of ['no-json', 'no-rules', 'no-reply', 'bad-regex', 'long-regex', 'missing']) {
    t.throws(() => readScript(`${folder}/${name}`), { message: new RegExp(`/${name}`) }, name);
  }
  t.throws(() => readScript(`${folder}/unknown-key`), { message: /wen/ });
  for (const [name, text, says] of [
    ['null', 'null', 'is invalid: expected an object, got null.'],
    ['list', '[]', 'is invalid: expected an object, got [].'],
    ['none', '{}', 'is invalid at /rules: expected an array, got nothing.'],
    [
      'no-reply',
      '{"rules":[{}]}',
      'is invalid at /rules/0/reply: expected an object, got nothing.',
    ],
    [
      'number',
      '{"rules":[{"reply":{"content":17}}]}',
      'is invalid at /rules/0/reply/content: expected a string, got 17.',
    ],
    [
      'turn',
      '{"rules":[{"when":{"turn":0},"reply":{"content":""}}]}',
      'is invalid at /rules/0/when/turn: expected at least 1, got 0.',
    ],
    [
      'pattern',
      '{"rules":[{"when":{"regex":"("},"reply":{"content":""}}]}',
      'is invalid at /rules/0/when/regex: expected a regular expression, got "(".',
    ],
    [
      'delay',
      '{"rules":[{"reply":{"content":"","delay_ms":600001}}]}',
      'is invalid at /rules/0/reply/delay_ms: expected at most 600000, got 600001.',
    ],
    [
      'half',
      '{"rules":[{"reply":{"content":"","delay_ms":0.5}}]}',
      'is invalid at /rules/0/reply/delay_ms: expected an integer, got 0.5.',
    ],
    [
      'empty',
      '{"rules":[{"when":{"contains":""},"reply":{"content":""}}]}',
      'is invalid at /rules/0/when/contains: expected a length of at least 1, got "".',
    ],
    [
      'more',
      '{"rules":[{"wen":1,"reply":{"content":1,"x":2}}]}',
      'is invalid at /rules/0/reply/content: expected a string, got 1. Other problems are at /rules/0/reply/x, /rules/0/wen.',
    ],
    [
      'many',
      `{"rules":[${Array(6).fill('{"reply":{"content":1}}').join()}]}`,
      'is invalid at /rules/0/reply/content: expected a string, got 1. Other problems are at /rules/1/reply/content, /rules/2/reply/content, /rules/3/reply/content, 2 more places.',
    ],
    ['none', '{', 'is not valid JSON.'],
    [
      'key',
      '{"rules":[{"wen~/":1,"reply":{"content":""}}]}',
      'is invalid at /rules/0/wen~0~1: unknown key.',
    ],
    [
      'proto',
      '{"rules":[{"__proto__":1,"reply":{"content":""}}]}',
      'is invalid at /rules/0/__proto__: unknown key.',
    ],
  ] as const) {
    const path = `${folder}/${name}.json`;
    writeFileSync(path, text);
    t.throws(() => readScript(path), {
      name: 'StartError',
      message: `The script ${path} ${says}`,
    });
  }
  t.equal(readScript(`${folder}/fine`).rules.length, 1);
  t.end();
});
