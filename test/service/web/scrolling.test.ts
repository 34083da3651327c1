/** Tables that are wider than the screen: a shadow shows it, and only those that scroll are tab stops. */
import type { Locator, Page } from 'playwright-core';
import t from 'tap';
import { assertAccessibleAtNight } from '../../helpers/accessibility.ts';
import { withEmptyService } from '../../helpers/empty-service.ts';
import { openPage } from '../../helpers/browser.ts';

const WIDE = { width: 1280, height: 844 };
const NARROW = { width: 390, height: 844 };

void t.test('a table is a tab stop only while it scrolls', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:9' });
  const { page, errors } = await openPage(t, `${service.url}/agents`, {
    viewport: WIDE,
  });
  for (const [viewport, table] of [
    [WIDE, '.scroll:not([tabindex])'],
    [NARROW, '.scroll[tabindex="0"]'],
    [WIDE, '.scroll:not([tabindex])'],
  ] as const) {
    await page.setViewportSize(viewport);
    await page.locator(table).waitFor();
    await assertAccessibleAtNight(t, page);
  }
  await page.goto(`${service.url}/transcripts`);
  await page.locator('[tabindex="0"]:visible').first().waitFor({ state: 'detached' });
  t.same(errors, []);
});

/** Returns pictures of the left and the right edge of an element. */
async function readEdges(page: Page, frame: Locator): Promise<{ left: Buffer; right: Buffer }> {
  const box = await frame.boundingBox();
  if (!box) throw new Error('The table is not shown.');
  const { x, y, width } = box;
  const take = (at: number): Promise<Buffer> =>
    page.screenshot({ clip: { x: at, y: Math.ceil(y) + 10, width: 4, height: 4 } });
  return { left: await take(Math.ceil(x)), right: await take(Math.floor(x + width) - 4) };
}

void t.test('a shadow shows at which edge a table continues', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:9' });
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await openPage(t, `${service.url}/agents`, {
      ...{ viewport: NARROW, colorScheme },
    });
    const frame = page.locator('.scroll');
    // Only the shadows are compared.
    await page.evaluate(`document.querySelector('.scroll table').style.visibility = 'hidden'`);
    const start = await readEdges(page, frame);
    t.notSame(start.left, start.right, `${colorScheme}: a shadow at the right edge only`);
    await page.evaluate(`document.querySelector('.scroll').scrollLeft = 10_000`);
    const end = await readEdges(page, frame);
    t.same(end.right, start.left, `${colorScheme}: no shadow at the end`);
    t.notSame(end.left, start.left, `${colorScheme}: a shadow at the left edge`);
    await page.context().close();
  }
});
