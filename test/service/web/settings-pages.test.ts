/** The page of the settings in a real browser: live evals, the daily run, and the backlog. */
import t, { type Test } from 'tap';
import { renderBacklog } from '../../../src/service/web/settings/backlog.ts';
import { openPage } from '../../support/pages/browser.ts';
import { clickButton, follow } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

/** Closes conversations, each of which is a day older than the one before. */
async function closeConversations(
  { trace, end }: ServiceUnderTest,
  ...ids: string[]
): Promise<void> {
  const dayMs = 86_400_000;
  for (const [nth, id] of ids.entries()) {
    const startMs = Date.UTC(2026, 10, 20, 9) - nth * dayMs;
    await trace(makeSpan({ conversationId: id, startMs }));
    await end(id);
  }
}

const open = async (t: Test, { service }: ServiceUnderTest, path = '/settings') =>
  openPage(t, service.url + path);

void t.test('the overview leads to the evals that score the backlog', async (t) => {
  const tested = await withEmptyService(t);
  const { admin, drain, production } = tested;
  await closeConversations(tested, 'c-1', 'c-2');
  const { page, errors } = await open(t, tested, '/');
  t.match(await page.innerText('.remark'), '2 closed conversations are not scored');
  await follow(page, 'text=Choose evals and score them');
  const empty = await page.innerText('main');
  t.match(empty, 'To score the backlog, pick evals below first.');
  t.match(empty, /responds with evaluating in any case; without evals, evaluations_queued is 0/);
  t.match(empty, 'There are no evals yet.');
  t.equal(await page.getAttribute('text=Add an eval', 'href'), '/evals/new');

  await admin('POST /evals', makeContainsEval('way', 'way'));
  await page.reload();
  t.match(
    await clickButton(page, 'Save and score 2 conversations'),
    'Choose at least one eval that scores the conversations.',
  );
  await page.check('[value=way]');
  await page.fill('[name=run_name]', 'Shop');
  const scored = await clickButton(page, 'Save and score 2 conversations');
  t.match(scored, 'The settings were saved, and the conversations are being queued.');
  t.notMatch(scored, 'not scored');
  await page.getByText('2 conversations of the backlog were queued, with 2 evals').waitFor();
  t.equal(await page.locator('button:has-text("score")').count(), 0, 'nothing is left to score');
  t.ok(await page.isChecked('[value=way]'));
  t.match(await page.innerText('.form'), 'Conversations of today join the run “Shop 2026-11-20”.');
  await drain();
  const { items } = await production();
  // The runs kept the name of the day when the conversations were closed.
  t.same(
    items.map(({ run, outcome_summary: { passed_count: passed } }) => [run, passed]),
    [
      ['Live traces 2026-11-20', 1],
      ['Live traces 2026-11-19', 1],
    ],
    'each conversation is in the run of its date',
  );
  t.same(
    errors.filter((error) => !error.includes('400')),
    [],
  );
});

void t.test('a large backlog is queued in the background, with its progress', async (t) => {
  const tested = await withService(t);
  const { service, admin, trace, drain, production } = tested;
  const count = 250;
  await trace(
    ...Array.from({ length: count }, (_, nth) => makeSpan({ conversationId: `c-${nth}` })),
  );
  await admin('POST /clock', { advance_ms: 86_400_001 });
  await admin('POST /evals', makeContainsEval('way', 'way'));
  const { page, errors } = await open(t, tested);
  t.match(await page.innerText('.remark'), `${count} closed conversations are not scored`);
  const token = await page.locator('main [name=_token]').first().inputValue();
  const send = () =>
    fetch(`${service.url}/settings`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: service.url },
      body: new URLSearchParams([
        ...[['_token', token] as [string, string], ['evals', 'way'] as [string, string]],
        ...[['run_name', 'Shop'] as [string, string], ['then', 'score'] as [string, string]],
      ]),
    });
  t.equal((await send()).status, 303);
  t.equal((await send()).status, 303, 'a second click changes nothing');
  const running = await (await fetch(`${service.url}/settings`)).text();
  // The service may have queued all of them by now.
  t.match(running, /The backlog is being queued|conversations of the backlog\s+were queued/);
  t.notMatch(running, 'Save and score');
  await page.reload();
  await page.getByText(`${count} conversations of the backlog were queued`).waitFor();
  await drain();
  t.equal((await production('?limit=1')).total, count, 'each conversation is scored once');
  t.same(errors, []);
});

void t.test('the progress of a backlog that is being queued is shown, and changes', (t) => {
  const progress = { conversations: 100, evaluations_queued: 200, runs: [], isRunning: true };
  const { content, isFinal } = renderBacklog(
    {
      unscoredConversations: 150,
      hasEvals: true,
      progress: { ...progress, problem: undefined },
    },
    {
      owner: undefined,
      serviceUrl: 'http://127.0.0.1:1',
      token: undefined,
      notice: undefined,
      keyHeader: undefined,
      hasSession: false,
    },
  );
  t.match(content.text, /The backlog is being queued\..*100 conversations\s+queued, 150 to go/s);
  t.match(content.text, /<progress\s+max="250"\s+value="100"/);
  t.equal(isFinal, false);
  t.end();
});

