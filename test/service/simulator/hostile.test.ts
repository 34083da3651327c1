/** Failing sandboxes: each failure ends the session in bounded time with the right status and end reason. */
import t, { type Test } from 'tap';
import type { EndReason, Scenario, SimulatedSessionReport } from '../../../src/contract/index.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import {
  hang,
  hangUp,
  refusal,
  reply,
  respondWith,
  withSandboxDouble,
  type RouteBehavior,
  type RouteBehaviors,
} from '../../support/sandboxes/sandbox-double.ts';
import { makeScenario, makeUserScenario } from '../../support/sessions/scenarios.ts';
import { simulateSession, simulateOn } from '../../support/sessions/simulated-sessions.ts';
import { until } from '../../support/until.ts';

const TIMESTAMP = '2026-11-20T09:30:00Z';
const passing = { id: 'e', name: 'E', kind: 'max_turns', params: { max: 99 } } as const;
const makeScoredScenario = (more: Partial<Scenario> = {}): Scenario =>
  makeUserScenario(
    { opening: 'Hello', steps: [{ say: 'Two' }, { say: 'Three' }] },
    { evals: [passing], limits: { turn_timeout_ms: 150 }, ...more },
  );

type Row = [what: string, behaviors: RouteBehaviors, end: EndReason, message: RegExp];

const rows: Row[] = [
  ['returns 500', { chat: refusal(500, 'server_error') }, 'agent_error', /500 server_error/],
  [
    'returns 404',
    { chat: respondWith(404, 'no') },
    'agent_error',
    /returned 404\. Check the base URL\.$/,
  ],
  ['does not know the user', { chat: refusal(404, 'no_user') }, 'agent_error', /404 no_user\.$/],
  ['redirects', { chat: respondWith(302, '', { location: '/x' }) }, 'agent_error', /302/],
  [
    'requires a key',
    { chat: refusal(401, 'x') },
    'infrastructure_error',
    /requires a key, but none is set \(401\)\. Set SANDBOX_KIT_API_KEY\.$/,
  ],
  ['hangs', { chat: hang }, 'timeout', /no response within 150 ms/],
  ['never completes its response', { chat: drip }, 'timeout', /no response within 150 ms/],
  ['drops the connection', { chat: hangUp }, 'infrastructure_error', /dropped/],
  ['drops the connection during the response', { chat: cutOff }, 'infrastructure_error', /dropped/],
  [
    'returns HTML',
    { chat: sendPage },
    'agent_error',
    /200 with a body that is not JSON \(text\/html\)\.$/,
  ],
  [
    'returns truncated JSON',
    { chat: respondWith(200, '{"a') },
    'agent_error',
    /not JSON \(application\/json\)/,
  ],
  [
    'returns null',
    { chat: respondWith(200, 'null') },
    'agent_error',
    /choices\[0\]\.message is not an object: received nothing\.$/,
  ],
  [
    'returns no content',
    { chat: sendContent(null) },
    'agent_error',
    /message\.content is not a string: received null\.$/,
  ],
  [
    'returns a number as content',
    { chat: sendContent(4_711) },
    'agent_error',
    /message\.content is not a string: received a number\.$/,
  ],
  ['does not speak HTTP', { chat: sendNoHttp }, 'agent_error', /not HTTP/],
  [
    'returns too large a body',
    { chat: respondWith(200, 'x'.repeat(5e6)) },
    'agent_error',
    /larger/,
  ],
  [
    'is unhealthy',
    { health: reportUnhealthy },
    'infrastructure_error',
    /health returned 503 .*unhealthy/,
  ],
  [
    'has no health endpoint',
    { health: respondWith(404, '') },
    'infrastructure_error',
    /health returned 404/,
  ],
  [
    'returns health as text',
    { health: respondWith(200, 'fine') },
    'infrastructure_error',
    /\/health returned 200 with a body that is not JSON\. /,
  ],
  [
    'returns health without a timestamp',
    { health: respondWith(200, { status: 'healthy' }) },
    'infrastructure_error',
    /invalid body: \/timestamp must be an ISO 8601 time, got nothing\. .*check URL --area health\.$/,
  ],
  ['hangs up on a health check', { health: hangUp }, 'infrastructure_error', /GET \/health/],
  [
    'fails to create a user',
    { create: refusal(500, 'x') },
    'infrastructure_error',
    /POST \/users .*500/,
  ],
  ['hangs up on user creation', { create: hangUp }, 'infrastructure_error', /POST \/users/],
];

