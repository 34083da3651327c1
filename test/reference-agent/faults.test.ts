import t from 'tap';
import { readFault, startAgent } from '../../reference-agent/index.ts';
import { schemas, type AgentFault } from '../../src/contract/index.ts';
import { manualClock } from '../../src/platform/manual-clock.ts';
import { assertResponse, type Send } from '../support/network/send.ts';
import {
  assertError,
  CHAT_ROUTE,
  makeChatRequest,
  waitForInjection,
  withReferenceAgent,
} from '../support/sandboxes/reference-agent.ts';

const chat = { body: makeChatRequest('Hello') };
const FAULTS_ROUTE = '/__admin/faults';
const injecting = (fault: string): { headers: Record<string, string> } => ({
  headers: { 'x-sandbox-kit-fault': fault },
});
const statusOf = async (send: Send, fault?: string): Promise<number> =>
  (await send(CHAT_ROUTE, { ...chat, ...(fault && injecting(fault)) })).status;

void t.test('each kind of fault has its own response', async (t) => {
  const { send } = await withReferenceAgent(t);

  const limited = await send(CHAT_ROUTE, { ...chat, ...injecting('rate_limit;retry_after_s=7') });
  assertError(t, limited, 429, 'rate_limit_exceeded');
  t.equal(limited.headers.get('retry-after'), '7');

  assertError(
    t,
    await send(CHAT_ROUTE, { ...chat, ...injecting('server_error') }),
    500,
    'server_error',
  );

  const degraded = await send('GET /health', injecting('degraded'));
  assertResponse(t, degraded, 200, 'Health');
  t.match(degraded.json, { status: 'degraded', dependencies: { external_apis: 'unhealthy' } });
  t.notMatch(degraded.json, { error: {} });

  const unhealthy = await send('GET /health', injecting('unhealthy'));
  assertResponse(t, unhealthy, 503, 'Health');
  t.match(unhealthy.json, { status: 'unhealthy', error: { message: String, details: String } });

  const failed = await send('GET /health', injecting('health_check_failed'));
  assertError(t, failed, 500, 'health_check_failed');

  const malformed = await send(CHAT_ROUTE, { ...chat, ...injecting('malformed_body') });
  t.equal(malformed.status, 200);
  t.match(malformed.headers.get('content-type'), /^application\/json/);
  t.match(malformed.text, /^\{"choices":/);
  t.equal(malformed.json, undefined, 'the JSON is truncated');

  await t.rejects(send(CHAT_ROUTE, { ...chat, ...injecting('dropped_connection') }));
  t.equal(await statusOf(send), 200, 'the next request succeeds');
});

void t.test('an injected latency is between its bounds and derives from the seed', async (t) => {
  const fault: AgentFault = { kind: 'latency', latency: { min_ms: 10, max_ms: 500 } };
  const waitsOf = async (seed: string): Promise<number[]> => {
    const waits: number[] = [];
    const sleep = (ms: number): Promise<void> => Promise.resolve(void waits.push(ms));
    const clock = { ...manualClock(0), sleep };
    const { send } = await withReferenceAgent(t, { seed, clock, faults: [fault] });
    for (let nth = 0; nth < 20; nth += 1) await send('GET /health');
    return waits;
  };
  const waits = await waitsOf('one');
  t.equal(waits.length, 20);
  t.ok(waits.every((ms) => ms >= 10 && ms <= 500));
  t.same(await waitsOf('one'), waits, 'the same seed gives the same latencies');
  t.notSame(await waitsOf('two'), waits, 'another seed gives other latencies');
});

void t.test('a fault applies to its default routes, or to the route that it names', async (t) => {
  const { send } = await withReferenceAgent(t);
  assertResponse(t, await send('GET /health', injecting('rate_limit')), 200, 'Health');
  assertResponse(t, await send('GET /health', injecting('server_error')), 200, 'Health');
  t.equal(await statusOf(send, 'unhealthy'), 200);
  t.equal(await statusOf(send, 'rate_limit;route=users'), 200);
  const created = await send('POST /users', {
    body: { user_id: 'u' },
    ...injecting('rate_limit;route=users'),
  });
  assertError(t, created, 429, 'rate_limit_exceeded');
});

void t.test('a fault set through the control API ends after its count or its time', async (t) => {
  const clock = manualClock(0);
  const { send } = await withReferenceAgent(t, { clock });

  await send(`PUT ${FAULTS_ROUTE}`, { body: [{ kind: 'rate_limit', times: 2 }] });
  t.same([await statusOf(send), await statusOf(send), await statusOf(send)], [429, 429, 200]);

  await send(`POST ${FAULTS_ROUTE}`, { body: { kind: 'server_error', ttl_ms: 1000 } });
  clock.advance(999);
  t.equal(await statusOf(send), 500);
  clock.advance(1);
  t.equal(await statusOf(send), 200);
});

void t.test('a request without the key does not use up a fault', async (t) => {
  const { send } = await withReferenceAgent(t, {
    apiKey: 'right',
    faults: [{ kind: 'server_error', times: 1 }],
  });
  t.equal(await statusOf(send), 401);
  const headers = { authorization: 'Bearer right' };
  t.equal((await send(CHAT_ROUTE, { ...chat, headers })).status, 500);
});

void t.test(
  'a fault in the header wins over the control API, which wins over the options',
  async (t) => {
    const { send } = await withReferenceAgent(t, {
      faults: [{ kind: 'rate_limit', route: 'chat' }],
    });
    t.equal(await statusOf(send), 429, 'options');

    await send(`POST ${FAULTS_ROUTE}`, { body: { kind: 'server_error', times: 1 } });
    const fromHeader = await send(CHAT_ROUTE, {
      ...chat,
      ...injecting('rate_limit;retry_after_s=9'),
    });
    t.equal(fromHeader.headers.get('retry-after'), '9', 'header');
    t.equal(await statusOf(send), 500, 'control API, not used up by the header');
    t.equal(await statusOf(send), 429, 'options again');
  },
);

void t.test('a latency is combined with another fault', async (t) => {
  const clock = manualClock(0);
  const latency: AgentFault = {
    kind: 'latency',
    latency: { min_ms: 100, max_ms: 100 },
    route: 'chat',
  };
  const { send } = await withReferenceAgent(t, {
    clock,
    faults: [latency, { kind: 'server_error' }],
  });
  const status = statusOf(send);
  await waitForInjection(send);
  clock.advance(100);
  t.equal(await status, 500);
});

void t.test(
  'the control API reads, replaces, extends, and clears the list of faults',
  async (t) => {
    const { send } = await withReferenceAgent(t, { faults: [{ kind: 'degraded' }] });
    const optionFault = {
      fault: { kind: 'degraded' },
      source: 'options',
      injected: 0,
      active: true,
    };
    const admin = (kind: string): object => ({ ...optionFault, fault: { kind }, source: 'admin' });
    const requestFaults = async (route: string, body?: unknown): Promise<unknown> =>
      ((await send(route, { body })).json as { faults: unknown }).faults;

    t.same(await requestFaults(`GET ${FAULTS_ROUTE}`), [optionFault]);
    t.same(await requestFaults(`PUT ${FAULTS_ROUTE}`, [{ kind: 'unhealthy' }]), [
      admin('unhealthy'),
      optionFault,
    ]);
    t.same(await requestFaults(`POST ${FAULTS_ROUTE}`, { kind: 'rate_limit' }), [
      admin('unhealthy'),
      admin('rate_limit'),
      optionFault,
    ]);
    t.same(await requestFaults(`PUT ${FAULTS_ROUTE}`, []), [optionFault]);
    t.same(await requestFaults(`DELETE ${FAULTS_ROUTE}`), [optionFault]);
  },
);

void t.test(
  'an invalid fault is refused by the control API, the header, and the options',
  async (t) => {
    const { send } = await withReferenceAgent(t);
    const invalid: unknown[] = [
      ...schemas.AgentFault['x-near-misses'].map(({ value }) => value),
      null,
      { kind: 'latency' },
      { kind: 'latency', latency: { min_ms: 2, max_ms: 1 } },
      { kind: 'unhealthy', route: 'chat' },
      { kind: 'rate_limit', surprise: true },
    ];
    for (const body of invalid) {
      assertError(t, await send(`POST ${FAULTS_ROUTE}`, { body }), 400, 'bad_request');
      assertError(t, await send(`PUT ${FAULTS_ROUTE}`, { body: [body] }), 400, 'bad_request');
      assertError(
        t,
        await send('GET /health', injecting(JSON.stringify(body))),
        400,
        'bad_request',
      );
      await t.rejects(startAgent({ faults: [body as AgentFault] }), {
        name: 'TypeError',
        message: /^startAgent: (Unknown key )?faults\[0\]/,
      });
    }
    for (const body of [{}, Array.from({ length: 101 }, () => ({ kind: 'unhealthy' }))]) {
      assertError(t, await send(`PUT ${FAULTS_ROUTE}`, { body }), 400, 'bad_request');
      await t.rejects(startAgent({ faults: body as AgentFault[] }), {
        message: /^startAgent: faults must be an array/,
      });
    }
    assertResponse(t, await send('GET /health'), 200, 'Health');
  },
);

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

void t.test('at most 100 faults can be set', async (t) => {
  const { send } = await withReferenceAgent(t);
  const body = Array.from({ length: 100 }, () => ({ kind: 'degraded' }));
  t.equal((await send(`PUT ${FAULTS_ROUTE}`, { body })).status, 200);
  assertError(t, await send(`POST ${FAULTS_ROUTE}`, { body: body[0] }), 400, 'bad_request');
});

void t.test('a fault can be written as JSON or in its short form', (t) => {
  for (const example of schemas.AgentFault.examples) {
    t.same(readFault(JSON.stringify(example)), example);
  }
  t.same(readFault('unhealthy'), { kind: 'unhealthy' });
  t.same(readFault(' rate_limit ; retry_after_s=1; times=3 ;'), {
    kind: 'rate_limit',
    retry_after_s: 1,
    times: 3,
  });
  t.same(readFault('latency;min_ms=1;max_ms=2;route=chat'), {
    kind: 'latency',
    latency: { min_ms: 1, max_ms: 2 },
    route: 'chat',
  });
  for (const text of ['', '{', 'rate_limit;times=many', 'rate_limit;times', 'latency', '[]']) {
    t.throws(() => readFault(text), { code: 'start_failed' }, text);
  }
  for (const [text, message] of [
    ['unhealthy;__proto__=1', /\/__proto__ must be absent/],
    ['{"kind":"unhealthy","__proto__":{"times":1}}', /\/__proto__ must be absent/],
    ['unhealthy;constructor=1', /\/constructor must be absent/],
    ['unhealthy;toString=1', /\/toString must be absent/],
    ['latency;min_ms=1;max_ms=2;__proto__=1', /\/__proto__ must be absent/],
    ['rate_limit;times=1;times=2', /times is given twice/],
    ['rate_limit;kind=unhealthy', /kind is given twice/],
    ['latency;min_ms=1;max_ms=2;latency=3', /latency is given twice/],
  ] as const) {
    t.throws(() => readFault(text), { code: 'start_failed', message }, text);
  }
  t.end();
});

void t.test('beyond loopback, the fault header requires the key', async (t) => {
  const open = await withReferenceAgent(t, { host: '0.0.0.0', open: true });
  t.equal(await statusOf(open.send, 'server_error'), 200, 'ignored without authentication');

  const keyed = await withReferenceAgent(t, { host: '0.0.0.0', apiKey: 'right' });
  const key = { authorization: 'Bearer right' };
  assertResponse(t, await keyed.send('GET /health', injecting('unhealthy')), 200, 'Health');
  const headers = { ...injecting('unhealthy').headers, ...key };
  assertResponse(t, await keyed.send('GET /health', { headers }), 503, 'Health');
});

void t.test('null sets no faults and no script', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: null, faults: null, script: null });
  const response = await fetch(`${agent.url}/__admin/faults`);
  t.same(await response.json(), { faults: [] });
});
