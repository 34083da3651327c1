/** Checks and load tests that the page of an agent starts, and the export of its readiness. */
import t from 'tap';
import { isMessage, schemas, type ReadinessReport } from '../../../src/contract/index.ts';
import { failed, report, row } from '../../support/conformance/check-report.ts';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { assertFits, openPage } from '../../support/pages/browser.ts';
import { clickButton, follow, openDetails } from '../../support/pages/service-page.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { respondWith, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';

const KEY = 'sandbox-key-1234';
const json = { accept: 'application/json' };

void t.test(
  'a check is started on the page; its cost is shown first, its report counts',
  async (t) => {
    const { service, admin } = await withEmptyService(t);
    const { agent } = await withReferenceAgent(t, { apiKey: KEY });
    await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url, api_key: KEY });
    const { page, errors } = await openPage(t, `${service.url}/agents/shop`);
    const question = await follow(page, 'a:has-text("Run a check")');
    t.match(question, /The run sends \d+ requests/);
    t.match(question, /\d+ requests reach the model of the agent, and may cost money\./);
    await assertAccessibleAtNight(t, page);
    await page.uncheck('[name=calls]');
    const cheaper = await clickButton(page, 'Update the cost');
    t.not(/sends \d+ requests/.exec(cheaper)?.[0], /sends \d+ requests/.exec(question)?.[0]);
    t.notOk(await page.isChecked('[name=calls]'), 'the choice is kept');
    await clickButton(page, 'Start');
    await page.waitForSelector('main:not(:has-text("is running")) .parts');
    const text = (await page.innerText('main')).replaceAll(/\s+/g, ' ');
    t.match(text, /Conformance (Conforming|Not conforming)/);
    t.match(await page.innerText('[aria-label=Reports]'), 'Conformance', 'in the table, too');
    t.notMatch(text, 'is running');
    await follow(page, '.parts a:has-text("ended")');
    t.match(await page.innerText('main'), 'All requirements');
    t.same(errors, []);
  },
);

void t.test(
  'a load test is started with a rate and a duration; wrong ones are refused',
  async (t) => {
    const { service, admin } = await withEmptyService(t);
    const { agent } = await withReferenceAgent(t, { apiKey: KEY });
    await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url, api_key: KEY });
    const { page } = await openPage(t, `${service.url}/agents/shop`);
    const question = await follow(page, 'a:has-text("Run a load test")');
    t.match(question, '100 requests per second for 60 s', 'the default judges all targets');
    await page.fill('[name=rate]', '1000');
    await page.fill('[name=seconds]', '4');
    const refused = await clickButton(page, 'Start');
    t.match(refused, 'Enter a whole number from 1 to 200.');
    t.match(refused, 'Enter a whole number from 5 to 900.');
    await assertAccessibleAtNight(t, page);
    await page.fill('[name=rate]', '10');
    await page.fill('[name=seconds]', '5');
    t.match(await clickButton(page, 'Update the cost'), '10 requests per second for 5 s');
    t.match(await clickButton(page, 'Start'), 'The load test is running:', 'it takes seconds');
    await page.waitForSelector('main:not(:has-text("is running")) .parts');
    t.match(
      (await page.innerText('.parts')).replaceAll(/\s+/g, ' '),
      /Load (Pass|Fail|Not proven|Invalid run)/,
    );
  },
);

void t.test('a test that runs is shown, excludes another one, and can be canceled', async (t) => {
  const { service, admin, send } = await withEmptyService(t);
  const double = await withSandboxDouble(t);
  const hanging = (): void => undefined;
  double.setBehavior({ health: hanging, create: hanging, chat: hanging, delete: hanging });
  await admin('POST /agents', { id: 'slow', name: 'Slow', url: double.url });
  const { page } = await openPage(t, `${service.url}/agents/slow/check`);
  t.match(await clickButton(page, 'Start'), 'The check is running:');
  t.notMatch(await page.innerText('.parts'), 'Run a check', 'only one test of an agent runs');
  await assertAccessibleAtNight(t, page);
  const { page: other } = await openPage(t, `${service.url}/agents/slow/load`);
  await other.fill('[name=rate]', '17');
  const refused = await clickButton(other, 'Start');
  t.match(refused, 'A test of the agent "Slow" is running.');
  t.match(refused, 'The check is running:', 'the test is shown');
  t.equal(await other.inputValue('[name=rate]'), '17', 'the form keeps its input');
  await assertAccessibleAtNight(t, other);
  t.match(await follow(other, 'text="Watch its progress"'), 'The check is running:');
  await other.goBack();
  const canceled = await clickButton(other, 'Cancel the test');
  t.match(canceled, 'The check was canceled. It left no report.');
  t.match(canceled, /Conformance\s+No report/);
  t.equal((await send('GET /agents/slow/readiness', { key: null })).status, 200);
});

void t.test('a sandbox without voice is not asked for calls', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t, { voice: null });
  await admin('POST /agents', { id: 'text', name: 'Text', url: agent.url });
  await admin('POST /agents/text/connection', {});
  const { page } = await openPage(t, `${service.url}/agents/text`);
  t.match(
    await page.innerText('.parts'),
    'Chat, health, and users respond. The sandbox has no endpoint for voice.',
  );
  const question = await follow(page, 'a:has-text("Run a check")');
  t.match(question, 'The connection check found no voice endpoint.');
  t.notOk(await page.isChecked('[name=calls]'));
  t.notMatch(question, /\d calls/);
});