function drip(response: Parameters<RouteBehavior>[0]): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"choices": [');
}

function cutOff(response: Parameters<RouteBehavior>[0]): void {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{', () => response.destroy());
}

function sendPage(...args: Parameters<RouteBehavior>): void {
  respondWith(200, '<html>', { 'content-type': 'text/html; charset=utf-8' })(...args);
}

function sendContent(content: unknown): RouteBehavior {
  return respondWith(200, { choices: [{ message: { role: 'assistant', content } }] });
}

function sendNoHttp(response: Parameters<RouteBehavior>[0]): void {
  response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n');
}

function reportUnhealthy(...args: Parameters<RouteBehavior>): void {
  const error = { message: 'No.', details: 'No.' };
  respondWith(503, { status: 'unhealthy', timestamp: TIMESTAMP, error })(...args);
}

/** Asserts that a session that failed has no verdict and no outcomes. */
function assertUndecided(t: Test, session: SimulatedSessionReport): void {
  t.equal(session.status, 'failed');
  t.equal(session.verdict, 'undecided');
  t.same(session.eval_outcomes, []);
  t.same(session.errored_evals, []);
}

for (const [what, behaviors, end, message] of rows) {
  void t.test(
    `a sandbox that ${what} ends the session with ${end}, and no eval fails`,
    async (t) => {
      const double = await withSandboxDouble(t, behaviors);
      // Only a sandbox that must time out has little time, because a busy machine responds late.
      const limits = { turn_timeout_ms: end === 'timeout' ? 150 : 60_000 };
      const report = await simulateOn(t, double.url, makeScoredScenario({ limits }));
      const [session] = report.sessions as [SimulatedSessionReport];
      t.equal(session.end_reason, end);
      t.match(session.error, message);
      assertUndecided(t, session);
      t.same([report.verdict, report.exitCode], ['undecided', 3]);
      await until(
        'every connection is closed',
        async () => (await double.countConnections()) === 0,
      );
    },
  );
}

void t.test('a line without a response is in the transcript', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: hangUp });
  const { traces } = await simulateSession(t, url, makeScoredScenario());
  t.match(traces, [{ user_input: 'Hello', agent_response: '' }]);
  t.equal(traces.length, 1);
});

void t.test(
  'the latency of a turn without a response is the time that the user waited',
  async (t) => {
    const { url } = await withSandboxDouble(t, { chat: hang });
    const { turn_latency_ms: latencies } = await simulateSession(t, url, makeScoredScenario());
    t.equal(latencies.length, 1);
    t.ok((latencies[0] ?? 0) >= 140, `${latencies.join()} ms of 150`);
  },
);

void t.test('an unreachable sandbox ends the session with infrastructure_error', async (t) => {
  const session = await simulateSession(t, 'http://127.0.0.1:1', makeScoredScenario());
  t.match(session, { end_reason: 'infrastructure_error', error: /refuses connections/ });
  assertUndecided(t, session);
});

void t.test('a health check is abandoned after 10 s', async (t) => {
  const clock = manualClock(0);
  const double = await withSandboxDouble(t, { health: hang });
  const run = simulateSession(t, double.url, makeScoredScenario(), { clock });
  await double.waitForRequests('health', 1);
  clock.advance(9_999);
  t.equal(double.requests.length, 1);
  clock.advance(1);
  t.match(await run, { end_reason: 'infrastructure_error', error: /within 10000 ms/ });
});

