/** The page of a load run, in a real browser: it is all in one file, and fits where it is read. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { htmlReport, withComparison } from '../../load/index.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { opened, withBrowser } from '../helpers/browser.ts';
import { twoCalls } from '../helpers/load-voice.ts';
import { loaded, withTarget } from '../helpers/load.ts';

t.setTimeout(110_000);

const EVIL = '</svg></style><script>window.ran = 1</script><img src="http://127.0.0.1:9/x">';

/** A run with faults, users and health, beside an earlier one, and with a search. */
async function reportWithAll(t: Test): Promise<LoadReport> {
  const { url } = await withTarget(t, ({ nth, answer, response, request }) => {
    if (nth % 20 === 5) request.socket.destroy();
    else if (nth % 20 === 15) response.writeHead(503).end(EVIL);
    else answer();
  });
  const report = await loaded(url, { profile: 'mixed', windowMs: 3_000, warmUpMs: 2_000 });
  const step = { durationMs: 20_000, donePerSecond: 99, p99Ms: 120, failedShare: 0 };
  return {
    ...withComparison(report, report),
    voice: twoCalls(EVIL + 'w'.repeat(300)),
    notes: [EVIL, 'w'.repeat(300)],
    faultSamples: report.faultSamples.map((sample) => ({ ...sample, detail: EVIL })),
    findMax: {
      ...{ probePerSecond: 500, sustains: 100, fails: 110, confirmed: true, summary: EVIL },
      steps: [
        { ...step, ratePerSecond: 100, holds: true, reason: 'p99 120 ms' },
        { ...step, ratePerSecond: 110, holds: false, p99Ms: null, reason: EVIL },
      ],
    },
  };
}

async function pageWithAll(t: Test): Promise<{ url: string; source: string; report: LoadReport }> {
  const report = await reportWithAll(t);
  const source = htmlReport(report);
  const path = join(t.testdir({}), 'load.html');
  writeFileSync(path, source);
  return { url: pathToFileURL(path).href, source, report };
}

void t.test('it shows all, fetches nothing and runs nothing', async (t) => {
  const { url, source, report } = await pageWithAll(t);
  t.notMatch(source, /<(script|img|link|iframe|base|object)\b|@import|url\(/i);
  t.notMatch(source, /(src|href|action)="/i);
  const { page, requests, complaints } = await opened(await withBrowser(t), url);
  t.same(requests, [url], 'the page itself is all');
  t.same(complaints, []);
  t.equal(await page.evaluate('window.ran'), undefined);
  t.equal(await page.innerText('h1'), report.sentence.replaceAll(/\s+/g, ' '));
  t.match(await page.innerText('.badge.big'), report.verdict);
  for (const { statement, verdict } of report.targets) {
    t.match(await page.locator('tr', { hasText: statement }).first().innerText(), verdict);
  }
  const charts = [
    'Requests a second that were due, sent and done',
    'Requests in flight',
    'Response times second by second',
    'Errors by kind over time',
    'How many response times of which size',
    'Response and service times by percentile',
    'The 99th percentile of the response time by rate',
    'Calls that were connected',
    'Packets of audio a second',
    'Gaps of more than 40 ms',
    'The way of the audio and the median answer',
  ];
  for (const chart of charts) {
    t.equal(await page.locator(`svg.wide[aria-label^="${chart}"]`).count(), 1, chart);
  }
  t.match(await page.innerText('main'), /target 5 s/, 'the target has its line');
  t.match(await page.innerText('main'), /server_error[^]*5xx/);
});

void t.test('on a desk, on a phone, by night and on paper', async (t) => {
  const { url } = await pageWithAll(t);
  const browser = await withBrowser(t);
  const grounds = new Set<unknown>();
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width, height: 844 };
      const { page } = await opened(browser, url, { viewport, colorScheme });
      const wide = await page.evaluate('document.scrollingElement.scrollWidth');
      t.equal(wide, width, `nothing sticks out at ${width} px`);
      grounds.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      const shown = width > 640 ? 'wide' : 'narrow';
      t.ok(await page.locator(`svg.${shown}`).first().isVisible(), `its charts are ${shown}`);
      await page.emulateMedia({ media: 'print' });
      t.ok(await page.locator('h1').isVisible(), 'paper has the verdict');
    }
  }
  t.equal(grounds.size, 2, 'day and night differ');
});

void t.test('a day of seconds is drawn as fast as a minute', async (t) => {
  const report = await reportWithAll(t);
  const [second] = report.timeline.slice(-1);
  if (!second) throw new Error('the run has no seconds');
  const timeline = Array.from({ length: 86_400 }, (_, nth) => ({ ...second, second: nth }));
  const plan = { ...report.plan, windowMs: 86_400_000 };
  const source = htmlReport({ ...report, plan, timeline });
  t.ok(source.length < 2_000_000, `${source.length} characters`);
});
