/** Sandboxes that fail, each in its way: the right status and end reason, in bounded time. */
import t, { type Test } from 'tap';
import type { EndReason, Scenario, SimulatedSessionReport } from '../../../src/contract/index.ts';
import { manualClock } from '../../../src/platform/clock.ts';
import {
  answer,
  hang,
  hangUp,
  refusal,
  reply,
  withSandboxDouble,
  type RouteBehavior,
  type RouteBehaviors,
} from '../../helpers/sandbox-double.ts';
import {
  makeScenario,
  makeUserScenario,
  simulateSession,
  simulateOn,
} from '../../helpers/simulation.ts';
import { until } from '../../helpers/until.ts';

const TIMESTAMP = '2026-11-20T09:30:00Z';
const passing = { id: 'e', name: 'E', kind: 'max_turns', params: { max: 99 } } as const;
const scored = (more: Partial<Scenario> = {}): Scenario =>
  makeUserScenario(
    { opening: 'Hello', steps: [{ say: 'Two' }, { say: 'Three' }] },
    { evals: [passing], limits: { turn_timeout_ms: 150 }, ...more },
  );

/** What is wrong, how the session ends, and what is said of it. */
type Row = [what: string, acts: RouteBehaviors, end: EndReason, says: RegExp];

const rows: Row[] = [
  ['answers 500', { chat: refusal(500, 'server_error') }, 'agent_error', /500 server_error/],
  [
    'answers 404',
    { chat: answer(404, 'no') },
    'agent_error',
    /returned 404\. Check the base URL\.$/,
  ],
  ['knows no such user', { chat: refusal(404, 'no_user') }, 'agent_error', /404 no_user\.$/],
  ['redirects', { chat: answer(302, '', { location: '/x' }) }, 'agent_error', /302/],
  ['refuses the key', { chat: refusal(401, 'x') }, 'infrastructure_error', /refuses the key/],
  ['hangs', { chat: hang }, 'timeout', /no response within 150 ms/],
  ['drips for ever', { chat: drip }, 'timeout', /no response within 150 ms/],
  ['drops the socket', { chat: hangUp }, 'infrastructure_error', /dropped/],
  ['drops it half-way', { chat: half }, 'infrastructure_error', /dropped/],
  [
    'answers nonsense',
    { chat: page },
    'agent_error',
    /200 with a body that is not JSON \(text\/html\)\.$/,
  ],
  ['is cut off', { chat: answer(200, '{"a') }, 'agent_error', /not JSON \(application\/json\)/],
  ['answers null', { chat: answer(200, 'null') }, 'agent_error', /choices/],
  ['answers without content', { chat: noContent }, 'agent_error', /content/],
  ['answers no HTTP', { chat: noHttp }, 'agent_error', /not HTTP/],
  ['answers too much', { chat: answer(200, 'x'.repeat(5e6)) }, 'agent_error', /larger/],
  [
    'is unhealthy',
    { health: unhealthy },
    'infrastructure_error',
    /health returned 503 .*unhealthy/,
  ],
  ['has no health', { health: answer(404, '') }, 'infrastructure_error', /health returned 404/],
  ['is healthy in words', { health: answer(200, 'fine') }, 'infrastructure_error', /health/],
  ['hangs up on health', { health: hangUp }, 'infrastructure_error', /GET \/health/],
  ['creates no user', { create: refusal(500, 'x') }, 'infrastructure_error', /POST \/users .*500/],
  ['hangs up on users', { create: hangUp }, 'infrastructure_error', /POST \/users/],
];

function drip(response: Parameters<RouteBehavior>[0]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"choices": [');
}

function half(response: Parameters<RouteBehavior>[0]): void {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{', () => response.destroy());
}

function page(...given: Parameters<RouteBehavior>): void {
  answer(200, '<html>', { 'content-type': 'text/html; charset=utf-8' })(...given);
}

function noContent(...given: Parameters<RouteBehavior>): void {
  answer(200, { choices: [{ message: { role: 'assistant', content: null } }] })(...given);
}

function noHttp(response: Parameters<RouteBehavior>[0]): void {
  response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n');
}

function unhealthy(...given: Parameters<RouteBehavior>): void {
  const error = { message: 'No.', details: 'No.' };
  answer(503, { status: 'unhealthy', timestamp: TIMESTAMP, error })(...given);
}

/** A session that could not be held is nobody's failed eval. */
function isNoVerdict(t: Test, session: SimulatedSessionReport): void {
  t.equal(session.status, 'failed');
  t.equal(session.verdict, 'undecided');
  t.same(session.eval_outcomes, []);
  t.same(session.errored_evals, []);
}

for (const [what, acts, end, says] of rows) {
  void t.test(
    `A sandbox that ${what} ends the session with ${end}, and no eval fails`,
    async (t) => {
      const double = await withSandboxDouble(t, acts);
      const report = await simulateOn(t, double.url, scored());
      const [session] = report.sessions as [SimulatedSessionReport];
      t.equal(session.end_reason, end);
      t.match(session.error, says);
      isNoVerdict(t, session);
      t.same([report.verdict, report.exitCode], ['undecided', 3]);
      await until(
        'every connection is closed',
        async () => (await double.countConnections()) === 0,
      );
    },
  );
}

void t.test('A line without a response is in the transcript', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: hangUp });
  const { traces } = await simulateSession(t, url, scored());
  t.match(traces, [{ user_input: 'Hello', agent_response: '' }]);
  t.equal(traces.length, 1);
});