void t.test(
  'endless goodbyes to a user who never stops end with max_turns and are scored',
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

void t.test('a session that exceeds its total duration ends with timeout', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: hang });
  const limits = { turn_timeout_ms: 60_000, max_duration_ms: 150 };
  const session = await simulateSession(t, url, makeScoredScenario({ limits }));
  t.match(session, { end_reason: 'timeout', error: /max_duration_ms \(150 ms\)/ });
  assertUndecided(t, session);
});

void t.test('only a 429 is retried, after the Retry-After of the sandbox', async (t) => {
  const clock = manualClock(Date.UTC(2026, 10, 20));
  const double = await withSandboxDouble(t, {
    chat: refusal(429, 'rate_limit_exceeded', { 'retry-after': '2' }),
  });
  const run = simulateSession(t, double.url, makeScoredScenario(), { clock });
  await double.waitForRequests('chat', 1);
  double.setBehavior({});
  await until('the client waits', () => {
    clock.advance(100);
    return clock.monotonicMs() >= 1_900;
  });
  t.equal(double.chats().length, 1, 'no retry before Retry-After');
  await until('the client retries', () => {
    // Not up to a timeout of the client, which may be slow.
    if (clock.monotonicMs() < 6_000) clock.advance(100);
    return double.chats().length >= 2;
  });
  t.match(await run, { status: 'completed', end_reason: 'goal_achieved' });
  t.same(double.chats()[0], double.chats()[1], 'the same request');
});

void t.test('a sandbox that limits requests too often or too long is abandoned', async (t) => {
  const longWait = refusal(429, 'rate_limit_exceeded', { 'retry-after': '3600' });
  const { url } = await withSandboxDouble(t, { chat: longWait });
  const session = await simulateSession(t, url, makeScoredScenario());
  t.match(session, { end_reason: 'infrastructure_error', error: /429.*3600 s/ });
  const always = refusal(429, 'rate_limit_exceeded', { 'retry-after': '0' });
  const other = await withSandboxDouble(t, { chat: always });
  const exhausted = await simulateSession(t, other.url, makeScoredScenario());
  t.match(exhausted, { end_reason: 'infrastructure_error', error: /429.*after 6 attempts/ });
  t.equal(other.chats().length, 6);
});

void t.test(
  'aborting a run cancels running sessions, deletes users, and leaks nothing',
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
    t.same(new Set(report.sessions.map(({ status }) => status)), new Set(['canceled']));
    t.equal(report.sessions.length, 10, 'no session is missing');
    t.same([report.verdict, report.exitCode], ['undecided', 3]);
    const count = (route: string): number =>
      double.requests.filter((request) => request.route === route).length;
    t.same([count('create'), count('delete')], [3, 3]);
    await until('every connection is closed', async () => (await double.countConnections()) === 0);
  },
);

void t.test(
  'missing users, leftover users, and users that cannot be deleted are handled',
  async (t) => {
    const absent = await withSandboxDouble(t, {
      create: respondWith(404, ''),
      delete: respondWith(404, ''),
    });
    const withoutUsers = await simulateSession(t, absent.url, makeScenario());
    t.match(withoutUsers, { status: 'completed', user_id: null, notes: [] });
    t.notOk('user_id' in (absent.chats()[0] ?? {}), 'without a user, no user_id is sent');

    let creations = 0;
    const leftover = await withSandboxDouble(t, {
      create: (...args) => {
        creations += 1;
        (creations === 1 ? refusal(409, 'user_exists') : respondWith(201, {}))(...args);
      },
    });
    const recreated = await simulateSession(t, leftover.url, makeScenario());
    t.equal(recreated.status, 'completed');
    const routes = leftover.requests.map(({ route }) => route);
    t.same(routes, ['health', 'create', 'delete', 'create', 'chat', 'delete']);

    const stuck = await withSandboxDouble(t, { delete: refusal(500, 'server_error') });
    const undeleted = await simulateSession(t, stuck.url, makeScenario());
    t.match(undeleted, { status: 'completed', notes: [/not deleted: DELETE returned 500/] });
  },
);
