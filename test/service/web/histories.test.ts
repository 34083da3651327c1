/** Results over several runs: the heat map of scenarios by simulation, and the charts of load targets. */
import t from 'tap';
import {
  isMessage,
  schemas,
  type LoadReport,
  type LoadVerdict,
  type ReadinessReport,
} from '../../../src/contract/index.ts';
import { assertAccessible } from '../../support/pages/accessibility.ts';
import { assertFits, openPage } from '../../support/pages/browser.ts';
import { follow } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';

const AGENT = { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:9' };

type Outcome = 'pass' | 'fail' | 'error';

/** A seeded simulation of the agent; each scenario with the outcomes of its sessions. */
const seedSimulation = (nth: number, scenarios: Record<string, readonly Outcome[]>) => ({
  id: `sim-${nth}`,
  name: `Release ${nth}`,
  agent: AGENT.name,
  sessions: Object.entries(scenarios).flatMap(([scenario, outcomes]) =>
    outcomes.map((outcome, index) => ({
      id: `${nth}-${scenario}-${index}`,
      scenario,
      persona: 'calm',
      started_at: `2026-11-0${nth}T09:00:00Z`,
      outcomes: [{ eval_name: 'Polite', outcome }],
    })),
  ),
});

void t.test('a heat map shows the scenarios of several simulations, with links', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', AGENT);
  const seed = (simulation: object) => admin('POST /seed', { simulations: [simulation] });
  await seed(seedSimulation(1, { parcel: ['pass', 'fail'], refund: ['pass', 'pass'] }));
  const paths = ['/runs?kind=simulation', '/agents/shop'];
  for (const path of paths) {
    const { page } = await openPage(t, service.url + path);
    t.match(await page.innerText('main'), 'Release 1');
    t.equal(await page.locator('table.heat').count(), 0, 'one simulation has no heat map');
  }
  await seed(seedSimulation(2, { parcel: ['pass', 'pass'], refund: ['fail', 'fail'] }));
  await seed(seedSimulation(3, { parcel: ['error'] }));
  for (const path of paths) {
    const { page, errors } = await openPage(t, service.url + path);
    const cells = await page.locator('table.heat tbody tr').allInnerTexts();
    t.same(
      cells.map((text) => text.trim().split(/\s+/).join(' ')),
      ['refund ✓ 2/2 ✗ 0/2', 'parcel ✗ 1/2 ✓ 2/2 ? 0/1'],
      'what failed last is first, and the newest simulation is last',
    );
    const colors = await page.evaluate<string[]>(
      `['✓', '✗', '?'].map((icon) => getComputedStyle([...document.querySelectorAll('.heat td')]
        .find((cell) => cell.innerText.includes(icon))).backgroundColor)`,
    );
    t.equal(new Set(colors).size, 3, 'each verdict has a color');
    await assertAccessible(t, page);
    await assertFits(t, page, path);
    const cell = page.getByLabel('✗ 0/2, failed: refund in Release 2');
    t.match(await follow(page, cell), /2 sessions.*newest first/);
    t.match(page.url(), /run_id=sim-2&scenario_id=refund/);
    await page.goBack();
    await follow(page, page.getByLabel(/^11-01: Release 1, 2026-11-01/));
    t.match(page.url(), '/simulation/sim-1');
    t.same(errors, []);
  }
  await admin('POST /scenarios', makeScenario({ id: 'parcel' }));
  const { page } = await openPage(t, `${service.url}/runs?kind=simulation`);
  t.same(await page.locator('.heat th[scope=row] a').allInnerTexts(), ['parcel'], 'a stored one');
  await follow(page, '.heat th[scope=row] a');
  t.equal(new URL(page.url()).pathname, '/scenarios/parcel');
});

void t.test('the readiness shows each target over the load tests of the URL', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', AGENT);
  const attach = (
    day: number,
    verdict: LoadVerdict,
    sandbox: string,
    run: LoadVerdict = 'PASS',
  ) => {
    const report = structuredClone(schemas.LoadReport.examples[0]) as unknown as LoadReport;
    const targets = report.targets.map((target) => ({ ...target, measured: 100 * day, verdict }));
    const endedAt = `2026-11-0${day}T09:00:00.000Z`;
    const content = { ...report, sandbox, endedAt, targets, verdict: run };
    return admin('POST /agents/shop/reports', content);
  };
  const read = async (): Promise<ReadinessReport['parts'][number] | undefined> => {
    const url = `${service.url}/agents/shop/readiness?format=json`;
    const report = (await (await fetch(url)).json()) as ReadinessReport;
    t.ok(isMessage('ReadinessReport', report));
    return report.parts.find(({ id }) => id === 'load');
  };
  await attach(2, 'FAIL', AGENT.url);
  await attach(3, 'PASS', 'http://127.0.0.1:10');
  const [single] = (await read())?.targets ?? [];
  t.match(single, { measured: 200 });
  t.equal(single?.history, undefined, 'one load test of this URL has no history');
  const url = `${service.url}/agents/shop/readiness?format=html`;
  const { page, errors } = await openPage(t, url);
  t.equal(await page.locator('figure').count(), 0, 'nor a chart');

  await attach(1, 'PASS', AGENT.url);
  await attach(4, 'NOT PROVEN', AGENT.url, 'INVALID RUN');
  const targets = (await read())?.targets ?? [];
  t.same(
    targets[0]?.history,
    [
      { ended_at: '2026-11-01T09:00:00.000Z', measured: 100, verdict: 'PASS' },
      { ended_at: '2026-11-02T09:00:00.000Z', measured: 200, verdict: 'FAIL' },
    ],
    'the oldest one is first, though it was attached last; an invalid run does not count',
  );
  await page.reload();
  t.equal(await page.locator('figure').count(), targets.length, 'a chart for each target');
  const first = page.locator('figure').first();
  t.match(await first.locator('svg').getAttribute('aria-label'), /: 100 ms, 200 ms$/);
  t.equal(await first.locator('.good circle').count(), 1, 'a filled dot passed');
  t.equal(await first.locator('.bad circle').count(), 1, 'a hollow red dot failed');
  await attach(5, 'NOT PROVEN', AGENT.url);
  await page.reload();
  t.equal(await first.locator('.open circle').count(), 1, 'a yellow dot is not proven');
  await assertAccessible(t, page);
  await assertFits(t, page, 'the readiness');
  t.same(errors, []);
});
