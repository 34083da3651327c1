/** The page of a report that is attached to an agent. */
import t from 'tap';
import { schemas } from '../../../src/contract/index.ts';
import { report, row } from '../../support/conformance/check-report.ts';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { assertFits, openPage } from '../../support/pages/browser.ts';
import { follow, openDetails } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';

const [LOAD_REPORT] = schemas.LoadReport.examples;

void t.test('the page of a report stays short, and says how much it leaves out', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:1' });
  const many = Array.from({ length: 1_000 }, (_, nth) => `Number ${nth} ${'w'.repeat(90)}`);
  const rows = many.map((_, nth) => row(`CHAT-${nth}`));
  const clears = rows.map(({ id }) => id);
  const causes = many.slice(0, 150).map((description) => ({ description, clears, verified: true }));
  await admin('POST /agents/shop/reports', report(rows, { waived: many, causes }));
  await admin('POST /agents/shop/reports', { ...LOAD_REPORT, notes: many });
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  await follow(page, '[aria-label=Reports] tr:has-text("Load") a');
  t.match(await page.innerText('main'), /Number 99 [^]*\s+900 more are in the JSON\.$/);
  t.notMatch(await page.innerText('main'), 'Number 100 ');
  await page.goBack();
  await follow(page, '[aria-label=Reports] tr:has-text("Conformance") a');
  await openDetails(page);
  const text = await page.innerText('main');
  t.match(text, /Number 99 w*\s+900 more are in the JSON\.\s+Fix first/);
  t.match(
    text,
    /Number 99 w*: clears CHAT-0, .*CHAT-19,? and 980 more\.\s+50 more are in the JSON/,
  );
  t.match(text, /CHAT-499 [^\n]*\s+500 more are in the JSON/);
  t.ok((await page.content()).length < 300_000);
  await assertAccessibleAtNight(t, page);
});

void t.test('the charts of a load report are the page of the command', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:1' });
  await admin('POST /agents/shop/reports', report([row('CHAT-001')]));
  const [first] = LOAD_REPORT.timeline;
  const timeline = [first, { ...first, second: 1 }];
  const load = { ...LOAD_REPORT, timeline, sentence: '<b id=injected>' };
  await admin('POST /agents/shop/reports', load);
  const { page, errors } = await openPage(t, `${service.url}/agents/shop`);
  await follow(page, '[aria-label=Reports] tr:has-text("Load") a');
  await follow(page, 'text=Response times, rate, and errors as charts');
  t.equal(await page.innerText('h1'), 'PASS');
  t.ok(await page.isVisible('svg'), 'it has charts');
  t.equal(await page.locator('#injected').count(), 0);
  await assertFits(t, page, 'the charts');
  await assertAccessibleAtNight(t, page);
  t.same(errors, []);
  await page.goto(`${service.url}/agents/shop`);
  await follow(page, '[aria-label=Reports] tr:has-text("Conformance") a');
  t.notOk(await page.isVisible('text=as charts'), 'a check has none');
  t.equal((await fetch(`${page.url()}/charts`)).status, 404);
});
