/** Narrow screens: the rows of tables are stacked. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage, PHONE_WIDTH } from '../../support/pages/browser.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { seedRun } from '../../support/sessions/seeded-run.ts';

const WIDE = { width: 1280, height: 844 };
const NARROW = { width: PHONE_WIDTH, height: 844 };

const ROLES = { table: 1, row: 2, columnheader: 6, rowheader: 1, cell: 5 };

/** Counts the elements that the browser describes to screen readers, by role. */
async function countRoles(page: Page): Promise<Record<string, number>> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const roles = nodes.flatMap(({ ignored, role }) => (ignored ? [] : String(role?.value)));
  const byRole = Map.groupBy(roles, (role) => role);
  return Object.fromEntries(Array.from(byRole, ([role, { length }]) => [role, length]));
}

void t.test('the rows of a table are stacked on a phone, and stay rows', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:9' });
  const { page, errors } = await openPage(t, `${service.url}/agents`, { viewport: WIDE });
  const readLabel = (): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector('tbody td'), '::before').content`);
  const cell = page.getByRole('cell', { name: /Not checked/ });
  const name = page.getByRole('rowheader', { name: /Shop/ });
  const placeOf = async (each: typeof cell): Promise<{ x: number; y: number }> => {
    const box = await each.boundingBox();
    if (!box) throw new Error('The cell is not shown.');
    return box;
  };
  t.equal(await readLabel(), 'none', 'a wide table has headings only');
  t.match(await countRoles(page), ROLES);
  t.ok((await placeOf(cell)).x > (await placeOf(name)).x, 'cells are side by side');

  await page.setViewportSize(NARROW);
  t.equal(await readLabel(), '"ready"', 'a cell starts with the name of its column');
  t.ok((await placeOf(cell)).y > (await placeOf(name)).y, 'one cell is below the other');
  t.match(await countRoles(page), ROLES, 'screen readers still get a table');
  await assertAccessibleAtNight(t, page);
  t.same(errors, []);
});

void t.test(
  'stacked rows are short: cells share lines, and counts of 0 are left out',
  async (t) => {
    const { service, admin } = await withEmptyService(t);
    await admin('POST /seed', {
      runs: [
        seedRun('Monday', [
          { id: 'a', outcome: 'pass' },
          { id: 'b', outcome: 'fail' },
        ]),
      ],
    });
    const { page } = await openPage(t, `${service.url}/runs?kind=production`, { viewport: NARROW });
    const row = page.locator('[aria-label=Runs] tbody tr');
    const [sessions, failed, errored] = [2, 3, 4].map((nth) => row.locator('> *').nth(nth - 1));
    t.equal((await sessions?.boundingBox())?.y, (await failed?.boundingBox())?.y, 'on one line');
    t.ok(await failed?.isVisible());
    t.notOk(await errored?.isVisible(), 'no session has an errored eval');
    await page.setViewportSize(WIDE);
    t.ok(await errored?.isVisible(), 'a wide table has all cells');
  },
);

void t.test('without a script, a table scrolls on a phone', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:9' });
  const options = { viewport: NARROW, javaScriptEnabled: false };
  const { page } = await openPage(t, `${service.url}/agents`, options);
  const [name, ready] = [page.locator('tbody th'), page.locator('tbody td').first()];
  const [left, right] = [await name.boundingBox(), await ready.boundingBox()];
  t.equal(left?.y, right?.y, 'cells are side by side');
  const tableWidth = (await page.locator('table').boundingBox())?.width ?? Infinity;
  t.ok(tableWidth <= PHONE_WIDTH, 'the page does not scroll');
});

void t.test('sessions take two lines on a phone, and one more for evals that fail', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const outcomes = ['Polite', 'Fast', 'Correct'].map((eval_name) => ({
    eval_name,
    outcome: 'pass',
  }));
  const sessions = Array.from({ length: 50 }, (_, nth) => ({
    source_session_id: `conversation-${nth}`,
    started_at: '2026-11-20T09:00:00Z',
    outcomes:
      nth === 0 ? [{ eval_name: 'Polite', outcome: 'fail' }, ...outcomes.slice(1)] : outcomes,
  }));
  await admin('POST /seed', { runs: [{ name: 'Shop 2026-11-20', sessions }] });
  const { page } = await openPage(t, `${service.url}/sessions?kind=production`, {
    viewport: NARROW,
  });
  const rowOf = (name: string) => page.locator('tbody tr').filter({ hasText: name });
  const [failed, passed] = [rowOf('conversation-0'), rowOf('conversation-49')];
  const heightOf = async (row: typeof failed) => (await row.boundingBox())?.height ?? Infinity;
  t.ok((await heightOf(passed)) < 72, 'two lines');
  t.ok((await heightOf(failed)) < 100, 'three lines');
  const [name, verdict, run] = await Promise.all(
    ['th', '[data-label=verdict]', '[data-label=run]'].map((cell) =>
      passed.locator(cell).boundingBox(),
    ),
  );
  t.ok(
    verdict && name && Math.abs(verdict.y - name.y) < 8,
    'the verdict and the name share a line',
  );
  t.ok(run && name && run.y >= name.y + name.height, 'the run is below');
  t.match(
    (await failed.innerText()).replaceAll(/\s+/g, ' '),
    /^conversation-0 failed ✗ fail Shop 2026-11-20 2026-11-20 09:00 ?$/,
    'evals that pass are left out',
  );
  t.equal(await passed.getByText('pass', { exact: true }).filter({ visible: true }).count(), 0);
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
  t.ok(height < 4_500, `50 sessions are ${height} px high`);
  await page.setViewportSize(WIDE);
  t.equal(await passed.getByText('✓ pass').filter({ visible: true }).count(), 3, 'wide: all evals');
});
