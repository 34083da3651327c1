/** The verdict of a session, and how optional evals affect it. */
import t from 'tap';
import {
  findViolations,
  type SeedDocument,
  type SessionVerdict,
} from '../../../src/contract/index.ts';
import {
  makeContainsEval,
  assertError,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const sessionIdOf = (url: string | null | undefined): string =>
  new URL(url ?? 'http://none').searchParams.get('sessionId') ?? '';

async function readVerdict({ admin }: ServiceUnderTest, id: string): Promise<SessionVerdict> {
  const session = (await admin(`GET /sessions/${id}`)) as SessionVerdict;
  t.same(findViolations('SessionVerdict', session), []);
  return session;
}

void t.test('an optional eval never fails a session', async (t) => {
  const tested = await withService(t);
  const { admin, trace, end, drain, production } = tested;
  await admin('POST /evals', makeContainsEval('must', 'on its way'));
  await admin('POST /evals', makeContainsEval('nice', 'sorry', { required: false }));
  await admin('PUT /settings', { evals: ['must', 'nice'] });
  await trace(makeSpan());
  await end('conv-1');
  await drain();
  const { items, total } = await production('?failed_only=true');
  t.equal(total, 1, 'the interface shows the failing eval');
  t.match(items, [
    {
      status: 'completed',
      outcome_summary: { total_evaluations: 2, passed_count: 1, failed_count: 1, pass_rate: 0.5 },
      eval_outcomes: [{ eval_name: 'Says sorry', outcome: 'fail' }],
    },
  ]);
  t.notOk('required' in (items[0]?.eval_outcomes[0] ?? {}), 'the interface has no field required');
  const url = items[0]?.url;
  t.match(await readVerdict(tested, sessionIdOf(url)), {
    verdict: 'passed',
    outcomes: [
      { eval: 'must', outcome: 'pass', required: true },
      { eval: 'nice', outcome: 'fail', required: false },
    ],
  });
  const page = await (await fetch(url ?? '')).text();
  t.match(page, /<dt>Verdict<\/dt>\s*<dd><b class="badge passed">passed<\/b><\/dd>/);
  t.match(page, /Says sorry[^]*not required/);
});

void t.test('the verdict uses the evals from when they were queued', async (t) => {
  const tested = await withService(t);
  const { admin, drain, production } = tested;
  const turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
  await admin('POST /evals', makeContainsEval('nice', 'sorry', { required: false }));
  await admin('POST /transcripts', { session_id: 't-1', turns, evals: ['nice'] });
  await drain();
  await admin('POST /evals', makeContainsEval('nice', 'sorry'));
  await admin('DELETE /evals/nice');
  const id = sessionIdOf((await production()).items[0]?.url);
  t.match(await readVerdict(tested, id), { outcomes: [{ required: false }] });
});

const makeOutcome = (name: string, outcome: 'pass' | 'fail' | 'error', required?: boolean) => ({
  eval_name: name,
  outcome,
  ...(required !== undefined && { required }),
});

void t.test('the verdict follows from the required outcomes', async (t) => {
  const rows: [what: string, verdict: string, outcomes: object[], status?: string][] = [
    ['all pass', 'passed', [makeOutcome('a', 'pass'), makeOutcome('b', 'pass', false)]],
    ['one fails', 'failed', [makeOutcome('a', 'pass'), makeOutcome('b', 'fail')]],
    ['one fails that is marked required', 'failed', [makeOutcome('a', 'fail', true)]],
    [
      'an optional one fails',
      'passed',
      [makeOutcome('a', 'pass'), makeOutcome('b', 'fail', false)],
    ],
    ['one errors', 'undecided', [makeOutcome('a', 'pass'), makeOutcome('b', 'error')]],
    ['one errors, one fails', 'failed', [makeOutcome('a', 'fail'), makeOutcome('b', 'error')]],
    [
      'an optional one errors',
      'passed',
      [makeOutcome('a', 'pass'), makeOutcome('b', 'error', false)],
    ],
    ['only an optional one, which fails', 'undecided', [makeOutcome('a', 'fail', false)]],
    ['no outcomes', 'undecided', []],
    ['still being scored', 'undecided', [makeOutcome('a', 'pass')], 'evaluating'],
    ['still being scored, already failed', 'failed', [makeOutcome('a', 'fail')], 'evaluating'],
    ['the conversation failed', 'undecided', [makeOutcome('a', 'pass')], 'failed'],
  ];
  const sessions = rows.map(([, , outcomes, status = 'completed'], nth) => ({
    id: `s${nth}`,
    scenario: 's',
    persona: 'p',
    started_at: '2026-11-20T09:00:00Z',
    outcomes,
    status,
  }));
  const simulations = [{ id: 'sim', name: 'Sim', agent: 'A', sessions }];
  const tested = await withService(t, { seed: { simulations } as SeedDocument });
  for (const [nth, [what, verdict]] of rows.entries()) {
    t.equal((await readVerdict(tested, `s${nth}`)).verdict, verdict, what);
  }
});

void t.test(
  'a seeded outcome is required if its eval is, unless the outcome itself says otherwise',
  async (t) => {
    const evals = [makeContainsEval('nice', 'x', { required: false })];
    const outcomes = [{ eval: 'nice', outcome: 'fail' }, makeOutcome('own', 'fail', false)];
    const session = { id: 's', scenario: 's', persona: 'p', started_at: '2026-11-20T09:00:00Z' };
    const simulations = [{ name: 'Sim', agent: 'A', sessions: [{ ...session, outcomes }] }];
    const tested = await withService(t, { seed: { evals, simulations } as SeedDocument });
    t.match(await readVerdict(tested, 's'), {
      verdict: 'undecided',
      outcomes: [{ required: false }, { required: false }],
    });
    assertError(t, await tested.send('GET /__admin/sessions/other', { key: null }), 404, /"other"/);
    await tested.admin('POST /keys', { key: 'key-of-team-b', owner: 'team-b' });
    assertError(t, await tested.send('GET /__admin/sessions/s?owner=team-b', { key: null }), 404);
  },
);
