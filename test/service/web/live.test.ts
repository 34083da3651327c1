/** Live parts of pages: how often they are rendered, and when browsers listen. */
import fastify from 'fastify';
import t from 'tap';
import { manualClock, type Clock } from '../../../src/platform/clock.ts';
import { html } from '../../../src/report-kit/html.ts';
import { createLiveUpdates } from '../../../src/service/web/frame/live.ts';
import { openPage, withBrowser } from '../../helpers/browser.ts';
import { withService } from '../../helpers/service.ts';

void t.test('content that takes long is rendered less often', async (t) => {
  let nowMs = 0;
  const pauses: number[] = [];
  const clock: Clock = {
    ...manualClock(0),
    monotonicMs: () => nowMs,
    sleep: (ms) => Promise.resolve(void pauses.push(ms)),
  };
  const live = createLiveUpdates(new AbortController().signal, clock);
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

void t.test('many hidden tabs leave connections for the next page', async (t) => {
  const { service } = await withService(t);
  const { page } = await openPage(await withBrowser(t), `${service.url}/`);
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
  await last.goto(`${service.url}/settings`, { timeout: 5_000 });
  t.equal(await last.innerText('h1'), 'Settings');
});

void t.test('an update keeps what the reader has opened and closed', async (t) => {
  const { service } = await withService(t);
  const browser = await withBrowser(t);
  const page = await browser.newPage();
  t.teardown(() => page.close());
  let updates = 0;
  await page.route('**/overview/live*', (route) => {
    updates += 1;
    const text = `<b>Update ${updates}.</b><details id="a" open><summary>A</summary></details>
      <details id="b"><summary>B</summary></details>`;
    const body = `retry: 100\ndata: ${JSON.stringify(text)}\n\n`;
    return route.fulfill({ contentType: 'text/event-stream', body });
  });
  await page.goto(`${service.url}/`);
  await page.getByText('Update').waitFor();
  await page.evaluate(`document.querySelector('#a').open = false;
    document.querySelector('#b').open = true;`);
  await page.getByText(`Update ${updates + 2}.`).waitFor();
  t.equal(await page.getAttribute('#a', 'open'), null, 'closed');
  t.equal(await page.getAttribute('#b', 'open'), '', 'opened');
});
