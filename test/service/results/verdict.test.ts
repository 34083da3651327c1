/** Whether a session as a whole passed: what an eval that is not required changes, and what not. */
import t from 'tap';
import {
  findViolations,
  type SeedDocument,
  type SessionVerdict,
} from '../../../src/contract/index.ts';
import { makeSpan } from '../../helpers/otlp.ts';
import { makeContainsEval, assertError, withService, type Bench } from '../../helpers/service.ts';

const idIn = (url: string | null | undefined): string =>
  new URL(url ?? 'http://none').searchParams.get('sessionId') ?? '';

async function verdictOf({ admin }: Bench, id: string): Promise<SessionVerdict> {
  const found = (await admin(`GET /sessions/${id}`)) as SessionVerdict;
  t.same(findViolations('SessionVerdict', found), []);
  return found;
}

void t.test('An optional eval never fails a session', async (t) => {
  const bench = await withService(t);
  const { admin, trace, end, drain, production } = bench;
  await admin('POST /evals', makeContainsEval('must', 'on its way'));
  await admin('POST /evals', makeContainsEval('nice', 'sorry', { required: false }));
  await admin('PUT /settings', { evals: ['must', 'nice'] });
  await trace(makeSpan());
  await end('conv-1');
  await drain();
  const { items, total } = await production('?failed_only=true');
  t.equal(total, 1, 'on the wire it has a failing eval, to the letter');
  t.match(items, [
    {
      status: 'completed',
      outcome_summary: { total_evaluations: 2, passed_count: 1, failed_count: 1, pass_rate: 0.5 },
      eval_outcomes: [{ eval_name: 'Says sorry', outcome: 'fail' }],
    },
  ]);
  t.notOk('required' in (items[0]?.eval_outcomes[0] ?? {}), 'which the wire does not know');
  const url = items[0]?.url;
  t.match(await verdictOf(bench, idIn(url)), {
    verdict: 'passed',
    outcomes: [
      { eval: 'must', outcome: 'pass', required: true },
      { eval: 'nice', outcome: 'fail', required: false },
    ],
  });
  const page = await (await fetch(url ?? '')).text();
  t.match(page, /<dt>Verdict<\/dt>\s*<dd>passed<\/dd>/);
  t.match(page, /Says sorry[^]*not required/);
});

void t.test('The verdict uses the evals as they were when queued', async (t) => {
  const bench = await withService(t);
  const { admin, drain, production } = bench;
  const turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
  await admin('POST /evals', makeContainsEval('nice', 'sorry', { required: false }));
  await admin('POST /transcripts', { session_id: 't-1', turns, evals: ['nice'] });
  await drain();
  await admin('POST /evals', makeContainsEval('nice', 'sorry'));
  await admin('DELETE /evals/nice');
  const id = idIn((await production()).items[0]?.url);
  t.match(await verdictOf(bench, id), { outcomes: [{ required: false }] });
});

const outcome = (name: string, found: 'pass' | 'fail' | 'error', required?: boolean) => ({
  eval_name: name,
  outcome: found,
  ...(required !== undefined && { required }),
});

void t.test('The verdict follows from the required outcomes', async (t) => {
  const rows: [says: string, verdict: string, outcomes: object[], status?: string][] = [
    ['all pass', 'passed', [outcome('a', 'pass'), outcome('b', 'pass', false)]],
    ['one fails', 'failed', [outcome('a', 'pass'), outcome('b', 'fail')]],
    ['fails, said to be required', 'failed', [outcome('a', 'fail', true)]],
    ['one of the others fails', 'passed', [outcome('a', 'pass'), outcome('b', 'fail', false)]],
    ['one errors', 'undecided', [outcome('a', 'pass'), outcome('b', 'error')]],
    ['one errors, one fails', 'failed', [outcome('a', 'fail'), outcome('b', 'error')]],
    ['one of the others errors', 'passed', [outcome('a', 'pass'), outcome('b', 'error', false)]],
    ['nothing passes', 'undecided', [outcome('a', 'fail', false)]],
    ['no outcomes', 'undecided', []],
    ['still scored', 'undecided', [outcome('a', 'pass')], 'evaluating'],
    ['still scored, failed already', 'failed', [outcome('a', 'fail')], 'evaluating'],
    ['the conversation failed', 'undecided', [outcome('a', 'pass')], 'failed'],
  ];
  const sessions = rows.map(([, , outcomes, status = 'completed'], nth) => ({
    ...{ id: `s${nth}`, scenario: 's', persona: 'p', started_at: '2026-11-20T09:00:00Z' },
    ...{ outcomes, status },
  }));
  const simulations = [{ id: 'sim', name: 'Sim', agent: 'A', sessions }];
  const bench = await withService(t, { seed: { simulations } as SeedDocument });
  for (const [nth, [says, verdict]] of rows.entries()) {
    t.equal((await verdictOf(bench, `s${nth}`)).verdict, verdict, says);
  }
});

void t.test(
  'A seeded outcome is required if its eval is, unless the outcome itself says otherwise',
  async (t) => {
    const evals = [makeContainsEval('nice', 'x', { required: false })];
    const outcomes = [{ eval: 'nice', outcome: 'fail' }, outcome('own', 'fail', false)];
    const session = { id: 's', scenario: 's', persona: 'p', started_at: '2026-11-20T09:00:00Z' };
    const simulations = [{ name: 'Sim', agent: 'A', sessions: [{ ...session, outcomes }] }];
    const bench = await withService(t, { seed: { evals, simulations } as SeedDocument });
    t.match(await verdictOf(bench, 's'), {
      verdict: 'undecided',
      outcomes: [{ required: false }, { required: false }],
    });
    assertError(t, await bench.send('GET /__admin/sessions/other', { key: null }), 404, /"other"/);
    await bench.admin('POST /keys', { key: 'key-of-team-b', owner: 'team-b' });
    assertError(t, await bench.send('GET /__admin/sessions/s?owner=team-b', { key: null }), 404);
  },
);
