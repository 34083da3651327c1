import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { assertAccessible } from './accessibility.ts';
import { openPage } from './browser.ts';

/**
 * Opens each path on a desktop and a phone, in light and dark mode, and asserts that the page is
 * accessible, fits the screen, causes no error, runs no foreign script, and requests nothing else but its
 * own live updates.
 */
export async function assertViews(
  t: Test,
  browser: Browser,
  url: string,
  paths: readonly string[],
  visit: (page: Page, path: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const path of paths) {
        const viewport = { width, height: 844 };
        const opened = await openPage(browser, url + path, { viewport, colorScheme });
        const { page, requests, errors } = opened;
        const others = requests.filter((requested) => !requested.includes('/progress'));
        t.same(others, [url + path], 'the page makes no other request');
        t.same(errors, [], path);
        t.equal(await page.evaluate('document.scrollingElement.scrollWidth'), width, path);
        t.equal(await page.evaluate('window.ran'), undefined, 'no foreign script runs');
        await page.evaluate(
          `document.querySelectorAll('details').forEach((details) => details.open = true)`,
        );
        t.equal(
          await page.evaluate('document.scrollingElement.scrollWidth'),
          width,
          `${path} open`,
        );
        await assertAccessible(t, page);
        await visit(page, path);
        await page.context().close();
      }
    }
  }
}
