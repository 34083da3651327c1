/** The two results endpoints: filters, pages, and the fields of a session (spec 4.3, 4.4). */
import t from 'tap';
import type { SeedDocument } from '../../../src/contract/index.ts';
import { assertResponse } from '../../support/network/send.ts';
import {
  assertError,
  makeContainsEval,
  START_MS,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const SIMULATIONS = 'GET /api/simulations/sessions/';

/** Three simulated sessions and two production sessions, with outcomes. */
const seed: SeedDocument = {
  agents: [{ name: 'Shop agent', url: 'https://shop.example/Agent' }],
  simulations: [
    {
      id: 'sim-1',
      name: 'Nightly',
      agent: 'Shop agent',
      sessions: [
        {
          id: 'one',
          scenario: 'late-parcel',
          persona: 'impatient',
          started_at: '2026-11-20T09:00:00Z',
          ended_at: '2026-11-20T09:01:00Z',
          turns: [{ user_input: 'Hi', user_reason: 'opens', agent_response: 'Hello' }],
          outcomes: [
            { eval_name: 'Order Found', outcome: 'pass', reasoning: 'It was.' },
            { eval_name: 'Polite', outcome: 'fail' },
            { eval_name: 'Broken', outcome: 'error' },
          ],
        },
        {
          id: 'two',
          scenario: 'late-parcel',
          persona: 'calm',
          started_at: '2026-11-20T10:00:00.500Z',
          outcomes: [{ eval_name: 'Order Found', outcome: 'pass' }],
        },
      ],
    },
    {
      id: 'sim-2',
      name: 'Gone',
      agent: 'Größe_100%',
      deleted: true,
      sessions: [{ id: 'three', scenario: 's', persona: 'p', started_at: '2026-11-19T00:00:00Z' }],
    },
  ],
  runs: [
    {
      name: 'Run A',
      sessions: [
        {
          source_session_id: 'conv-a',
          started_at: '2026-11-20T09:00:00Z',
          turns: [{ user_input: 'Hi', agent_response: 'Hello' }],
          outcomes: [{ eval_name: 'Polite', outcome: 'fail' }],
        },
        { source_session_id: 'unscored', started_at: '2026-11-20T09:00:00Z' },
      ],
    },
  ],
};

const listDayAndHour = async (
  { simulations }: ServiceUnderTest,
  query: string,
): Promise<string[]> =>
  (await simulations(query)).items.map(({ started_at: startedAt }) => startedAt.slice(8, 13));

void t.test('a session contains all of its fields and omits absent ones', async (t) => {
  const { simulations, production, service } = await withService(t, { seed });
  const { items, ...envelope } = await simulations();
  t.same(envelope, { total: 3, skip: 0, limit: 50 });
  t.same(items[1], {
    url: `${service.appUrl}/simulation/sim-1?sessionId=one`,
    simulation: 'Nightly',
    agent: 'Shop agent',
    scenario: 'late-parcel',
    persona: 'impatient',
    status: 'completed',
    started_at: '2026-11-20T09:00:00.000Z',
    ended_at: '2026-11-20T09:01:00.000Z',
    outcome_summary: { total_evaluations: 2, passed_count: 1, failed_count: 1, pass_rate: 0.5 },
    eval_outcomes: [
      {
        eval_name: 'Order Found',
        eval_category: 'general',
        eval_type: 'session_level',
        outcome: 'pass',
        reasoning: 'It was.',
      },
      {
        eval_name: 'Polite',
        eval_category: 'general',
        eval_type: 'session_level',
        outcome: 'fail',
        reasoning: '',
      },
    ],
  });
  t.equal(items[2]?.url, null, 'its simulation was deleted');
  t.equal(items[2]?.outcome_summary.pass_rate, 0);
  const live = await production();
  t.equal(live.total, 1, 'sessions without outcomes are omitted');
  t.match(live.items[0], { run: 'Run A', source_session_id: 'conv-a' });
  for (const key of ['agent', 'scenario', 'persona', 'traces'])
    t.notOk(key in (live.items[0] ?? {}), key);
});

void t.test('traces are included only on request', async (t) => {
  const { simulations, production } = await withService(t, { seed });
  const { items } = await simulations('?include_traces=TRUE');
  t.same(items[1]?.traces, [
    { session_sequence: 1, user_input: 'Hi', user_reason: 'opens', agent_response: 'Hello' },
  ]);
  t.same(items[0]?.traces, []);
  t.same((await production('?include_traces=true')).items[0]?.traces, [
    { session_sequence: 1, user_input: 'Hi', agent_response: 'Hello' },
  ]);
  const without = (await simulations('?include_traces=false')).items[1] ?? { traces: [] };
  t.notOk('traces' in without);
});

void t.test('failed_only lists only failing outcomes; the summary still counts all', async (t) => {
  const { simulations, production } = await withService(t, { seed });
  const { items, total } = await simulations('?failed_only=true');
  t.equal(total, 1);
  const [item] = items;
  t.same(
    item?.eval_outcomes.map(({ eval_name: name }) => name),
    ['Polite'],
  );
  t.same(item?.outcome_summary.total_evaluations, 2);
  t.equal((await production('?failed_only=1')).total, 1);
});

void t.test('filters select sessions', async (t) => {
  const tested = await withService(t, { seed });
  for (const [query, expected] of [
    ['', ['20T10', '20T09', '19T00']],
    ['?agent=SHOP', ['20T10', '20T09']],
    ['?agent=example/agent', ['20T10', '20T09']],
    ['?agent=GR%C3%96SSE', ['19T00']],
    ['?agent=gr%C3%B6%C3%9Fe_100%25', ['19T00']],
    ['?agent=S%25p', []],
    ['?agent=', ['20T10', '20T09', '19T00']],
    ['?eval=order%20found', ['20T10', '20T09']],
    ['?eval=polite', ['20T09']],
    ['?eval=broken', []],
    ['?run=A', ['20T10', '20T09', '19T00']],
    ['?nonsense=1&nonsense=2', ['20T10', '20T09', '19T00']],
    ['?started_after=2026-11-20T09:00:00Z', ['20T10', '20T09']],
    ['?started_after=2026-11-20T09:00:00.001', ['20T10']],
    ['?started_before=2026-11-20T09:00:00', ['20T09', '19T00']],
    ['?started_before=2026-11-20T11:00:00%2B02:00', ['20T09', '19T00']],
    ['?started_before=2026-11-20T11:00:00+02:00', ['20T09', '19T00']],
    ['?started_before=20261120T100000,5Z', ['20T10', '20T09', '19T00']],
    ['?started_after=2026-11-20', ['20T10', '20T09']],
    ['?started_after=2026-W47-5', ['20T10', '20T09']],
    ['?started_after=2026-324', ['20T10', '20T09']],
    ['?skip=1&limit=1', ['20T09']],
    ['?limit=0', []],
    ['?skip=99999999999999999999', []],
  ] as const) {
    t.same(await listDayAndHour(tested, query), expected, query);
  }
  const { production } = tested;
  t.equal((await production('?run=rUN')).total, 1);
  t.equal((await production('?run=B')).total, 0);
  t.equal((await production('?agent=Shop')).total, 1, 'agent is not a parameter of this endpoint');
});

void t.test('pages are stable and contain the total', async (t) => {
  const { simulations } = await withService(t, { seed });
  const startTimes: string[] = [];
  for (let skip = 0; ; skip += 1) {
    const { items, total } = await simulations(`?skip=${skip}&limit=1`);
    t.equal(total, 3);
    startTimes.push(...items.map(({ started_at: at }) => at));
    if (skip + items.length >= total) break;
  }
  t.same(startTimes, [...startTimes].sort().reverse());
  t.equal((await simulations('?limit=501')).limit, 500, 'capped, not rejected');
  t.equal((await simulations('?limit=500')).limit, 500);
});

void t.test('an invalid query value gets 400 with the name of the parameter', async (t) => {
  const { send } = await withService(t, { seed });
  for (const query of [
    'failed_only=yes',
    'failed_only=',
    'include_traces=2',
    'skip=-1',
    'skip=1.5',
    'skip=',
    'limit=ten',
    'limit=-1',
    'limit=1e2',
    'limit=%00',
    'started_after=yesterday',
    'started_after=1763596800',
    'started_before=2026-02-30',
    'started_before=2026-13-01T00:00:00Z',
    'started_before=',
    'limit=1&limit=2',
    'agent=a&agent=b',
  ]) {
    const name = query.split('=')[0] ?? '';
    assertError(t, await send(`${SIMULATIONS}?${query}`), 400, new RegExp(`^${name} `));
  }
  assertError(
    t,
    await send(`${SIMULATIONS}?limit=-1&skip=x&agent=a&agent=b`),
    400,
    /^agent occurs 2 times\. Send it once\. skip must be a whole number of 0 or more, got "x"\. limit must be .* got "-1"\.$/,
  );
});

void t.test(
  'paths work with and without a trailing slash, and every owner sees only its own sessions',
  async (t) => {
    const { send, admin } = await withService(t, { seed });
    for (const path of ['/api/simulations/sessions', '/api/prod-evaluations/sessions']) {
      const message = path.includes('prod') ? 'ProductionSessionPage' : 'SimulationSessionPage';
      for (const slash of ['', '/'])
        assertResponse(t, await send(`GET ${path}${slash}`), 200, message);
      assertError(t, await send(`POST ${path}`, { body: {} }), 405, /GET/);
    }
    const { key } = (await admin('POST /keys', { owner: 'other' })) as { key: string };
    t.match((await send(SIMULATIONS, { key })).json, { total: 0 });
  },
);

void t.test('deep links lead to a page that shows the session with all text escaped', async (t) => {
  const markup = `<script>alert("x")</script>&'`;
  const doc: SeedDocument = {
    runs: [
      {
        name: markup,
        sessions: [
          {
            source_session_id: markup,
            started_at: '2026-11-20T09:00:00Z',
            turns: [{ user_input: markup, agent_response: markup }],
            outcomes: [{ eval_name: markup, outcome: 'fail', reasoning: markup }],
          },
        ],
      },
    ],
  };
  const { production, service, simulations } = await withService(t, { seed });
  t.match(await fetchPage((await simulations()).items[1]?.url ?? ''), [200, /Hello.*/]);
  const [session] = (await production()).items;
  t.match(await fetchPage(session?.url ?? ''), [200, 'conv-a']);
  for (const path of [
    '/simulation/sim-1?sessionId=nothing',
    '/simulation/other?sessionId=one',
    '/production-eval/sim-1?sessionId=one',
    '/simulation/sim-2?sessionId=three',
  ]) {
    t.match(await fetchPage(service.appUrl + path), [404, 'Session not found'], path);
  }
  const other = await withService(t, { seed: doc });
  const [status, text] = await fetchPage((await other.production()).items[0]?.url ?? '');
  t.equal(status, 200);
  t.equal(text.split('<script').length - 1, 1, 'the only script is that of the kit');
  const escaped = '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;';
  t.ok(text.split(escaped).length - 1 >= 7, 'the title, the run, the outcome, and the transcript');
  t.notMatch(text, /src=|href="(?![/#])/, 'every link stays in the service');
});

async function fetchPage(url: string): Promise<[number, string]> {
  const response = await fetch(url);
  return [response.status, await response.text()];
}

void t.test('turns of megabytes are sent completely, in the order of the sessions', async (t) => {
  const { trace, end, drain, production, admin } = await withService(t);
  await admin('POST /evals', makeContainsEval('a', 'x'));
  await admin('PUT /settings', { evals: ['a'] });
  const conversations = ['one', 'two'].map((id, nth) => ({
    id,
    user: `${id} \u{1F600}`.repeat(400_000),
    startMs: START_MS - (nth + 1) * 60_000,
  }));
  for (const { id, user, startMs } of conversations) {
    await trace(makeSpan({ conversationId: id, user, startMs }));
    await end(id);
  }
  await drain();
  const { items, total, limit } = await production('?include_traces=true&limit=7');
  t.equal(total, 2);
  t.equal(limit, 7);
  for (const [nth, { id, user }] of conversations.entries()) {
    const { source_session_id: sourceId, traces } = items[nth] ?? {};
    t.equal(sourceId, id);
    t.ok(traces?.[0]?.user_input === user, 'the user said all of it');
  }
});
