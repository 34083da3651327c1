/** The HTML report of a run of simulated users in a real browser. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import type { SimulationReport } from '../../../src/contract/index.ts';
import { htmlReport, markdownReport, withComparison } from '../../../src/service/index.ts';
import { HOSTILE_MARKUP } from '../../support/pages/hostile-markup.ts';
import {
  assertFitsScreens,
  assertInertPage,
  readEmbeddedReport,
} from '../../support/pages/report-page.ts';
import { refusal, reply, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';
import { simulateOn } from '../../support/sessions/simulated-sessions.ts';

/** Runs three scenarios: one passes, one fails in all samples, one can't be judged. */
async function runScenarios(t: Test, text: string): Promise<SimulationReport> {
  const double = await withSandboxDouble(t, { chat: reply(text) });
  const evals = (id: string, word: string) => [
    { id, name: `Says ${word}`, kind: 'contains' as const, params: { text: word } },
  ];
  return simulateOn(t, double.url, [
    makeScenario({ id: 'passing', evals: evals('found', text.slice(0, 5)) }),
    makeScenario({
      id: 'failing',
      name: text.slice(0, 90),
      samples: 3,
      evals: evals('missing', 'qqq'),
    }),
    makeScenario({ id: 'unjudged' }),
  ]);
}

function writePage(t: Test, report: SimulationReport): string {
  const path = join(t.testdir({}), 'run.html');
  writeFileSync(path, htmlReport(report));
  return pathToFileURL(path).href;
}

void t.test('replies with markup are shown as text, and the page makes no requests', async (t) => {
  const report = await runScenarios(t, HOSTILE_MARKUP);
  const hostile = { ...report, sandbox: HOSTILE_MARKUP, sentence: HOSTILE_MARKUP };
  const url = writePage(t, withComparison(hostile, { ...report, seed: HOSTILE_MARKUP }));
  const opened = await assertInertPage(t, url);
  t.match(await opened.page.innerText('#failing-1'), /<script>window\.ran = 1<\/script>/);
  t.match(await readEmbeddedReport(opened), { sandbox: HOSTILE_MARKUP });
});

void t.test('the page leads from the verdict to why a session failed', async (t) => {
  const report = await runScenarios(t, 'Hello from the shop.');
  const earlier = await runScenarios(t, 'qqq');
  const url = writePage(t, withComparison(report, earlier));
  const opened = await assertInertPage(t, url);
  const { page } = opened;
  t.same(await readEmbeddedReport(opened), withComparison(report, earlier));
  t.equal(await page.innerText('h1'), 'Failed');
  t.equal(await page.innerText('.sentence'), report.sentence);
  t.match(
    await page.innerText('section:has(#comparison) tbody tr >> nth=0'),
    /failing\s+not comparable\s+passed 3\/3\s+failed 0\/3\s+3 samples each/,
  );
  t.match(await page.innerText('section:has(#scenarios) tr:has-text("failing")'), /0 of 3/);
  const cause = page.locator('.reasons > li').first();
  t.match(
    await cause.innerText(),
    /failed 3 sessions, conversation ended: .*Says qqq: /s,
    'grouped by cause',
  );
  await cause.locator('a').nth(1).click();
  const session = page.locator(':target');
  t.equal(await session.getAttribute('id'), 'failing-2');
  t.equal(await session.locator('.said').first().isVisible(), false, 'one example is open');
  await session.locator('summary').first().click();
  t.match(
    await session.innerText(),
    /fail Says qqq: .*Turn 1\n.*Hello from the shop\.\n[\d.]+ m?s/s,
  );
  t.notOk(await page.locator('#passing-1 .said').first().isVisible(), 'passed sessions are folded');
});

void t.test('an error that stops several scenarios is one reason', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: refusal(500, 'server_error') });
  const report = await simulateOn(t, url, [
    makeScenario({ id: 'first', user: { opening: 'Hi', steps: [{ say: 'Two' }] }, samples: 2 }),
    makeScenario({ id: 'second', user: { opening: 'Hi', steps: [{ say: 'And' }, { say: 'so' }] } }),
  ]);
  const { page } = await assertInertPage(t, writePage(t, report));
  const reasons = page.locator('.reasons > li');
  t.equal(await reasons.count(), 1);
  const text = (await reasons.innerText()).replaceAll(/\s+/g, ' ');
  t.match(
    text,
    /^undecided 3 sessions of 2 scenarios \(first and second\), stopped: error of the agent .*500 server_error.* first first #2 second$/,
  );
  t.match(
    markdownReport(report),
    /^- ❔ 3 sessions: first, first \\#2, second \(stopped: error of the agent\)$/m,
  );
});

void t.test('sessions are filtered by verdict and channel, and searched', async (t) => {
  const url = writePage(t, await runScenarios(t, 'Hello from the shop.'));
  const { page } = await assertInertPage(t, url);
  const visible = async (): Promise<string[]> =>
    page.evaluate(
      `[...document.querySelectorAll('article')].filter((row) => row.offsetParent).map(({ id }) => id)`,
    );
  t.equal((await visible()).length, 5);
  await page.uncheck('#verdict-failed');
  t.same(await visible(), ['passing-1', 'unjudged-1']);
  await page.uncheck('#channel-chat');
  t.same(await visible(), []);
  await page.check('#channel-chat');
  await page.check('#verdict-failed');
  await page.keyboard.press('/');
  await page.keyboard.type('FAILING #3');
  t.same(await visible(), ['failing-3']);
  t.equal(await page.innerText('search output'), '1 of 5');
});

void t.test('the page fits desktops and phones, in light and dark mode, and prints', async (t) => {
  const report = await runScenarios(t, HOSTILE_MARKUP);
  await assertFitsScreens(t, writePage(t, withComparison(report, report)));
});

void t.test('the page of a run of many sessions has a limited size', async (t) => {
  const report = await runScenarios(t, 'w'.repeat(50_000));
  const [session] = report.sessions.slice(1);
  if (!session) throw new Error('The run has no session.');
  const sessions = Array.from({ length: 600 }, (_, nth) => ({ ...session, sample: nth + 1 }));
  const page = htmlReport({ ...report, sessions });
  t.ok(page.length < 8_000_000, `${page.length} characters`);
  t.match(page, '100 sessions omitted. --json FILE writes all of them.');
  t.notMatch(page, 'id="report"', 'the JSON is too large for the page');
  t.match(page, '[cut: 46,000 more characters]');
});
