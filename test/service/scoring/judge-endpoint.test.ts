import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createJudge, type LlmJudgeOptions } from '../../../src/service/scoring/judge.ts';
import { scoreSession } from '../../../src/service/scoring/eval-kinds.ts';
import type { ScoredSession } from '../../../src/service/sessions/scored-session.ts';
import type { Judge, Score } from '../../../src/service/scoring/score.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { manualClock, type ManualClock } from '../../../src/platform/manual-clock.ts';
import {
  behaviors,
  startOpenAiServer,
  type Behavior,
  type OpenAiServer,
} from '../../support/models/openai-server.ts';
import { makeEval, makeSession } from '../../support/sessions/scoring.ts';

const API_KEY = 'sk-very-secret';
const never = new AbortController().signal;
const greeting = makeSession({ userInput: 'Hi', agentResponse: 'Hello!' });

interface JudgeSetup {
  server: OpenAiServer;
  clock: ManualClock;
  judge: Judge;
}

async function withJudge(t: Test, options: Partial<LlmJudgeOptions> = {}): Promise<JudgeSetup> {
  const server = await startOpenAiServer(t);
  const clock = manualClock(0);
  const random = seededRandom('judge');
  const { baseUrl } = server;
  const judge = createJudge({
    baseUrl,
    apiKey: API_KEY,
    model: 'small',
    clock,
    random,
    ...options,
  });
  return { server, clock, judge };
}

const score = (
  judge: Judge,
  session: ScoredSession = greeting,
  params: Record<string, unknown> = {},
  signal = never,
): Promise<Score> =>
  scoreSession(makeEval('judge', { criteria: 'It greets.', ...params }), session, judge, signal);

/** Advances the clock until the promise settles, so that waits take no real time. */
async function advanceUntilSettled<T>(
  clock: ManualClock,
  promise: Promise<T>,
  stepMs: number,
): Promise<T> {
  const pending = Symbol();
  for (;;) {
    const turn = new Promise<typeof pending>((resolve) => setImmediate(resolve, pending));
    const first = await Promise.race([promise, turn]);
    if (first !== pending) return first;
    clock.advance(stepMs);
  }
}

void t.test('a verdict has a reasoning', async (t) => {
  const { server, judge } = await withJudge(t);
  t.same(await score(judge), {
    outcome: 'pass',
    reasoning: 'The agent greets in turn 1.',
    evidence: [{ turn: 1, part: 'turn' }],
  });
  server.behave(behaviors.verdict('fail', 'It does not greet.'));
  t.same(await score(judge), {
    outcome: 'fail',
    reasoning: 'It does not greet.',
    evidence: [],
  });
});

