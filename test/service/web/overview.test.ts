/** The overview in a real browser: the first trace arrives, and why data is missing. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage, visitViews } from '../../support/pages/browser.ts';
import { clickButton, follow } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { withService } from '../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';

/** Waits until the main part of the page contains a text, without a reload. */
const waitForText = async (page: Page, text: string): Promise<void> => {
  await page.getByText(text).first().waitFor();
};

void t.test('a user sees the first trace arrive, and when its conversation closes', async (t) => {
  const { service, trace } = await withEmptyService(t);
  const { page, errors } = await openPage(t, `${service.url}/`);
  await waitForText(page, 'No trace has arrived.');
  await trace(makeSpan());
  await waitForText(page, 'the service closes it 24 hours after its last span.');
  t.match(await page.innerText('.counts'), /1\s+open conversation/);
  t.match(await page.innerText('.remark'), 'No evals are chosen yet, so nothing would be scored.');
  t.match(await page.getAttribute('.remark a:has-text("Choose")', 'href'), '/settings');
  t.notMatch(await page.innerText('main'), 'No trace has arrived.');
  await assertAccessibleAtNight(t, page);
  await follow(page, page.getByRole('link', { name: 'conversation is open' }));
  t.match(page.url(), '/sessions?kind=open');
  t.same(errors, []);
});

void t.test('a request with invalid ids is one problem', async (t) => {
  const { service, send, admin } = await withService(t);
  const body = makeTraceRequest([makeSpan({ traceId: 'AAAA', spanId: 'BBBB' })]);
  t.equal((await send('POST /v1/traces', { body })).status, 400);
  t.match(await admin('GET /ingest-log'), { entries: [{ code: 'malformed_ids' }] });
  const { page } = await openPage(t, `${service.url}/`);
  t.equal(await page.locator('.log li').count(), 1);
  t.match(await page.innerText('.log'), /hexadecimal, not base64\..*malformed_ids, 1 time/s);
});

void t.test('callers without a key are shown', async (t) => {
  const { service, send } = await withEmptyService(t);
  t.equal((await send('POST /v1/traces', { body: {}, key: 'unknown' })).status, 401);
  const { page } = await openPage(t, `${service.url}/`);
  t.match(await page.innerText('.log'), /Rejected with 401: .* must contain an API key/);
});

void t.test('rejected requests are counted, with the newest reason', async (t) => {
  const { service, send, admin } = await withEmptyService(t);
  for (let nth = 0; nth < 3; nth += 1) {
    await send('GET /api/prod-evaluations/sessions/', { key: 'unknown' });
  }
  const { page } = await openPage(t, `${service.url}/`);
  t.match(await page.innerText('.counts'), /3\s+rejected requests/);
  t.match(
    await page.innerText('#rejected'),
    /^3 requests were rejected since the service started: 3 with 401\. The newest one, at 2026-11-20 10:00.* got 401: x-service-api-key must contain an API key: the key is unknown\./,
  );
  t.notMatch(await page.innerText('main'), 'No trace has arrived.');
  await send('POST /v1/traces', { raw: '{', headers: { 'content-type': 'application/json' } });
  await send('POST /v1/traces', { raw: 'x', headers: { 'content-type': 'text/plain' } });
  const tooLarge = ' '.repeat(10_485_761);
  await send('POST /v1/traces', { raw: tooLarge, headers: { 'content-type': 'application/json' } });
  for (let nth = 0; nth < 120; nth += 1) await send('POST /v1/traces', { body: {} });
  await waitForText(page, '3 with 429');
  t.match(
    await page.innerText('#rejected'),
    /9 requests .*: 1 with 400, 3 with 401, 1 with 413, 1 with 415,? and 3 with 429\. .* got 429: This API key sent more than 120 requests/,
  );
  t.equal(await page.getAttribute('.counts a:text("rejected")', 'href'), '#rejected');
  await assertAccessibleAtNight(t, page);
  await admin('POST /reset', { to: 'empty' });
  await page.reload();
  t.equal(await page.locator('#rejected').count(), 0);
});

void t.test('the SDK that sent unreadable traces is named first, with its settings', async (t) => {
  const { service, send } = await withEmptyService(t);
  const span = makeSpan();
  const attributes = [{ key: 'openinference.span.kind', value: { stringValue: 'LLM' } }];
  await send('POST /v1/traces', { body: makeTraceRequest([{ ...span, attributes }]) });
  await visitViews(t, service.url, async ({ page, errors }, { width }) => {
    await page.evaluate(
      `for (const part of document.querySelectorAll('details')) part.open = true`,
    );
    const text = await page.innerText('main');
    t.match(text, /SDKs and instrumentations[^]*?OpenInference: sent traces that/);
    t.match(text, 'If you set these attributes yourself, rename them');
    t.match(text, 'return the attribute from enrichSpan', 'the settings of the others');
    t.match(text, /Spans you write yourself[^]*\ngen_ai\.input\.messages +\[\{"role":"user"/);
    const vendors = await page.locator('main > details > details > summary').allInnerTexts();
    t.match(vendors[0], /^OpenInference: sent/);
    t.strictSame(vendors.slice(1), vendors.slice(1).sort(), 'the vendors are sorted');
    t.ok(vendors.includes('Google') && vendors.includes('The GenAI conventions'));
    t.equal(vendors.filter((name) => name.startsWith('Traceloop')).length, 1);
    t.equal(await page.evaluate('document.scrollingElement.scrollWidth'), width);
    await assertAccessibleAtNight(t, page);
    t.same(errors, []);
  });
});

void t.test('a service with data explains on another page how to send traces', async (t) => {
  const { service, trace } = await withEmptyService(t);
  await trace(makeSpan());
  const { page, errors } = await openPage(t, `${service.url}/`);
  t.notMatch(await page.innerText('main'), 'OTEL_EXPORTER_OTLP_ENDPOINT');
  await follow(page, page.getByRole('link', { name: 'Send traces to this service' }));
  const text = await page.innerText('main');
  t.match(text, `OTEL_EXPORTER_OTLP_ENDPOINT=${service.url}`);
  t.match(text, 'Some SDKs and instrumentations need further settings');
  t.same(errors, []);
});

void t.test(
  'reasons for missing data are dismissed until one occurs again, and restored',
  async (t) => {
    const { service, clock, send } = await withService(t);
    const sendEmpty = () => send('POST /v1/traces', { body: { resourceSpans: [] } });
    await sendEmpty();
    const { page, errors } = await openPage(t, service.url);
    t.match(await page.innerText('.log'), 'The request contains no spans.');
    t.notMatch(await clickButton(page, 'Dismiss'), 'contains no spans');
    t.match(
      await clickButton(page, 'Show dismissed reasons for missing data'),
      'The request contains no spans.',
    );
    await clickButton(page, 'Dismiss');
    clock.advance(1_000);
    await sendEmpty();
    await page.reload();
    t.match(await page.innerText('.log'), /contains no spans.*1 time/s, 'it occurred again');
    t.same(errors, []);
  },
);