void t.test('a connection that was checked is not missing evidence', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const double = await withSandboxDouble(t, { chat: respondWith(500, '{}') });
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: double.url });
  await admin('POST /agents/shop/connection', {});
  const response = await fetch(`${service.url}/agents/shop/readiness`, { headers: json });
  t.match(await response.json(), {
    sentence:
      'Not judged yet: evidence is missing for conformance, load, and simulations. Connection: reachable, with errors.',
    parts: [{ id: 'connection', next_step: 'Fix the connection, and check it again.' }],
  });
});

void t.test('the page of an agent says what to fix first, and shows the details', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const url = 'http://127.0.0.1:1';
  await admin('POST /agents', { id: 'shop', name: 'Shop', url });
  const causes = [{ description: 'Make it a string', clears: ['CHAT-024'], verified: true }];
  const rows = [row('CHAT-001'), row('CHAT-024', failed)];
  const check = report(rows, { verdict: 'not-conforming', causes, requirementSet: '0.2' });
  await admin('POST /agents/shop/reports', check);
  const [load] = schemas.LoadReport.examples;
  const targets = load.targets.map((target) => ({
    ...target,
    verdict: 'NOT PROVEN',
    reason: 'Only 20 requests/s.',
  }));
  const notProven = { ...load, sandbox: url, verdict: 'NOT PROVEN', exitCode: 3, targets };
  await admin('POST /agents/shop/reports', notProven);
  const { page, errors } = await openPage(t, `${service.url}/agents/shop`);
  t.match(
    await page.innerText('.parts'),
    /ended .* ago, sandbox-kit 0\.1\.0, requirement set 0\.2/,
  );
  const reasons = await page.locator('.fix-first li').allInnerTexts();
  t.equal(reasons[0], 'Conformance: Make it a string: clears CHAT-024.');
  t.match(reasons[1], /^Connection: not checked .* Check the connection\./);
  t.equal(reasons[2], `Load: not proven ${targets[0]?.statement} Only 20 requests/s.`);
  t.match(reasons.at(-1), /^Simulations: none yet .* Run scenarios\./);
  t.equal(reasons.length, 3 + targets.length, 'each part has a cause');
  const topOf = async (selector: string): Promise<number> =>
    (await page.locator(selector).boundingBox())?.y ?? Infinity;
  t.ok((await topOf('.fix-first')) < (await topOf('.parts')), 'it is above the parts');
  await openDetails(page);
  t.same(await page.locator('[aria-label=Areas] tbody td').allInnerTexts(), ['1', '1', '0', '0']);
  t.ok(await page.isVisible('[aria-label=Targets]'));
  await assertFits(t, page, 'the agent');
  await assertAccessibleAtNight(t, page);
  await follow(page, '.fix-first a');
  t.match(await page.innerText('main'), 'Make it a string');
  await page.goto(service.url);
  const agents = page.getByRole('list', { name: 'Agents' });
  t.match(await agents.innerText(), 'Shop: Not ready Conformance: not conforming.');
  await follow(page, agents.getByText('Shop', { exact: true }));
  await follow(page, 'text="Readiness as one page"');
  t.match(
    await page.innerText('.sentence'),
    /^Conformance: not conforming/,
    'without the headline',
  );
  t.equal(await page.locator('h2').first().innerText(), 'Fix first');
  t.same(await page.locator('.fix-first li').allInnerTexts(), reasons);
  await follow(page, 'text=Run tests, or change the agent');
  t.equal(new URL(page.url()).pathname, '/agents/shop');
  const exported = await (await fetch(`${service.url}/agents/shop/readiness?format=html`)).text();
  t.notMatch(exported, 'Run tests', 'an export has no links to the service');
  t.same(errors, []);
});

void t.test('the readiness is a page, JSON, and a badge', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t, { apiKey: KEY });
  await admin('POST /agents', { id: 'shop', name: 'Shop <b>', url: agent.url, api_key: KEY });
  await admin('POST /agents/shop/connection', {});
  const url = `${service.url}/agents/shop/readiness`;
  const readiness = (await (await fetch(url, { headers: json })).json()) as ReadinessReport;
  t.ok(isMessage('ReadinessReport', readiness));
  t.match(readiness, {
    readiness: 'not_judged',
    sentence: 'Not judged yet: evidence is missing for conformance, load, and simulations.',
    parts: [
      { id: 'connection', standing: 'pass' },
      { id: 'check', standing: 'warn', next_step: 'Run a check.' },
      { id: 'load', standing: 'warn', next_step: 'Run a load test.' },
      { id: 'simulations', standing: 'warn', next_step: 'Run scenarios.' },
    ],
  });
  const { page, errors } = await openPage(t, url);
  t.match(await page.innerText('body'), 'Not judged yet: Shop <b>');
  t.match(await page.innerText('.tally'), /1 passed\s+0 failed\s+3 open/);
  t.equal(await page.locator('.tally .fail').count(), 0, 'no failure is not red');
  await assertAccessibleAtNight(t, page);
  t.same(errors, []);
  const badge = await fetch(`${service.url}/agents/shop/badge.svg`);
  t.equal(badge.headers.get('content-type'), 'image/svg+xml');
  t.match(await badge.text(), 'aria-label="sandbox: not judged yet"');
  t.equal((await fetch(`${service.url}/agents/unknown/readiness`)).status, 404);
});
