/** Assertions about the HTML report of every run. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { assertAccessible } from './accessibility.ts';
import { assertFits, openPage, visitViews, type OpenedPage } from './browser.ts';

/**
 * Opens a report that contains hostile markup, and asserts that the page shows the markup as text: it
 * makes no request, runs no script but its own, and contains no invisible characters.
 */
export async function assertInertPage(t: Test, url: string): Promise<OpenedPage> {
  const source = readFileSync(fileURLToPath(url), 'utf8');
  t.equal(source.match(/<script\b/gi)?.length, 2, 'the script of the page, and its JSON');
  t.notMatch(source, /<(img|link|iframe|base|object)\b|@import|url\(/i);
  t.notMatch(source, /(src|href|action)="(?!#)/i, 'every link stays on the page');
  t.notMatch(source, /(?![\n\t])[\p{Cc}\u2028-\u202E\u2066-\u2069]/u, 'no invisible characters');
  const opened = await openPage(t, url);
  t.same(opened.requests, [url], 'the only request is for the page');
  t.same(opened.errors, [], 'the content security policy allows the styles and the script');
  t.equal(await opened.page.evaluate('window.ran'), undefined);
  t.equal(await opened.page.isVisible('h1'), true, 'styles from the sandbox have no effect');
  t.equal(await opened.page.locator('h1 > .badge').count(), 1, 'the verdict is a badge');
  const brokenLinks = await opened.page.evaluate(
    `[...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))
      .filter((href) => !document.getElementById(href.slice(1)))`,
  );
  t.same(brokenLinks, [], 'every link has a target');
  return opened;
}

/** Returns the JSON report that a page contains. */
export async function readEmbeddedReport({ page }: OpenedPage): Promise<unknown> {
  return JSON.parse(await page.evaluate(`document.getElementById('report').textContent`));
}

/**
 * Asserts that a page fits a desktop and a phone, differs in light and dark mode, is accessible, and can
 * be printed; `visit` checks each opened page. At night, axe-core judges it in all views.
 */
export async function assertFitsScreens(
  t: Test,
  url: string,
  visit?: (opened: OpenedPage, width: number) => Promise<void>,
): Promise<void> {
  await visitViews(t, url, async (opened, { colorScheme }) => {
    const { page } = opened;
    await assertAccessible(t, page);
    await page.evaluate(
      `document.querySelectorAll('details').forEach((details) => details.open = true)`,
    );
    await assertFits(t, page, url, (width) => visit?.(opened, width));
    const readBackground = (): Promise<unknown> =>
      page.evaluate('getComputedStyle(document.body).backgroundColor');
    const background = await readBackground();
    await page.emulateMedia({ colorScheme: colorScheme === 'light' ? 'dark' : 'light' });
    t.not(await readBackground(), background, 'light and dark mode differ');
    await page.emulateMedia({ media: 'print' });
    t.ok(await page.isVisible('h1'), 'the print version shows the verdict');
    t.notOk(await page.isVisible('nav'), 'the print version has no navigation');
  });
}
