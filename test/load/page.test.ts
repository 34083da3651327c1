/** The HTML page of a load run in a real browser: a single file that fits every screen. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { htmlReport, withComparison } from '../../load/index.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import { withTarget } from '../support/measurements/load-target.ts';
import { runLoad } from '../support/measurements/run-load.ts';
import { createTwoCallVoice } from '../support/measurements/voice-load.ts';
import { HOSTILE_MARKUP } from '../support/pages/hostile-markup.ts';
import { assertFitsScreens, assertInertPage } from '../support/pages/report-page.ts';

let fullReport: Promise<LoadReport> | undefined;
const readFullReport = (): Promise<LoadReport> => (fullReport ??= createFullReport(t));

/** Returns a report with every section: faults, all streams, voice, a comparison, and a search. */
async function createFullReport(t: Test): Promise<LoadReport> {
  const { url } = await withTarget(t, ({ nth, answer, response, request }) => {
    if (nth % 20 === 5) request.socket.destroy();
    else if (nth % 20 === 15) response.writeHead(503).end(HOSTILE_MARKUP);
    else answer();
  });
  const report = await runLoad(url, { profile: 'mixed', windowMs: 3_000, warmUpMs: 2_000 });
  const step = { durationMs: 20_000, donePerSecond: 99, p99Ms: 120, failedShare: 0 };
  return {
    ...withComparison(report, report),
    voice: createTwoCallVoice(HOSTILE_MARKUP),
    notes: [HOSTILE_MARKUP],
    faultSamples: report.faultSamples.map((sample) => ({ ...sample, detail: HOSTILE_MARKUP })),
    findMax: {
      probePerSecond: 500,
      sustains: 100,
      fails: 110,
      confirmed: true,
      summary: HOSTILE_MARKUP,
      steps: [
        { ...step, ratePerSecond: 100, holds: true, reason: 'p99 120 ms' },
        { ...step, ratePerSecond: 110, holds: false, p99Ms: null, reason: HOSTILE_MARKUP },
      ],
    },
  };
}

async function writeFullPage(t: Test): Promise<{ url: string; report: LoadReport }> {
  const report = await readFullReport();
  const path = join(t.testdir({}), 'load.html');
  writeFileSync(path, htmlReport(report));
  return { url: pathToFileURL(path).href, report };
}

void t.test('the page shows every section, makes no requests, and runs no scripts', async (t) => {
  const { url, report } = await writeFullPage(t);
  const { page } = await assertInertPage(t, url);
  t.equal(await page.innerText('h1'), report.verdict);
  t.equal(await page.innerText('.subject'), report.sandbox);
  t.equal(await page.innerText('.sentence'), report.sentence.replaceAll(/\s+/g, ' '));
  const limits = await page.locator('h2:text("Load generator") ~ table >> nth=0').innerText();
  t.match(limits, /send lag p99\s+\S+ ms\s+\S+ m?s\s/, 'limits have units');
  t.match(limits, /event loop busy\s+\S+%\s+\S+%\s/);
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
  await assertFitsScreens(t, url, async ({ page }, width) => {
    const shown = width > 640 ? 'wide' : 'narrow';
    t.ok(await page.locator(`svg.${shown}`).first().isVisible(), `${shown} charts`);
  });
});

void t.test('a run of one second has no charts over time', async (t) => {
  const report = await readFullReport();
  t.match(htmlReport(report), 'id="over-time"');
  t.notMatch(htmlReport({ ...report, timeline: report.timeline.slice(0, 1) }), 'id="over-time"');
});

void t.test('the charts of a 24-hour run stay small', async (t) => {
  const report = await readFullReport();
  const [second] = report.timeline.slice(-1);
  if (!second) throw new Error('The timeline is empty.');
  // Every class of response times has responses: the chart of the distribution is full.
  const heat = second.heat.map(() => 1);
  const timeline = Array.from({ length: 86_400 }, (_, nth) => ({ ...second, heat, second: nth }));
  const plan = { ...report.plan, windowMs: 86_400_000 };
  const source = htmlReport({ ...report, plan, timeline });
  const [drawn = ''] = source.split('<script type="application/json"');
  t.ok(drawn.length < 2_000_000, `${drawn.length} characters`);
});
