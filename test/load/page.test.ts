/** The HTML page of a load run in a real browser: a single file that fits every screen. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { htmlReport, withComparison } from '../../load/index.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { openPage, withBrowser } from '../helpers/browser.ts';
import { createTwoCallVoice } from '../helpers/voice-load.ts';
import { runLoad, withTarget } from '../helpers/load.ts';

const EVIL = '</svg></style><script>window.ran = 1</script><img src="http://127.0.0.1:9/x">';

/** Returns a report with every section: faults, all streams, voice, a comparison, and a search. */
async function createFullReport(t: Test): Promise<LoadReport> {
  const { url } = await withTarget(t, ({ nth, answer, response, request }) => {
    if (nth % 20 === 5) request.socket.destroy();
    else if (nth % 20 === 15) response.writeHead(503).end(EVIL);
    else answer();
  });
  const report = await runLoad(url, { profile: 'mixed', windowMs: 3_000, warmUpMs: 2_000 });
  const step = { durationMs: 20_000, donePerSecond: 99, p99Ms: 120, failedShare: 0 };
  return {
    ...withComparison(report, report),
    voice: createTwoCallVoice(EVIL + 'w'.repeat(300)),
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

async function writeFullPage(
  t: Test,
): Promise<{ url: string; source: string; report: LoadReport }> {
  const report = await createFullReport(t);
  const source = htmlReport(report);
  const path = join(t.testdir({}), 'load.html');
  writeFileSync(path, source);
  return { url: pathToFileURL(path).href, source, report };
}

void t.test('the page shows every section, makes no requests, and runs no scripts', async (t) => {
  const { url, source, report } = await writeFullPage(t);
  t.notMatch(source, /<(script|img|link|iframe|base|object)\b|@import|url\(/i);
  t.notMatch(source, /(src|href|action)="/i);
  const { page, requests, errors } = await openPage(await withBrowser(t), url);
  t.same(requests, [url], 'the only request is for the page');
  t.same(errors, []);
  t.equal(await page.evaluate('window.ran'), undefined);
  t.equal(await page.innerText('h1'), `Load test of ${report.sandbox}`);
  t.equal(await page.innerText('.sentence'), report.sentence.replaceAll(/\s+/g, ' '));
  const limits = await page.locator('h2:text("Load generator") ~ table >> nth=0').innerText();
  t.match(limits, /send lag p99\s+\S+ ms\s+\S+ m?s\s/, 'limits have units');
  t.match(limits, /event loop busy\s+\S+%\s+\S+%\s/);
  t.match(await page.innerText('.badge.big'), report.verdict);
  for (const { statement, verdict } of report.targets) {
    t.match(await page.locator('tr', { hasText: statement }).first().innerText(), verdict);
  }
  const charts = [
    'Requests per second: due, sent, and completed',
    'Requests in flight',
    'Response times over time: median, 95th and 99th percentile, and maximum',
    'Errors by kind over time',
    'Distribution of response times over time',
    'Response and service times by percentile',
    '99th percentile of the response time by rate',
    'Connected calls over time',
    'Audio packets per second, sent and received',
    'Audio gaps over 40 ms over time',
    'Network path latency and median response latency per call',
  ];
  for (const chart of charts) {
    t.equal(await page.locator(`svg.wide[aria-label^="${chart}"]`).count(), 1, chart);
  }
  t.match(await page.innerText('main'), /target 5 s/, 'the chart shows the target');
  t.match(await page.innerText('main'), /server_error[^]*5xx/);
});

void t.test('the page fits desktops and phones, in light and dark mode, and prints', async (t) => {
  const { url } = await writeFullPage(t);
  const browser = await withBrowser(t);
  const backgrounds = new Set<unknown>();
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width, height: 844 };
      const { page } = await openPage(browser, url, { viewport, colorScheme });
      const scrollWidth = await page.evaluate('document.scrollingElement.scrollWidth');
      t.equal(scrollWidth, width, `no horizontal scrolling at ${width} px`);
      backgrounds.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      const shown = width > 640 ? 'wide' : 'narrow';
      t.ok(await page.locator(`svg.${shown}`).first().isVisible(), `${shown} charts`);
      await page.emulateMedia({ media: 'print' });
      t.ok(await page.locator('.badge.big').isVisible(), 'the print version shows the verdict');
    }
  }
  t.equal(backgrounds.size, 2, 'light and dark mode differ');
});

void t.test('the page of a 24-hour run stays small', async (t) => {
  const report = await createFullReport(t);
  const [second] = report.timeline.slice(-1);
  if (!second) throw new Error('The timeline is empty.');
  const timeline = Array.from({ length: 86_400 }, (_, nth) => ({ ...second, second: nth }));
  const plan = { ...report.plan, windowMs: 86_400_000 };
  const source = htmlReport({ ...report, plan, timeline });
  t.ok(source.length < 2_000_000, `${source.length} characters`);
});
