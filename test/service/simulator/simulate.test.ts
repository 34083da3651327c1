/** A run of simulated users: what it sends, how it is scored, and that the random seed determines it. */
import t from 'tap';
import { readScenarioSet } from '../../../library/input/scenario-files.ts';
import { findViolations, type Scenario } from '../../../src/contract/index.ts';
import { InvalidDocumentError } from '../../../src/service/index.ts';
import { atNight } from '../../support/nightly.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { reply, respondWith, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { makeScenario, makeUserScenario } from '../../support/sessions/scenarios.ts';
import {
  simulateSession,
  simulateOn,
  omitTimes,
} from '../../support/sessions/simulated-sessions.ts';

const starters = readScenarioSet('shop');
const { personas, evals } = starters;

/** How often each scenario of a large run is played. */
const SAMPLES = atNight(20, 5);

void t.test('the reference agent passes the twelve scenarios of its shop', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const report = await simulateOn(t, agent.url, starters.scenarios, { personas, evals });
  t.equal(starters.scenarios.length, 12);
  for (const session of report.sessions) {
    t.equal(session.verdict, 'passed', session.scenario_id);
    t.same(session.review, { followed_scenario: true, findings: [] }, session.scenario_id);
    t.ok(session.eval_outcomes.length > 0, session.scenario_id);
  }
  t.same([report.verdict, report.exitCode], ['passed', 0]);
  t.equal(report.sentence, '12 of 12 scenarios passed.');
});

void t.test(
  'two runs of many sessions with one seed and concurrency 20 give the same transcripts',
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    const scenarios = starters.scenarios.slice(0, 10);
    const more = { personas, evals, samples: SAMPLES, concurrency: 20, seed: 'S' };
    const [first, second] = [
      await simulateOn(t, agent.url, scenarios, more),
      await simulateOn(t, agent.url, scenarios, more),
    ];
    t.equal(first.sessions.length, 10 * SAMPLES);
    t.equal(omitTimes(first), omitTimes(second), 'identical except for times');
    const ids = first.sessions.flatMap(({ id, user_id: user }) => [id, user]);
    t.equal(new Set(ids).size, 20 * SAMPLES, 'all ids differ');
    const other = await simulateOn(t, agent.url, scenarios.slice(0, 1), {
      personas,
      evals,
      seed: 'T',
    });
    t.not(other.sessions[0]?.id, first.sessions[0]?.id);
  },
);

void t.test(
  'a sandbox receives a health check, a user, chats with the full history, and the deletion',
  async (t) => {
    const double = await withSandboxDouble(t, { chat: reply('Yes.') });
    const scenario: Scenario = makeUserScenario(
      { opening: 'Hello', steps: [{ say: 'Really?' }] },
      {
        persona: { id: 'p', name: 'Impatient' },
        initial_messages: [{ role: 'system', content: 'Evening.' }],
        metadata: { time_of_day: 'evening', stress_level: 4, location: { city: 'Zurich' } },
        profile: { name: 'Ada Example', tier: 'gold' },
        preferences: { language: 'en' },
        history: { orders: 3 },
      },
    );
    const { id } = await simulateSession(t, double.url, scenario, { apiKey: 'secret-key' });
    const routes = double.requests.map(({ route }) => route);
    t.same(routes, ['health', 'create', 'chat', 'chat', 'delete']);
    const [, created, first, second, removed] = double.requests;
    t.same(findViolations('UserCreateRequest', created?.body), []);
    const { user_id: userId } = created?.body as { user_id: string };
    t.match(userId, /^sim_user_[a-z0-9]{20}$/);
    t.match(created?.body, {
      metadata: {
        scenario_id: 'a',
        persona: 'Impatient',
        session_type: 'chat',
        preferences: { language: 'en' },
        history: { orders: 3 },
      },
      profile: { name: 'Ada Example', tier: 'gold' },
    });
    t.equal(removed?.path, `/users/${userId}`);
    const about = {
      user_id: userId,
      session_id: id,
      metadata: { ...scenario.metadata, scenario_id: 'a', persona: 'Impatient' },
    };
    const begin = [
      { role: 'system', content: 'Evening.' },
      { role: 'user', content: 'Hello' },
    ];
    const end = [
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Really?' },
    ];
    t.same(first?.body, { messages: begin, ...about }, 'no tool definitions');
    t.same(second?.body, { messages: [...begin, ...end], ...about });
    for (const { route, headers } of double.requests) {
      t.equal(headers.authorization, route === 'health' ? undefined : 'Bearer secret-key', route);
    }
  },
);

