import chromium from '@sparticuz/chromium';
import {
  chromium as engine,
  type Browser,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core';
import type { Test } from 'tap';

/**
 * Starts a headless browser with additional flags, and closes it after the test. Chromium's own flags
 * for servers are left out: with `--single-process` it stops when a context is closed.
 */
export async function withBrowser(t: Test, flags: readonly string[] = []): Promise<Browser> {
  const browser = await engine.launch({
    executablePath: await chromium.executablePath(),
    args: ['--no-sandbox', '--disable-background-networking', ...flags],
    headless: true,
  });
  t.teardown(() => browser.close());
  return browser;
}

/** A page, with the requests and errors since it was opened. */
export interface OpenedPage {
  page: Page;
  /** The requested URLs, starting with the page. */
  requests: string[];
  /** Console messages and uncaught exceptions, including reports of blocked scripts. */
  errors: string[];
}

/** Opens a URL in a new browser context. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(url);
  return { page, requests, errors };
}

/** The size and the colors in which a page is shown. */
export interface View {
  width: number;
  colorScheme: 'light' | 'dark';
}

/** Opens a URL on a desktop and a phone, in light and dark mode. */
export async function visitViews(
  browser: Browser,
  url: string,
  visit: (opened: OpenedPage, view: View) => Promise<void>,
): Promise<void> {
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width, height: 844 };
      const opened = await openPage(browser, url, { viewport, colorScheme });
      await visit(opened, { width, colorScheme });
      await opened.page.context().close();
    }
  }
}