void t.test('wrong settings are explained next to the field and keep what was typed', async (t) => {
  const tested = await withEmptyService(t);
  for (const nth of [1, 2, 3, 4, 5, 6]) {
    await tested.admin('POST /evals', makeContainsEval(`e-${nth}`, 'x'));
  }
  const { page } = await open(t, tested);
  for (const box of await page.locator('[name=evals]').all()) await box.check();
  await page.fill('[name=run_name]', '   ');
  await clickButton(page, 'Save');
  t.match(await page.innerText('fieldset [role=alert]'), 'Choose at most 5 evals. You chose 6.');
  t.match(await page.innerText('.field [role=alert]'), 'must have 1 to 200 characters');
  t.equal(await page.getAttribute('[name=run_name]', 'aria-invalid'), 'true');
  t.equal(await page.locator('[name=evals]:checked').count(), 6, 'the choice stays');
  t.same(await tested.admin('GET /settings'), { evals: [], run_name: 'Live traces' });
  await page.uncheck('[value=e-6]');
  await page.fill('[name=run_name]', 'Nightly "A" <b>');
  t.match(await clickButton(page, 'Save'), 'The settings were saved.');
  t.match(await tested.admin('GET /settings'), {
    evals: ['e-1', 'e-2', 'e-3', 'e-4', 'e-5'],
    run_name: 'Nightly "A" <b>',
  });
  // Another page deletes an eval while this one is open.
  await page.uncheck('[value=e-1]');
  await page.check('[value=e-6]');
  await tested.admin('DELETE /evals/e-6');
  t.match(await clickButton(page, 'Save'), /must be the id of an eval, got "e-6"/);
});

void t.test(
  'deleted evals are shown until they are removed; a missing judge is named',
  async (t) => {
    const tested = await withEmptyService(t);
    const { admin } = tested;
    await admin('POST /evals', makeContainsEval('gone', 'x'));
    await admin('POST /evals', {
      id: 'judged',
      name: 'Judged',
      kind: 'judge',
      params: { criteria: 'The agent is polite.' },
    });
    await admin('PUT /settings', { evals: ['gone', 'judged'] });
    await admin('DELETE /evals/gone');
    const { page } = await open(t, tested);
    t.match(await page.innerText('main'), /gone was deleted; uncheck it to remove it/);
    t.match(
      await page.innerText('.remark'),
      /No LLM judge is configured\. Set SANDBOX_KIT_JUDGE_URL/,
    );
    await page.fill('[name=run_name]', 'Renamed');
    await clickButton(page, 'Save');
    t.match(await admin('GET /settings'), { evals: ['gone', 'judged'], run_name: 'Renamed' });
    await page.uncheck('[value=gone]');
    t.notMatch(await clickButton(page, 'Save'), 'was deleted');
    t.match(await admin('GET /settings'), { evals: ['judged'] });
  },
);

void t.test('a reader without the first key sees the settings and can change none', async (t) => {
  const keys = [{ key: 'the-first-key' }, { key: 'the-key-of-team-b', owner: 'team b' }];
  const service = await withStartedService(t, { host: '0.0.0.0', keys });
  const { page } = await openPage(t, `${service.url}/settings`);
  await page.fill('[name=key]', 'the-key-of-team-b');
  t.match(
    await clickButton(page, 'Sign in'),
    /Evals\s+none\s+Base name of the daily run\s+Live traces\s+To change this, sign in/,
  );
  t.equal(await page.locator('main button').count(), 0);
  for (const path of ['/settings', '/keys/generate', '/keys/revoke', '/evals/save', '/evals/try']) {
    const response = await page.request.post(service.url + path, {
      form: { run_name: 'Taken over' },
      headers: { origin: service.url, accept: 'application/json' },
    });
    t.equal(response.status(), 403, path);
  }
});

void t.test('with hundreds of evals, one that is not shown is chosen by its id', async (t) => {
  const tested = await withEmptyService(t);
  const evals = Array.from({ length: 301 }, (_, nth) => makeContainsEval(`e-${nth}`, 'way'));
  await tested.admin('POST /seed', { evals });
  const { page } = await open(t, tested);
  t.match(await page.innerText('main'), /Another eval, by its id\s+1 more eval not shown above/);
  t.notMatch(await page.innerText('main'), '__admin');
  const id = page.getByLabel('Another eval, by its id');
  await id.fill('e-999');
  t.match(await clickButton(page, 'Save'), /e-999/);
  await page.goto(`${tested.service.url}/settings`);
  await id.fill('e-300');
  t.match(await clickButton(page, 'Save'), 'The settings were saved.');
  t.match(await tested.admin('GET /settings'), { evals: ['e-300'] });
  await clickButton(page, 'Save');
  t.match(await tested.admin('GET /settings'), { evals: ['e-300'] }, 'an empty field adds none');
});