void t.test('no more sessions run concurrently than requested', async (t) => {
  let [current, max] = [0, 0];
  const waiting: (() => void)[] = [];
  const { url } = await withSandboxDouble(t, {
    chat: (response, request) => {
      current += 1;
      max = Math.max(max, current);
      waiting.push(() => {
        current -= 1;
        reply('ok')(response, request);
      });
      if (waiting.length >= 4) for (const respond of waiting.splice(0)) respond();
    },
  });
  await simulateOn(t, url, makeScenario({ samples: 12 }), { concurrency: 4 });
  t.equal(max, 4);
});

/** Starts a sandbox that gives the chat request of the nth session the nth outcome. */
async function startWithOutcomes(
  t: Parameters<typeof withSandboxDouble>[0],
  ...outcomes: string[]
) {
  let nth = 0;
  const { url } = await withSandboxDouble(t, {
    chat: (...args) => {
      const outcome = outcomes[nth] ?? 'pass';
      nth += 1;
      (outcome === 'crash' ? respondWith(500, '') : reply(outcome))(...args);
    },
  });
  return url;
}

const passEval = { id: 'e', name: 'E', kind: 'contains', params: { text: 'pass' } } as const;

void t.test(
  'samples give a pass rate, pass^k, and flakiness; a crash neither passes nor fails',
  async (t) => {
    for (const [outcomes, rate, expected] of [
      [['pass', 'pass', 'pass', 'fail'], 0.75, { passed: 3, verdict: 'passed', flaky: true }],
      [['pass', 'pass', 'fail', 'fail'], 0.75, { passed: 2, verdict: 'failed', flaky: true }],
      [['fail', 'fail'], 0.5, { failed: 2, verdict: 'failed', flaky: false, pass_rate: 0 }],
      [['pass', 'crash'], 1, { undecided: 1, verdict: 'undecided', flaky: false, pass_rate: 1 }],
      [['pass', 'crash'], 0.5, { undecided: 1, verdict: 'passed' }],
      [['fail', 'crash'], 1, { undecided: 1, verdict: 'failed' }],
      [['crash'], 0, { undecided: 1, verdict: 'undecided', pass_rate: null, pass_hat_k: [] }],
    ] as const) {
      const url = await startWithOutcomes(t, ...outcomes);
      const scenario = makeScenario({
        evals: [passEval],
        samples: outcomes.length,
        pass_rate: rate,
      });
      const report = await simulateOn(t, url, scenario, { concurrency: 1 });
      const what = `${outcomes.join(' ')}, required ${rate}`;
      t.match(report.scenarios[0], expected, what);
      t.equal(report.verdict, expected.verdict, what);
      t.equal(report.exitCode, { passed: 0, failed: 1, undecided: 3 }[expected.verdict], what);
    }
    const url = await startWithOutcomes(t, 'pass', 'pass', 'pass', 'fail');
    const { scenarios } = await simulateOn(t, url, makeScenario({ evals: [passEval], samples: 4 }));
    t.same(scenarios[0]?.pass_hat_k, [0.75, 0.5, 0.25, 0]);
  },
);