void t.test('The latency of a line without a response is the time that was waited', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: hang });
  const { turn_latency_ms: took } = await simulateSession(t, url, scored());
  t.equal(took.length, 1);
  t.ok((took[0] ?? 0) >= 140, `${took.join()} ms of 150`);
});

void t.test('An unreachable sandbox ends the session with infrastructure_error', async (t) => {
  const session = await simulateSession(t, 'http://127.0.0.1:1', scored());
  t.match(session, { end_reason: 'infrastructure_error', error: /refuses connections/ });
  isNoVerdict(t, session);
});

void t.test('A health check is abandoned after 10 s', async (t) => {
  const clock = manualClock(0);
  const double = await withSandboxDouble(t, { health: hang });
  const run = simulateSession(t, double.url, scored(), { clock });
  await double.waitForRequests('health', 1);
  clock.advance(9_999);
  t.equal(double.requests.length, 1);
  clock.advance(1);
  t.match(await run, { end_reason: 'infrastructure_error', error: /within 10000 ms/ });
});

void t.test(
  'Endless goodbyes to a user who never stops end with max_turns and are scored',
  async (t) => {
    const { url, chats } = await withSandboxDouble(t, { chat: reply('Goodbye!') });
    const steps = [{ id: 'again', say: 'But no!', next: 'again' }];
    const session = await simulateSession(
      t,
      url,
      makeUserScenario({ opening: 'Hi', steps }, { evals: [passing], limits: { max_turns: 4 } }),
    );
    t.match(session, { status: 'completed', end_reason: 'max_turns', verdict: 'passed' });
    t.equal(chats().length, 4);
  },
);

void t.test('A session that exceeds its total duration ends with timeout', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: hang });
  const limits = { turn_timeout_ms: 60_000, max_duration_ms: 150 };
  const session = await simulateSession(t, url, scored({ limits }));
  t.match(session, { end_reason: 'timeout', error: /max_duration_ms \(150 ms\)/ });
  isNoVerdict(t, session);
});

void t.test('Only a 429 is retried, after the Retry-After of the sandbox', async (t) => {
  const clock = manualClock(Date.UTC(2026, 10, 20));
  const double = await withSandboxDouble(t, {
    chat: refusal(429, 'rate_limit_exceeded', { 'retry-after': '2' }),
  });
  const run = simulateSession(t, double.url, scored(), { clock });
  await double.waitForRequests('chat', 1);
  double.setBehavior({});
  await until('it waits', () => {
    clock.advance(100);
    return clock.monotonicMs() >= 1_900;
  });
  t.equal(double.chats().length, 1, 'not before');
  await until('it asks again', () => {
    clock.advance(100);
    return double.chats().length >= 2;
  });
  t.match(await run, { status: 'completed', end_reason: 'goal_achieved' });
  t.same(double.chats()[0], double.chats()[1], 'the same request');
});

void t.test('A sandbox that limits requests too often or too long is abandoned', async (t) => {
  const long = refusal(429, 'rate_limit_exceeded', { 'retry-after': '3600' });
  const { url } = await withSandboxDouble(t, { chat: long });
  const session = await simulateSession(t, url, scored());
  t.match(session, { end_reason: 'infrastructure_error', error: /429.*3600 s/ });
  const ever = refusal(429, 'rate_limit_exceeded', { 'retry-after': '0' });
  const other = await withSandboxDouble(t, { chat: ever });
  const tried = await simulateSession(t, other.url, scored());
  t.match(tried, { end_reason: 'infrastructure_error', error: /429.*6 times/ });
  t.equal(other.chats().length, 6);
});

void t.test(
  'Aborting a run cancels running sessions, deletes users, and leaks nothing',
  async (t) => {
    const double = await withSandboxDouble(t, { chat: hang });
    const control = new AbortController();
    const run = simulateOn(t, double.url, makeScenario({ samples: 10 }), {
      concurrency: 3,
      signal: control.signal,
    });
    await double.waitForRequests('chat', 3);
    control.abort();
    const report = await run;
    t.same(new Set(report.sessions.map(({ status }) => status)), new Set(['cancelled']));
    t.equal(report.sessions.length, 10, 'none is missing');
    t.same([report.verdict, report.exitCode], ['undecided', 3]);
    const count = (route: string): number =>
      double.requests.filter((one) => one.route === route).length;
    t.same([count('create'), count('delete')], [3, 3]);
    await until('every connection is closed', async () => (await double.countConnections()) === 0);
  },
);

void t.test(
  'Missing users, leftover users, and users that cannot be deleted are handled',
  async (t) => {
    const absent = await withSandboxDouble(t, { create: answer(404, ''), delete: answer(404, '') });
    const one = await simulateSession(t, absent.url, makeScenario());
    t.match(one, { status: 'completed', user_id: null, notes: [] });
    t.notOk('user_id' in (absent.chats()[0] ?? {}), 'no user, no user_id');

    let creations = 0;
    const taken = await withSandboxDouble(t, {
      create: (...given) => {
        creations += 1;
        (creations === 1 ? refusal(409, 'user_exists') : answer(201, {}))(...given);
      },
    });
    const two = await simulateSession(t, taken.url, makeScenario());
    t.equal(two.status, 'completed');
    const routes = taken.requests.map(({ route }) => route);
    t.same(routes, ['health', 'create', 'delete', 'create', 'chat', 'delete']);

    const stuck = await withSandboxDouble(t, { delete: refusal(500, 'server_error') });
    const three = await simulateSession(t, stuck.url, makeScenario());
    t.match(three, { status: 'completed', notes: [/not deleted: DELETE returned 500/] });
  },
);
