/** People mark outcomes as right or wrong, and evals show how far they agree. */
import t, { type Test } from 'tap';
import { isMessage, type EvalReviews } from '../../../src/contract/index.ts';
import { openPage } from '../../support/pages/browser.ts';
import { sendForm } from '../../support/pages/send-form.ts';
import { clickButton, follow, inspectPage } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval, type ServiceUnderTest } from '../../support/services/service.ts';

const EVAL_PAGE = '/evals/edit?id=polite';

/** Seeds sessions of a simulation and of production with an outcome of `polite` each. */
async function withOutcomes(
  t: Test,
  { pass, fail }: { pass: number; fail: number },
): Promise<ServiceUnderTest> {
  const tested = await withEmptyService(t);
  await tested.admin('POST /evals', makeContainsEval('polite', 'please'));
  const sessions = Array.from({ length: pass + fail }, (_, nth) => ({
    id: `ses-${nth}`,
    scenario: 'greeting',
    persona: 'calm',
    started_at: '2026-11-20T09:30:00Z',
    ended_at: '2026-11-20T09:31:00Z',
    turns: [{ user_input: 'Hello', agent_response: 'Hi' }],
    outcomes: [
      { eval_name: 'polite', outcome: nth < pass ? 'pass' : 'fail', reasoning: 'As it was said.' },
      { eval_name: 'broken', outcome: 'error', reasoning: 'No judge.' },
    ],
  }));
  await tested.admin('POST /seed', {
    agents: [{ name: 'Shop', url: 'https://shop.example/agent' }],
    simulations: [{ id: 'sim-1', name: 'Nightly', agent: 'Shop', sessions }],
  });
  return tested;
}

const linkOf = (nth: number): string => `/simulation/sim-1?sessionId=ses-${nth}`;

/** Opens a page as text, without its markup. */
async function read({ service }: ServiceUnderTest, path: string): Promise<string> {
  const response = await fetch(service.url + path, { headers: { accept: 'text/html' } });
  return (await response.text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
}

/** Sends a form of the page of a session with the token that the page has. */
async function review(
  tested: ServiceUnderTest,
  action: string,
  fields: Record<string, string>,
): Promise<Response> {
  const form = { page: linkOf(0), path: `/sessions/${action}` };
  const response = await sendForm(tested, form, { eval: 'polite', ...fields });
  const location = response.headers.get('location') ?? '';
  // A mistake leads to a page that describes it.
  return location.includes('shown=')
    ? fetch(tested.service.url + location, { headers: { accept: 'text/html' } })
    : response;
}

const exportOf = async ({ service }: ServiceUnderTest): Promise<EvalReviews> =>
  (await (await fetch(`${service.url}/evals/reviews?id=polite`)).json()) as EvalReviews;

void t.test('an outcome is marked, shown with its eval, changed, and cleared', async (t) => {
  const tested = await withOutcomes(t, { pass: 1, fail: 1 });
  const { page, errors } = await openPage(t, tested.service.url + linkOf(1));
  t.equal(await page.locator('details.review').count(), 1, 'an errored outcome has no mark');
  await page.click('summary:text("Is this outcome right?")');
  await page.fill('[name=note]', 'The agent was polite in its own words.');
  t.match(await clickButton(page, 'It is wrong'), /Marked wrong by a person.*own words/s);
  t.match(page.url(), /#eval-1$/, 'back at the outcome');

  await page.goto(tested.service.url + EVAL_PAGE);
  const main = await page.innerText('main');
  t.match(main, 'People agree with 0 of 1 reviewed outcome (0%). Not enough reviews');
  t.match(
    await page.innerText('.disagreements'),
    /fail\s*greeting\s*a person says pass, .*The eval\s+As it was said\..*The person\s+The agent was/s,
  );
  await inspectPage(t, tested.service.url + EVAL_PAGE);
  await follow(page, '.disagreements a');
  await inspectPage(t, page.url());

  await page.click('summary:text("Change the mark")');
  t.equal(await page.inputValue('[name=note]'), 'The agent was polite in its own words.');
  t.match(await clickButton(page, 'It is right'), 'Marked right by a person');
  t.notMatch(await read(tested, EVAL_PAGE), 'Marked wrong');
  await page.click('summary:text("Change the mark")');
  t.match(await clickButton(page, 'Clear the mark'), 'Is this outcome right?');
  t.match(await read(tested, EVAL_PAGE), 'No outcome was reviewed.');
  t.notMatch(await read(tested, '/evals'), 'people agree', 'no column without reviews');
  t.same(errors, []);
});

void t.test('kappa appears with enough reviews, and all are exported', async (t) => {
  const tested = await withOutcomes(t, { pass: 12, fail: 10 });
  for (let nth = 0; nth < 22; nth += 1) {
    const isWrong = nth === 0 || nth === 1 || nth === 21;
    const fields = { session: `ses-${nth}`, mark: isWrong ? 'wrong' : 'right', note: `n${nth}` };
    t.equal((await review(tested, 'review', fields)).status, 303);
  }
  // The eval says 12 pass, people 11; they agree on 10 passes and 9 fails.
  const text = await read(tested, EVAL_PAGE);
  t.match(text, 'People agree with 19 of 22 reviewed outcomes (86.4%). Cohen&#39;s kappa is 0.73');
  t.match(await read(tested, '/evals'), /people agree .* 19 of 22 kappa 0\.73/, 'in the list');
  const exported = await exportOf(tested);
  t.ok(isMessage('EvalReviews', exported));
  t.match(exported, { eval: { id: 'polite' }, reviewed: 22, right: 19, total: 22 });
  t.equal(exported.kappa?.toFixed(4), '0.7273');
  t.equal(exported.reviews.length, 22);
  const first = exported.reviews.find(({ session_id: id }) => id === 'ses-21');
  t.match(first, { outcome: 'fail', mark: 'wrong', note: 'n21', eval_version: null });
  t.equal(first?.url, tested.service.url + linkOf(21));
});

void t.test('a review needs an outcome that passed or failed, of the same owner', async (t) => {
  const tested = await withOutcomes(t, { pass: 1, fail: 0 });
  const mark = { session: 'ses-0', mark: 'wrong' };
  for (const [fields, status] of [
    [{ ...mark, eval: 'broken' }, 404],
    [{ ...mark, eval: 'unknown' }, 404],
    [{ ...mark, session: 'unknown' }, 404],
    [{ ...mark, mark: 'maybe' }, 400],
    [{ ...mark, note: 'x'.repeat(2_001) }, 400],
    [{ ...mark, _token: 'wrong' }, 403],
  ] as const) {
    t.equal((await review(tested, 'review', fields)).status, status, JSON.stringify(fields));
  }
  t.equal((await exportOf(tested)).total, 0);
  t.equal((await review(tested, 'review', mark)).status, 303);
  t.equal((await exportOf(tested)).total, 1);
  await tested.admin('POST /reset', { to: 'empty' });
  await tested.admin('POST /evals', makeContainsEval('polite', 'please'));
  t.equal((await exportOf(tested)).total, 0, 'deleted with its session');
});