void t.test('--samples overrides the samples of a scenario', async (t) => {
  const { url } = await withSandboxDouble(t);
  const report = await simulateOn(t, url, makeScenario({ samples: 5 }), { samples: 2 });
  t.same(
    report.sessions.map(({ sample }) => sample),
    [1, 2],
  );
});

void t.test(
  'an optional eval never fails a session; an errored eval never passes it',
  async (t) => {
    const { url } = await withSandboxDouble(t, { chat: reply('pass') });
    const failing = { ...passEval, id: 'm', params: { text: 'absent' }, required: false };
    const judgeEval = {
      id: 'j',
      name: 'J',
      kind: 'judge',
      params: { criteria: 'Is kind.' },
    } as const;
    const optional = await simulateSession(t, url, makeScenario({ evals: [passEval, failing] }));
    t.equal(optional.verdict, 'passed');
    t.match(optional.outcome_summary, { total_evaluations: 2, passed_count: 1, failed_count: 1 });
    const errored = await simulateSession(t, url, makeScenario({ evals: [passEval, judgeEval] }));
    t.equal(errored.verdict, 'undecided');
    t.match(errored.errored_evals, [
      { eval: 'j', reasoning: /No LLM judge is configured.*, and run simulate again\.$/ },
    ]);
    t.match(errored.outcome_summary, { total_evaluations: 1, pass_rate: 1 });
  },
);

void t.test('a run without scores does not pass', async (t) => {
  const { url } = await withSandboxDouble(t);
  const report = await simulateOn(t, url, makeScenario());
  t.same([report.verdict, report.exitCode], ['undecided', 3]);
  t.same([(await simulateOn(t, url, [])).exitCode], [3]);
});

void t.test('an invalid scenario is rejected before any request is sent', async (t) => {
  const double = await withSandboxDouble(t);
  for (const [changes, pointer] of [
    [{ persona: 'nobody' }, '/1/persona'],
    [{ evals: ['nothing'] }, '/1/evals/0'],
    [
      { evals: [{ ...passEval, kind: 'regex', params: { pattern: '(' } }] },
      '/1/evals/0/params/pattern',
    ],
    [{ user: { opening: 'Hi', steps: [{ say: 'x', next: 'y' }] } }, '/1/user/steps/0/next'],
    [{ user: { opening: 'Hi', stop_when: [{ matches: '(' }] } }, '/1/user/stop_when/0/matches'],
  ] as const) {
    const wrong = makeScenario({ id: 'b', ...(changes as Partial<Scenario>) });
    const run = simulateOn(t, double.url, [makeScenario(), wrong]);
    const error: unknown = await run.catch((caught: unknown) => caught);
    t.ok(error instanceof InvalidDocumentError);
    t.equal((error as InvalidDocumentError).pointer, pointer);
  }
  t.same(double.requests, []);
});

void t.test('another user talks first, in a separate session that stays open', async (t) => {
  const double = await withSandboxDouble(t, { chat: reply('Fine.') });
  const scenario = makeScenario({ other_session: ['I am Laura.', 'Really.'] });
  const session = await simulateSession(t, double.url, scenario);
  t.same(
    double.requests.map(({ route }) => route),
    ['health', 'create', 'chat', 'chat', 'create', 'chat', 'delete', 'delete'],
  );
  const [first, second, own] = double.chats();
  t.equal(first?.session_id, second?.session_id);
  t.not(first?.session_id, own?.session_id);
  t.not(first?.user_id, own?.user_id);
  t.same(
    own?.messages.map(({ content }) => content),
    ['Hello'],
    'the session knows nothing of the other one',
  );
  t.equal(session.user_id, own?.user_id);
  t.equal(session.traces.length, 1, 'only its own turns are scored');
  t.match(session.other_session, {
    id: first?.session_id,
    traces: [{ user_input: 'I am Laura.' }, { user_input: 'Really.' }],
  });
  t.equal(session.trace_ids?.length, 6, 'all requests but the deletions');
});