void t.test(
  'the request asks for the reasoning before the verdict and is as deterministic as possible',
  async (t) => {
    const { server, judge } = await withJudge(t);
    await score(judge);
    await score(judge, greeting, { model: 'large' });
    const [first, second] = server.requests;
    t.equal(first?.path, '/v1/chat/completions');
    t.equal(first?.authorization, `Bearer ${API_KEY}`);
    t.match(first?.body, {
      model: 'small',
      temperature: 0,
      response_format: { type: 'json_schema' },
    });
    t.equal(second?.body.model, 'large');
    const schema = JSON.stringify(first?.body.response_format);
    t.match(schema, /"properties":\{"reasoning".*"verdict"/);
    t.match(schema, /"required":\["reasoning","verdict"\]/);
    const [rules, transcript] = first?.body.messages ?? [];
    t.match(rules, { role: 'system', content: /"It greets\."/ });
    t.notMatch(rules?.content, /Hello!/, 'the rules do not contain the conversation');
    t.match(transcript, { role: 'user', content: /"agent":"Hello!"/ });
  },
);

void t.test('an unclear response is an error and is not retried', async (t) => {
  const rows: [what: string, behavior: Behavior, reasoning: RegExp][] = [
    ['malformed JSON', behaviors.content('{"reasoning": "ok", "verdict"'), /not one JSON object/],
    ['prose', behaviors.content('I think it passes.'), /not one JSON object/],
    ['an array', behaviors.content('["pass"]'), /not one JSON object/],
    ['nothing', behaviors.content(''), /empty/],
    ['null', behaviors.content(null), /empty/],
    ['a refusal', behaviors.refusal, /refuses/],
    ['a filter', behaviors.content('{}', 'content_filter'), /filter/],
    ['cut off', behaviors.content('{"reasoning":"a","verdict":"pass"}', 'length'), /cut off/],
    ['without reasoning', behaviors.content('{"verdict":"pass"}'), /no reasoning/],
    ['with empty reasoning', behaviors.verdict('pass', ' '), /no reasoning/],
    ['without verdict', behaviors.content('{"reasoning":"It greets."}'), /neither pass nor fail/],
    ['another verdict', behaviors.verdict('maybe'), /neither pass nor fail/],
    ['both', behaviors.verdict('pass|fail'), /neither pass nor fail/],
    ['a boolean', behaviors.content('{"reasoning":"a","verdict":true}'), /neither pass nor fail/],
    [
      'two verdicts',
      behaviors.content('{"reasoning":"a","verdict":"fail","verdict":"pass"}'),
      /more/,
    ],
    ['two objects', behaviors.content('{"reasoning":"a","verdict":"pass"} {}'), /not one JSON/],
    ['a contradiction', behaviors.content('It fails. {"reasoning":"a","verdict":"pass"}'), /more/],
    ['no choices', behaviors.body({ choices: [] }), /one choice/],
    ['no message', behaviors.body({ choices: [{}] }), /no message/],
    ['another API', behaviors.body({ ok: true }), /one choice/],
    ['no JSON', behaviors.body('<html>'), /did not return a chat completion/],
    [
      'an endless body',
      behaviors.verdict('pass', 'x'.repeat(2 ** 20)),
      /did not return a chat completion|reached/,
    ],
  ];
  for (const [what, behavior, reasoning] of rows) {
    const { server, judge, clock } = await withJudge(t, { retriesMax: 0 });
    server.behave(behavior);
    const result = await advanceUntilSettled(clock, score(judge), 0);
    t.match(result, { outcome: 'error', reasoning }, what);
    t.equal(server.requests.length, 1, `${what}: one request`);
  }
});

void t.test(
  'an endpoint without response schemas or temperature gets a request without them',
  async (t) => {
    const { server, judge } = await withJudge(t);
    server.behave(behaviors.plainOnly);
    t.match(await score(judge), { outcome: 'fail', reasoning: 'No greeting.' });
    t.equal(server.requests.length, 2);
    await score(judge);
    t.equal(server.requests.length, 3, 'the endpoint is remembered');

    const other = await withJudge(t);
    other.server.behave(behaviors.noTemperature);
    t.match(await score(other.judge), { outcome: 'pass' });
    t.match(other.server.requests[1]?.body.response_format, { type: 'json_schema' });
  },
);

void t.test(
  'a request that fails for another reason fails after its simpler forms were tried',
  async (t) => {
    const { server, judge } = await withJudge(t);
    server.behave(behaviors.status(400, {}, 'temperature and so on'));
    t.match(await score(judge), { outcome: 'error', reasoning: /refuses the request \(400\)/ });
    t.equal(server.requests.length, 3);
  },
);

void t.test('a 429 is retried after its Retry-After', async (t) => {
  const { server, judge, clock } = await withJudge(t);
  server.behave(behaviors.status(429, { 'retry-after': '7' }), behaviors.verdict('pass'));
  const scoring = score(judge);
  t.match(await advanceUntilSettled(clock, scoring, 100), { outcome: 'pass' });
  t.equal(server.requests.length, 2);
  t.ok(clock.nowMs() >= 7_000, `waited ${clock.nowMs()} ms`);
});

void t.test('Retry-After may be a date; one too far in the future ends the scoring', async (t) => {
  const { server, judge, clock } = await withJudge(t);
  const date = new Date(5_000).toUTCString();
  server.behave(behaviors.status(503, { 'retry-after': date }), behaviors.verdict('pass'));
  t.match(await advanceUntilSettled(clock, score(judge), 100), { outcome: 'pass' });
  t.ok(clock.nowMs() >= 5_000);

  server.behave(behaviors.status(429, { 'retry-after': '30' }));
  const count = server.requests.length;
  t.match(await score(judge), { outcome: 'error', reasoning: /\(429\).*to wait 30 s/ });
  t.equal(server.requests.length, count + 1);
});

void t.test('endpoint failures are retried a limited number of times', async (t) => {
  const rows: [behavior: Behavior, requests: number, reasoning: RegExp][] = [
    [behaviors.status(500), 3, /failed \(500\).*after 3 attempts/],
    [behaviors.status(429), 3, /rate limited \(429\).*after 3 attempts/],
    [behaviors.reset, 3, /can't be reached.*after 3 attempts/],
    [behaviors.status(401), 1, /refuses the key \(401\)/],
    [behaviors.status(404), 1, /404: unknown model small/],
    [behaviors.status(413), 1, /refuses the request \(413\)/],
  ];
  for (const [behavior, requests, reasoning] of rows) {
    const { server, judge, clock } = await withJudge(t);
    server.behave(behavior);
    const result = await advanceUntilSettled(clock, score(judge), 10);
    t.match(result, { outcome: 'error', reasoning });
    t.equal(server.requests.length, requests, String(reasoning));
  }
});

void t.test('an endpoint that recovers returns its verdict', async (t) => {
  const { server, judge, clock } = await withJudge(t);
  server.behave(behaviors.status(500), behaviors.reset, behaviors.verdict('fail'));
  t.match(await advanceUntilSettled(clock, score(judge), 100), { outcome: 'fail' });
});

void t.test('a hanging endpoint is abandoned before the lease expires', async (t) => {
  for (const behavior of [behaviors.hang, behaviors.drip]) {
    const { server, judge, clock } = await withJudge(t);
    server.behave(behavior);
    const scoring = score(judge);
    await server.waitForRequests(1);
    clock.advance(29_999);
    t.equal(server.requests.length, 1, 'waits 30 s');
    const result = await advanceUntilSettled(clock, scoring, 100);
    t.match(result, {
      outcome: 'error',
      reasoning: /did not respond within \d+ ms.*after 2 attempts/,
    });
    t.ok(clock.nowMs() <= 55_000, `abandoned after ${clock.nowMs()} ms`);
  }
});

void t.test('a scoring can be aborted during a request and between retries', async (t) => {
  for (const behavior of [behaviors.hang, behaviors.status(500)]) {
    const { server, judge } = await withJudge(t);
    server.behave(behavior);
    const control = new AbortController();
    const scoring = score(judge, greeting, {}, control.signal);
    await server.waitForRequests(1);
    control.abort(new Error('stop'));
    t.match(await scoring, { outcome: 'error', reasoning: /canceled|failed/ });
    t.equal(server.requests.length, 1);
  }
});

void t.test('an unreachable endpoint is an error that says so', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const { judge, clock } = await withJudge(t, { baseUrl: `http://127.0.0.1:${port}/v1` });
  const result = await advanceUntilSettled(clock, score(judge), 100);
  t.match(result, { outcome: 'error', reasoning: /can't be reached/ });
});

void t.test('no message contains the key, even if the endpoint repeats it', async (t) => {
  const { server, judge, clock } = await withJudge(t);
  const leakingBehaviors = [
    behaviors.echoKey,
    behaviors.status(401, {}, `Incorrect key: ${API_KEY}`),
    behaviors.status(500, {}, API_KEY),
    behaviors.content(API_KEY),
  ];
  for (const behavior of leakingBehaviors) {
    server.behave(behavior);
    const { reasoning } = await advanceUntilSettled(clock, score(judge), 1_000);
    t.notMatch(reasoning, API_KEY, reasoning);
  }
});

void t.test('the status of a refusal decides if its body is not JSON', async (t) => {
  const { server, judge, clock } = await withJudge(t, { retriesMax: 0 });
  const page: Behavior = (_request, response) => {
    response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
  };
  const endless: Behavior = (_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('x'.repeat(2 ** 21));
  };
  const rows: [behavior: Behavior, reasoning: RegExp][] = [
    [page, /failed \(502\)/],
    [endless, /refuses the key \(401\)/],
  ];
  for (const [behavior, reasoning] of rows) {
    server.behave(behavior);
    t.match(await advanceUntilSettled(clock, score(judge), 0), { outcome: 'error', reasoning });
  }
});

void t.test('the key does not follow a redirect to another server', async (t) => {
  const other = await startOpenAiServer(t);
  const { server, judge } = await withJudge(t);
  server.behave((_request, response) => {
    response.writeHead(307, { location: `${other.baseUrl}/chat/completions` }).end();
  });
  t.match(await score(judge), { outcome: 'pass' });
  t.same(
    other.requests.map(({ authorization }) => authorization),
    [undefined],
  );
});
