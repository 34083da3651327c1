/** The HTML report of a check in a real browser: a complete page without requests or scripts. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { htmlReport, reportOf, applyKnownFailures } from '../../conformance/index.ts';
import { chain, set } from '../../conformance/engine/mutants/combinators.ts';
import { editChat, editHealth } from '../../conformance/areas/sandbox-responses.ts';
import { startProxy } from '../../conformance/proof/proxy.ts';
import {
  readTranscript,
  toExchange,
  type Transcript,
} from '../../conformance/engine/transcript/transcript.ts';
import { startAgent } from '../../reference-agent/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { run } from '../support/commands/command.ts';
import { recordSandboxOnce } from '../support/conformance/recorded-runs.ts';
import { newRunRecord } from '../support/conformance/run-record.ts';
import { openPage } from '../support/pages/browser.ts';
import { HOSTILE_MARKUP } from '../support/pages/hostile-markup.ts';
import {
  assertFitsScreens,
  assertInertPage,
  readEmbeddedReport,
} from '../support/pages/report-page.ts';

interface HostilePages {
  checked: string;
  graded: string;
  record: string;
}

let hostilePages: Promise<HostilePages> | undefined;

/** Returns the pages of `check` and `grade` for a sandbox that returns markup in every text. */
function shareHostilePages(): Promise<HostilePages> {
  hostilePages ??= writeHostilePages();
  return hostilePages;
}

