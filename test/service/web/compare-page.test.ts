/** The comparison of two runs in a real browser. */
import t, { type Test } from 'tap';
import { startAgent } from '../../../reference-agent/index.ts';
import type { Scenario } from '../../../src/contract/index.ts';
import { openPage } from '../../support/pages/browser.ts';
import { follow } from '../../support/pages/service-page.ts';
import { reply, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const makeParcel = (steps: string[]): Scenario =>
  makeScenario({
    id: 'parcel',
    name: 'Late parcel',
    user: {
      opening: 'Where is my order A-1001?',
      steps: steps.map((say) => ({ say })),
    },
    evals: [makeContainsEval('ships', 'shipped')],
  });
const makeHours = (text: string): Scenario =>
  makeScenario({
    id: 'hours',
    name: 'Opening hours',
    user: { opening: 'When are you open?' },
    evals: [makeContainsEval('tells', text)],
  });
const same: Scenario = makeScenario({
  id: 'same',
  user: { opening: 'Hello.' },
  evals: [{ id: 'short', name: 'Short', kind: 'max_turns', params: { max: 9 } }],
});

/** Runs scenarios, and returns the id of the simulation as the deep links of its results have it. */
async function simulate(tested: ServiceUnderTest, name: string, body: object): Promise<string> {
  await tested.admin('POST /simulations', { name, ...body });
  await tested.drain();
  const { items } = await tested.simulations();
  const item = items.find(({ simulation }) => simulation === name);
  return decodeURIComponent(new URL(item?.url ?? '').pathname.split('/')[2] ?? '');
}

/** Two simulations: one scenario regressed, one was fixed, one is unchanged. */
async function simulateTwice(
  t: Test,
  tested: ServiceUnderTest,
): Promise<[before: string, after: string]> {
  const agent = await startAgent();
  const { url } = await withSandboxDouble(t, { chat: reply('We open at nine.') });
  t.teardown(() => agent.stop());
  const run = { samples: 5, seed: 'nightly' };
  const before = await simulate(tested, 'Monday', {
    ...run,
    agent: { name: 'Shop agent', url: agent.url },
    scenarios: [makeParcel(['Thanks.']), makeHours('nine'), same],
  });
  const after = await simulate(tested, 'Tuesday', {
    ...run,
    agent: { name: 'Shop agent', url },
    scenarios: [makeParcel(['Really?']), makeHours('nine'), same],
  });
  return [before, after];
}

void t.test('two simulations: regressions first, transcripts, and what changed', async (t) => {
  const tested = await withService(t);
  const [a, b] = await simulateTwice(t, tested);
  const path = `/compare?a=${a}&b=${b}`;
  const { page, errors } = await openPage(t, tested.service.url + path);
  t.match(
    await page.innerText('.verdict'),
    /^Better and worse 10 of 15 sessions passed before, 10 of 15 now/,
  );
  t.match(await page.innerText('.verdict'), /1 scenario regressed, 1 scenario improved/);
  t.match(
    await page.innerText('[aria-label=Regressions] tbody'),
    /parcel\s+regressed\s+passed 5\/5\s+failed 0\/5\s+p = 0\.0\d\d/,
  );
  t.match(
    await page.innerText('[aria-label=Improvements] tbody'),
    /hours\s+improved\s+failed 0\/5/,
  );
  t.equal(await page.isVisible('[aria-label=Unchanged]'), false, 'unchanged ones are folded');
  await page.click('text=Unchanged: 1 scenario');
  t.match(await page.innerText('[aria-label=Unchanged] tbody'), /same\s+same\s+passed 5\/5/);
  const headings = await page.locator('main h2').allInnerTexts();
  t.equal(headings[0], 'Regressions');
  const sideRow = page.locator('[aria-label="Compared runs"] tbody tr').first();
  t.match(
    (await sideRow.innerText()).replaceAll(/\s+/g, ' '),
    /Monday [-\d]+ \d\d:\d\d(:\d\d)? [-\d]+ \d\d:\d\d(:\d\d)? 15/,
    'seconds only if the minutes are the same',
  );
  t.equal(await page.locator('[aria-label=Regressions] th a').count(), 0, 'has no page');
  await tested.admin('POST /scenarios', makeHours('nine'));
  await page.reload();
  await follow(page, '[aria-label=Improvements] th a');
  t.equal(await page.innerText('h1'), 'Opening hours', 'a stored scenario has a link');
  await page.goBack();

  const changes = await page.innerText('[aria-label=Changes] tbody');
  t.match(changes, /Agent\s+Shop agent at http.*\s+Shop agent at http/);
  t.match(changes, /Scenario parcel: user\s+.*Thanks\..*\s+.*Really\?/);
  t.notMatch(changes, 'Scenario hours', 'an unchanged scenario is not listed');
  t.notMatch(changes, 'Seed');

  const sides = page.locator('.pair > div');
  t.equal(await sides.count(), 2, 'one pair for the regressed scenario');
  t.match(await sides.nth(0).innerText(), /Before\s+passed sample 1/);
  t.match(await sides.nth(1).innerText(), /After\s+failed sample 1\s+Says shipped: /);
  for (const side of await sides.all()) {
    t.match(await side.locator('li.differs').innerText(), /Turn 1\s+first difference/);
  }
  t.match(await sides.nth(1).locator('mark.changed').allInnerTexts(), ['We open at nine.']);
  const boxes = await Promise.all([0, 1].map((nth) => sides.nth(nth).boundingBox()));
  t.equal(boxes[0]?.y, boxes[1]?.y, 'side by side');
  t.same(errors, []);
  await follow(page, sides.nth(1).locator('a').first());
  t.match(await page.innerText('main'), /We open at nine\./);

  const phone = await openPage(t, tested.service.url + path, {
    viewport: { width: 390, height: 844 },
  });
  const stacked = phone.page.locator('.pair > div');
  const [first, second] = await Promise.all([0, 1].map((nth) => stacked.nth(nth).boundingBox()));
  t.ok((second?.y ?? 0) > (first?.y ?? 0), 'below each other on a phone');
  await follow(phone.page, 'text=Swap before and after');
  t.match(await phone.page.innerText('[aria-label=Regressions] tbody'), /hours\s+regressed/);
});

void t.test('transcripts that say the same are not shown', async (t) => {
  const tested = await withService(t);
  const simulation = (id: string, day: number, outcome: 'pass' | 'fail') => ({
    id,
    name: id,
    agent: 'Shop agent',
    sessions: Array.from({ length: 5 }, (_, nth) => ({
      id: `${id}-${nth}`,
      scenario: 'parcel',
      persona: 'calm',
      started_at: `2026-11-${day}T09:30:00Z`,
      turns: [{ user_input: 'Where is it?', agent_response: 'On its way.' }],
      outcomes: [{ eval_name: 'Polite', outcome, reasoning: 'It was.' }],
    })),
  });
  await tested.admin('POST /seed', {
    simulations: [simulation('monday', 16, 'pass'), simulation('tuesday', 17, 'fail')],
  });
  const { page } = await openPage(t, `${tested.service.url}/compare?a=monday&b=tuesday`);
  await page.click('summary h3');
  t.match(await page.innerText('details:has(.pair)'), 'Both transcripts say the same.');
  const pair = await page.innerText('.pair');
  t.match(pair, /Before\s+passed[^]*After\s+failed[^]*Polite/);
  t.notMatch(pair, 'On its way.');
});

const sayPolite = (count: number, failed: number, more: object, prefix: string, day: string) =>
  Array.from({ length: count }, (_, nth) => ({
    source_session_id: `${prefix}-${nth}`,
    started_at: `2026-11-${day}T09:30:00Z`,
    ...more,
    turns: [{ user_input: 'Hello.', agent_response: 'Hi.' }],
    outcomes: [
      { eval_name: 'Polite', outcome: nth < failed ? 'fail' : 'pass', reasoning: 'It was.' },
      { eval_name: 'Short', outcome: nth < failed / 10 ? 'fail' : 'pass', reasoning: 'It was.' },
      { eval_name: 'Stable', outcome: nth === 0 ? 'error' : 'pass', reasoning: 'It was.' },
    ],
  }));

void t.test(
  'two production runs: rates per eval, and whether a difference may be chance',
  async (t) => {
    const tested = await withService(t);
    await tested.admin('POST /seed', {
      runs: [
        { name: 'Monday', sessions: sayPolite(40, 2, { metadata: { version: '1.4' } }, 'm', '16') },
        {
          name: 'Tuesday',
          sessions: sayPolite(40, 20, { metadata: { version: '1.5' } }, 't', '17'),
        },
      ],
    });
    const { page, errors } = await openPage(t, `${tested.service.url}/runs?kind=production`);
    await page.locator('[aria-label="Before: Monday"]').check();
    await page.locator('[aria-label="After: Tuesday"]').check();
    await follow(page, 'text=Compare');
    t.match(await page.innerText('.verdict'), /^Worse 1 eval regressed\./);
    t.match(await page.innerText('main'), /Sessions without a failed eval: .* not required\./);
    t.match(
      await page.innerText('main'),
      'Sessions without a failed eval: 38 of 40 before, 20 of 40 after (p < 0.001).',
    );
    t.match(
      await page.innerText('[aria-label=Regressions] tbody'),
      /Polite\s+-45 points\s+38 of 40 passed \(95%\)\s+2 failed\s+20 of 40 passed \(50%\)\s+20 failed\s+p < 0\.001/,
    );
    t.match(
      await page.innerText('[aria-label="Differences that may be chance"] tbody'),
      /Short\s+-2\.5 points.*p = 1\.000/s,
    );
    await page.click('text=Unchanged: 1 eval');
    t.match(
      await page.innerText('[aria-label=Unchanged] tbody'),
      /39 of 39 passed \(100%\), 1 errored/,
    );
    t.match(await page.innerText('[aria-label=Changes] tbody'), /Tag version\s+1\.4\s+1\.5/);
    await follow(page, page.locator('[aria-label=Regressions] a').last());
    t.match(await page.innerText('main'), /20 sessions with these filters/);
    t.same(errors, []);
  },
);

/** Returns runs of consecutive days, in which sessions of a failed outcome of each eval. */
const seedDays = (
  evals: readonly { id: string; name: string; failed: number }[],
  names: readonly string[],
) => ({
  runs: names.map((name, index) => ({
    name,
    sessions: Array.from({ length: 4 }, (_, nth) => ({
      source_session_id: `${name} ${nth}`,
      started_at: `2026-11-${15 + index}T09:30:00Z`,
      outcomes: evals.map(({ id, name: evalName, failed }) => ({
        eval: id,
        eval_name: evalName,
        outcome: nth < failed ? 'fail' : 'pass',
      })),
    })),
  })),
});

void t.test('a comparison against time says so, and leads to the runs next to it', async (t) => {
  const tested = await withService(t);
  const evals = [{ id: 'polite', name: 'Polite', failed: 1 }];
  await tested.admin('POST /seed', seedDays(evals, ['Sunday', 'Monday', 'Tuesday', 'Wednesday']));
  const { page, errors } = await openPage(t, `${tested.service.url}/compare?a=3&b=2`);
  const sides = page.locator('[aria-label="Compared runs"] tbody tr');
  const compared = async () =>
    (await sides.locator('td:nth-child(2)').allInnerTexts()).map((name) => name.trim());
  const others = page.locator('[aria-label="Other comparisons"] a');
  t.same(await compared(), ['Tuesday', 'Monday']);
  t.match(
    await page.innerText('[role=note]'),
    'The run under "before" is newer than the one under',
  );
  await follow(page, '[role=note] >> text=Swap before and after');
  t.same(await compared(), ['Monday', 'Tuesday']);
  t.equal(await page.locator('[role=note]').count(), 0);
  t.same(await others.allInnerTexts(), [
    'Monday with the previous run, Sunday',
    'Tuesday with the next run, Wednesday',
  ]);
  await follow(page, others.last());
  t.same(await compared(), ['Tuesday', 'Wednesday']);
  t.same(await others.allInnerTexts(), ['Tuesday with the previous run, Monday']);
  await follow(page, '[aria-label="Compared runs"] >> text=Wednesday');
  t.equal(await page.locator('text=Compare with the next run').count(), 0, 'it is the newest');
  await follow(page, 'text=Compare with the previous run');
  t.same(await compared(), ['Tuesday', 'Wednesday']);
  await page.goto(`${tested.service.url}/compare?a=1&b=3`);
  t.same(await others.allInnerTexts(), [
    'Sunday with the next run, Monday',
    'Tuesday with the previous run, Monday',
    'Tuesday with the next run, Wednesday',
  ]);
  t.same(errors, []);
});

void t.test('the failures of an eval are those of this eval in this run', async (t) => {
  const tested = await withService(t);
  const polite = [
    { id: 'polite', name: 'Polite', failed: 0 },
    { id: 'polite-2', name: 'Polite 2', failed: 0 },
    { id: 'strict', name: 'Polite', failed: 0 },
  ];
  const [first, second, third] = polite;
  if (!first || !second || !third) throw new Error('Three evals are needed.');
  await tested.admin('POST /seed', seedDays(polite, ['Monday']));
  const failing = [
    { ...first, name: 'Very polite', failed: 1 },
    { ...second, failed: 2 },
    { ...third, failed: 3 },
  ];
  const [, tuesday] = seedDays(failing, ['', 'Monday 2']).runs;
  const [, , wednesday] = seedDays(failing, ['', '', 'Monday 2 again']).runs;
  await tested.admin('POST /seed', { runs: [tuesday, wednesday] });
  const path = '/compare?a=1&b=2';
  const { page, errors } = await openPage(t, tested.service.url + path);
  const group = page.locator('[aria-label="Differences that may be chance"] tbody tr');
  const rows = (await group.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim());
  t.match(rows, [
    /^Polite -75 points 4 of 4 passed \(100%\) 1 of 4 passed \(25%\) 3 failed/,
    /^Polite 2 -50 points/,
    /^Very polite -25 points 4 of 4 passed/,
  ]);
  for (const [name, count] of [
    ['Very polite', 1],
    ['Polite 2', 2],
    ['Polite', 3],
  ] as const) {
    await page.goto(tested.service.url + path);
    await follow(page, group.filter({ hasText: `${count} failed` }).locator('a'));
    const found = await page.innerText('main');
    t.match(found, `Only run Monday 2, eval ${name}. Show all`);
    t.match(found, `${count === 1 ? '1 session' : `${count} sessions`} with these filters`);
    t.equal(await page.locator('[aria-label=Sessions] tbody tr').count(), count);
  }
  await page.selectOption('[name=outcome]', '');
  await follow(page, 'text=Filter');
  t.match(
    await page.innerText('main'),
    /Only run Monday 2, eval Polite\..*4 sessions/s,
    'form keeps it',
  );
  await follow(page, 'main p >> text=Monday 2');
  const evals = page.locator('[aria-label=Evals] tbody tr');
  t.match(
    (await evals.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim()),
    [/^Polite 1 of 4 25% 3/, /^Polite 2 2 of 4 50% 2/, /^Very polite 3 of 4 75% 1/],
  );
  await page.goto(`${tested.service.url}/production-eval/1`);
  t.match(
    (await evals.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim()).sort(),
    [/^Polite 2 4 of 4/, /^Polite polite 4 of 4/, /^Polite strict 4 of 4/],
    'evals that share a name have their ids',
  );
  await page.goto(`${tested.service.url}/production-eval/2`);
  await follow(page, evals.first().locator('a'));
  t.equal(await page.locator('[aria-label=Sessions] tbody tr').count(), 3);
  t.same(errors, []);
});

void t.test('outcomes of an edited eval are kept apart, and not compared', async (t) => {
  const tested = await withService(t);
  const { admin, trace, end, drain } = tested;
  for (const [nth, [name, model, text]] of (
    [
      ['Monday', 'small-1', 'please'],
      ['Tuesday', 'small-2', 'thanks'],
      ['Tuesday', 'small-2', 'please'],
    ] as const
  ).entries()) {
    await admin('POST /evals', { ...makeContainsEval('polite', text), name: 'Polite' });
    await admin('PUT /settings', { evals: ['polite'], run_name: name });
    const id = `${name} ${nth}`;
    const attributes = { 'gen_ai.conversation.id': id, 'gen_ai.request.model': model };
    const traceId = String(nth + 1).repeat(32);
    await trace(makeSpan({ traceId, spanId: traceId.slice(16), attributes }));
    await end(id);
    await drain();
  }
  const { items } = await tested.production();
  const idOf = (run: string): string =>
    new URL(items.find((item) => item.run.startsWith(run))?.url ?? '').pathname.split('/')[2] ?? '';
  const path = `/compare?a=${idOf('Monday')}&b=${idOf('Tuesday')}`;
  const { page } = await openPage(t, tested.service.url + path);
  t.match(await page.innerText('[aria-label=Changes] tbody'), /Model\s+.*small-[12]/);
  t.match(await page.innerText('.verdict'), /not compared, because the evals or their versions/);
  const rows = await page.locator('[aria-label="Not comparable"] tbody tr').allInnerTexts();
  t.match(rows.map((row) => row.replaceAll(/\s+/g, ' ').trim()).sort(), [
    /^Polite version [0-9a-f]{8} absent .*edited: this version only after$/,
  ]);
  await page.goto(`${tested.service.url}/production-eval/${idOf('Tuesday')}`);
  const evals = await page.locator('[aria-label=Evals] tbody tr').allInnerTexts();
  t.equal(evals.length, 2, 'each version has its row');
  t.match(evals, [/Polite version [0-9a-f]{8}/, /Polite version [0-9a-f]{8}/]);
  await page.goto(`${tested.service.url}/evals`);
  t.match(await page.innerText('[aria-label=Evals] tbody'), /of 2 since it was edited/);
});

void t.test('ids that cannot be compared lead to a list to choose from', async (t) => {
  const tested = await withService(t);
  const open = async (path: string) => {
    const response = await tested.send(`GET ${path}`, { headers: { accept: 'text/html' } });
    const { page } = await openPage(t, tested.service.url + path);
    return { status: response.status, text: await page.innerText('main'), page };
  };
  const empty = await open('/compare');
  t.equal(empty.status, 200);
  t.match(empty.text, /There are fewer than two runs\./);
  await tested.admin('POST /seed', {
    runs: ['One', 'Two', 'Three'].map((name) => ({
      name,
      sessions: sayPolite(2, 1, {}, name, '16'),
    })),
  });
  for (const [path, status, problem] of [
    ['/compare?a=9&b=1', 404, /There is no run "9"\./],
    ['/compare?a=1&b=sim_unknown', 404, /There is no run "sim_unknown"\./],
    ['/compare?a=1&b=1', 400, /Both are the same run\./],
    ['/compare?kind=simulation&a=1&b=2', 404, /There is no simulation "1"\./],
    ['/compare?a=1&b=%3C/style%3E', 404, /There is no run "<\/style>/],
  ] as const) {
    const shown = await open(path);
    t.equal(shown.status, status, path);
    t.match(shown.text, problem, path);
  }
  const { page } = await open('/compare?b=1');
  t.ok(await page.isChecked('[aria-label="After: One"]'), 'the given one is chosen');
  await follow(page, 'text=Compare >> visible=true >> nth=-1');
  t.match(page.url(), /b=1/);
});
