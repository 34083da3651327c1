/** Live parts of pages: how often they are rendered, and when browsers listen. */
import { once } from 'node:events';
import fastify from 'fastify';
import t from 'tap';
import { type Clock } from '../../../src/platform/clock.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { html } from '../../../src/report-kit/html.ts';
import { createLiveUpdates } from '../../../src/service/web/frame/live.ts';
import { startService } from '../../../src/service/index.ts';
import { assertAccessible } from '../../support/pages/accessibility.ts';
import { openPage, withContext } from '../../support/pages/browser.ts';
import { withService } from '../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';
import { until } from '../../support/until.ts';

void t.test('content that takes long is rendered less often', async (t) => {
  let nowMs = 0;
  const pauses: number[] = [];
  const clock: Clock = {
    ...manualClock(0),
    monotonicMs: () => nowMs,
    sleep: (ms) => Promise.resolve(void pauses.push(ms)),
  };
  const stopping = new AbortController().signal;
  const live = createLiveUpdates({ stopping, checkReader: () => Promise.resolve(), clock });
  const rendersMs = [20, 500, 0];
  const app = fastify();
  t.teardown(() => app.close());
  app.get('/', (request, reply) =>
    live.send(request, reply, () => {
      nowMs += rendersMs.shift() ?? 0;
      return Promise.resolve({ content: html`${nowMs}`, isFinal: rendersMs.length === 0 });
    }),
  );
  const response = await fetch(await app.listen({ port: 0, host: '127.0.0.1' }));
  t.match(await response.text(), /data: "20".*data: "520".*event: final/s);
  t.same(pauses, [1_000, 2_000], 'milliseconds between two renderings');
});

void t.test('browsers that left before the first event leave no stream behind', async (t) => {
  const stopping = new AbortController().signal;
  const live = createLiveUpdates({ stopping, checkReader: () => Promise.resolve() });
  const app = fastify();
  t.teardown(() => app.close());
  const content = { content: html`<b>Here</b>`, isFinal: true };
  app.get('/', async (request, reply) => {
    if (request.headers['x-leaves'] !== undefined) {
      leaver.abort();
      await once(reply.raw, 'close');
      left += 1;
    }
    return live.send(request, reply, () => Promise.resolve(content));
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  let [left, leaver] = [0, new AbortController()];
  for (let nth = 0; nth < 101; nth += 1) {
    leaver = new AbortController();
    const headers = { 'x-leaves': 'yes' };
    await t.rejects(fetch(url, { headers, signal: leaver.signal }));
  }
  await until('the service knows that all have left', () => left === 101);
  const response = await fetch(url);
  t.match(await response.text(), 'event: final', 'not too many pages are open');
});

void t.test('many hidden tabs leave connections for the next page', async (t) => {
  const { service } = await withService(t);
  const { page } = await openPage(t, `${service.url}/`);
  const hide = `Object.defineProperty(document, 'hidden', { value: true });
    document.dispatchEvent(new Event('visibilitychange'));`;
  await page.evaluate(hide);
  for (let tab = 0; tab < 6; tab += 1) {
    const other = await page.context().newPage();
    await other.goto(`${service.url}/`);
    t.equal(await other.locator('[data-live]').count(), 1);
    await other.evaluate(hide);
  }
  const last = await page.context().newPage();
  await last.goto(`${service.url}/settings`);
  t.equal(await last.innerText('h1'), 'Settings');
});

void t.test('an update keeps what the reader has opened and closed', async (t) => {
  const { service } = await withService(t);
  const page = await (await withContext(t)).newPage();
  // The second update waits until the reader has used the first one.
  const used = Promise.withResolvers<undefined>();
  let updates = 0;
  await page.route('**/overview/live*', async (route) => {
    updates += 1;
    const isLast = updates > 1;
    if (isLast) await used.promise;
    const text = `<b>${isLast ? 'Last' : 'First'} update.</b>
      <details id="a" open><summary>A</summary></details><details id="b"><summary>B</summary></details>`;
    const event = isLast ? 'event: final\n' : 'retry: 100\n';
    const body = `${event}data: ${JSON.stringify(text)}\n\n`;
    await route.fulfill({ contentType: 'text/event-stream', body });
  });
  await page.goto(`${service.url}/`);
  await page.getByText('First update.').waitFor();
  await page.evaluate(`document.querySelector('#a').open = false;
    document.querySelector('#b').open = true;`);
  used.resolve(undefined);
  await page.getByText('Last update.').waitFor();
  t.equal(await page.getAttribute('#a', 'open'), null, 'closed');
  t.equal(await page.getAttribute('#b', 'open'), '', 'opened');
});

void t.test('a page says when its connection is lost, and recovers by itself', async (t) => {
  const { service } = await withService(t);
  const { page } = await openPage(t, `${service.url}/`);
  const status = page.locator('main [role=status]');
  t.equal(await status.innerText(), '', 'nothing to say while it is connected');
  await service.stop();
  await page.getByText('Connection lost. Reconnecting…').waitFor();
  t.equal(await status.count(), 1, 'the status is announced');
  await assertAccessible(t, page);
  const again = await startService({ port: Number(new URL(service.url).port) });
  t.teardown(() => again.stop());
  await page.locator('main [role=status]:empty').waitFor({ state: 'attached' });
  const traced = await fetch(`${again.url}/v1/traces`, {
    method: 'POST',
    body: JSON.stringify(makeTraceRequest([makeSpan()])),
    headers: { 'content-type': 'application/json', 'x-service-api-key': again.apiKey },
  });
  t.equal(traced.status, 200);
  await page.getByText('conversation is open').waitFor();
});

void t.test('a page connects again after an error response', async (t) => {
  const { service } = await withService(t);
  const page = await (await withContext(t)).newPage();
  let requests = 0;
  await page.route('**/overview/live*', (route) => {
    requests += 1;
    if (requests <= 2) return route.fulfill({ status: 503, body: '{"message":"Busy."}' });
    const body = `event: final\ndata: ${JSON.stringify('<b>The end.</b>')}\n\n`;
    return route.fulfill({ contentType: 'text/event-stream', body });
  });
  await page.goto(`${service.url}/`);
  await page.getByText('Connection lost. Reconnecting…').waitFor();
  await page.getByText('The end.').waitFor();
  t.equal(await page.locator('main [role=status]').innerText(), '');
  t.equal(requests, 3);
});