async function writeHostilePages(): Promise<HostilePages> {
  const agent = await startAgent({ voice: null });
  const transform = chain(
    editChat(
      set('/choices/0/message/role', HOSTILE_MARKUP),
      set('/choices/0/message/content', HOSTILE_MARKUP),
    ),
    editHealth(set('/status', HOSTILE_MARKUP), set('/version', HOSTILE_MARKUP)),
  )();
  const proxy = await startProxy({ upstream: agent.url, clock: systemClock, transform });
  const folder = mkdtempSync(join(tmpdir(), 'html-report-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [checked, graded, record] = ['checked.html', 'graded.html', 'run.ndjson'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const checkRun = await run(['check', proxy.url, '--html', checked, '--record', record]);
  const gradeRun = await run(['grade', record, '--html', graded]);
  await proxy.stop();
  await agent.stop();
  for (const { code, stderr } of [checkRun, gradeRun]) {
    if (code !== 1) throw new Error(`Exit code ${code} instead of 1: ${stderr}`);
  }
  return { checked, graded, record };
}

const urlOf = (path: string): string => pathToFileURL(path).href;

void t.test('markup from a sandbox is shown as text, and the page makes no requests', async (t) => {
  const { checked, graded } = await shareHostilePages();
  for (const path of [checked, graded]) {
    t.match(readFileSync(path, 'utf8'), '\\u0000\\u001b[31m', 'control characters are escaped');
    const { page } = await assertInertPage(t, urlOf(path));
    t.match(await page.innerText('#CHAT-023'), /<script>window\.ran = 1<\/script>/);
    t.equal(await page.innerText('h1'), 'Not conforming');
  }
});

void t.test('findings link to their exchanges, and exchanges to their findings', async (t) => {
  const { checked } = await shareHostilePages();
  const { page } = await openPage(t, urlOf(checked));
  const links = page.locator('article .links a, .causes a, nav a, .timeline .links a');
  const count = await links.count();
  t.ok(count > 100, `${count} links`);
  await page.locator('#CHAT-023 .links a').first().click();
  const target = page.locator(':target');
  t.match(await target.getAttribute('id'), /^e\d+$/);
  // The exchange is expanded.
  await target.locator('h3').first().waitFor();
  await target.locator('.links a').last().click();
  t.match(await page.locator(':target').getAttribute('id'), /^(CHAT|HEALTH)-\d+$/);
});

void t.test('requirements can be filtered by verdict, area, and level', async (t) => {
  const { checked } = await shareHostilePages();
  const { page } = await openPage(t, urlOf(checked));
  const visibleIds = (): Promise<string[]> =>
    page.evaluate(
      `[...document.querySelectorAll('article')].filter((article) => article.offsetParent)
        .map((article) => article.id)`,
    );
  const all = await visibleIds();
  t.ok(all.includes('CHAT-023') && all.includes('HEALTH-010') && all.includes('USERS-001'));
  await page.uncheck('#verdict-pass');
  t.notOk((await visibleIds()).includes('USERS-001'), 'passed requirements are hidden');
  await page.uncheck('#area-health');
  t.notOk(
    (await visibleIds()).some((id) => id.startsWith('HEALTH')),
    'the area is hidden',
  );
  await page.uncheck('#level-must');
  t.notOk((await visibleIds()).includes('CHAT-023'), 'the level is hidden');
  await page.check('#level-must');
  await page.check('#area-health');
  await page.check('#verdict-pass');
  t.same(await visibleIds(), all);
});

void t.test('the page fits desktops and phones, in light and dark mode, and prints', async (t) => {
  const { checked } = await shareHostilePages();
  await assertFitsScreens(t, urlOf(checked));
});

void t.test('a clean run takes less than ten screens, and its details can be found', async (t) => {
  const transcript = await recordSandboxOnce();
  const report = reportOf(transcript, transcript.run.startedAt);
  t.equal(report.verdict, 'conforming');
  const path = join(t.testdir({}), 'clean.html');
  writeFileSync(path, htmlReport(report, transcript));
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const { page } = await openPage(t, urlOf(path), { viewport });
    const height = Number(await page.evaluate('document.scrollingElement.scrollHeight'));
    t.ok(height < 10 * viewport.height, `${height} px at a width of ${viewport.width} px`);
  }
  const opened = await openPage(t, urlOf(path));
  const { page } = opened;
  t.same(await readEmbeddedReport(opened), JSON.parse(JSON.stringify(report)));
  t.equal(await page.isVisible('#CHAT-006'), false, 'passed requirements are collapsed');
  await page.keyboard.press('/');
  await page.keyboard.type('chat-006');
  t.equal(await page.isVisible('#CHAT-006'), true, 'the search finds a folded requirement');
  t.match(await page.innerText('search output'), /^\d+ of \d{2,}$/);
  await page.goto(`${urlOf(path)}#CHAT-023`);
  // A link opens a folded requirement.
  await page.locator('#CHAT-023').waitFor();
});

void t.test('content over the size limits is cut with a note', async (t) => {
  const { record } = await shareHostilePages();
  const recorded = readTranscript(readFileSync(record, 'utf8'));
  const { run: runRecord, exchanges } = recorded;
  const last = exchanges.at(-1);
  if (!last?.response) throw new Error('The last exchange has no response.');
  const { json, sent, ...template } = last;
  const headers = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`x-${index}`, 'v'.repeat(400)]),
  );
  const many: Transcript = {
    run: runRecord,
    exchanges: [
      ...exchanges,
      ...Array.from({ length: 1_000 }, (_, index) =>
        toExchange({
          ...template,
          id: exchanges.length + 1 + index,
          startedMs: template.startedMs + index,
          endedMs: template.endedMs + index,
          response: { status: 200, headers, body: 'b'.repeat(10_000) },
        }),
      ),
    ],
  };
  const page = htmlReport(reportOf(recorded, runRecord.startedAt), many);
  t.ok(page.length < 25_000_000, `${page.length} characters`);
  t.match(page, /Cut: [\d,]+ more exchanges/);
  t.match(page, /\[cut: 6,000 more characters\]/);
  t.match(page, /\[cut: 60 more headers\]/);
  t.equal(page.match(/<li id="e\d+"/g)?.length, 1_000);
  t.match(page, /id="e3"/, 'exchanges with a finding are kept');
});

void t.test('a known failure shows its comment, and a run without exchanges is not judged', (t) => {
  const empty: Transcript = {
    run: newRunRecord({ areas: ['health'], allowHttp: false, keyGiven: false }),
    exchanges: [],
  };
  const { startedAt } = empty.run;
  const page = htmlReport(reportOf(empty, startedAt), empty);
  t.match(page, /Not judged/);
  t.notMatch(page, /undefined|\[object|NaN|Infinity/);
  const body = '{"status":"up","timestamp":"2026-11-20T09:30:00Z"}';
  const transcript: Transcript = {
    run: empty.run,
    exchanges: [
      toExchange({
        record: 'exchange',
        id: 1,
        probe: 'preflight',
        step: 'plain',
        endpoint: 'health',
        intent: 'valid',
        startedMs: 0,
        endedMs: 1,
        request: { method: 'GET', path: '/health', headers: {} },
        response: { status: 200, headers: { 'content-type': 'application/json' }, body },
      }),
    ],
  };
  const report = applyKnownFailures(reportOf(transcript, startedAt), [
    { id: 'HEALTH-010', comment: 'until <release> 7' },
  ]);
  t.match(htmlReport(report, transcript), /until &lt;release&gt; 7/);
  t.end();
});
