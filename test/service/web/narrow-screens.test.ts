/** Narrow screens: the rows of tables are stacked. */
import t from 'tap';
import { assertAccessibleAtNight } from '../../helpers/accessibility.ts';
import { openPage, PHONE_WIDTH } from '../../helpers/browser.ts';
import { withEmptyService } from '../../helpers/empty-service.ts';

const WIDE = { width: 1280, height: 844 };
const NARROW = { width: PHONE_WIDTH, height: 844 };

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
  t.ok((await placeOf(cell)).x > (await placeOf(name)).x, 'cells are side by side');

  await page.setViewportSize(NARROW);
  t.equal(await readLabel(), '"ready"', 'a cell starts with the name of its column');
  t.ok((await placeOf(cell)).y > (await placeOf(name)).y, 'one cell is below the other');
  for (const [role, count] of [
    ...[['table', 1] as const, ['row', 2] as const],
    ...[['columnheader', 6] as const, ['rowheader', 1] as const, ['cell', 5] as const],
  ] as const) {
    t.equal(await page.getByRole(role).count(), count, `${role}: ${count}`);
  }
  await assertAccessibleAtNight(t, page);
  t.same(errors, []);
});
