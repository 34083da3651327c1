import chromium from '@sparticuz/chromium';
import {
  chromium as engine,
  type Browser,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core';
import type { Test } from 'tap';

const DISABLE = '--disable-features=';

/** A browser without a screen, for as long as a test. `flags` come on top of what it needs. */
export async function withBrowser(t: Test, flags: readonly string[] = []): Promise<Browser> {
  const isMore = (flag: string): boolean => flag.startsWith(DISABLE);
  const disabled = [...chromium.args, ...flags].filter(isMore);
  const browser = await engine.launch({
    executablePath: await chromium.executablePath(),
    args: [
      ...[...chromium.args, ...flags].filter((flag) => !isMore(flag)),
      // Of several such flags the browser heeds the last.
      DISABLE + disabled.map((flag) => flag.slice(DISABLE.length)).join(','),
    ],
    headless: true,
  });
  t.teardown(() => browser.close());
  return browser;
}

/** A page that was opened, and what it did besides showing itself. */
export interface Opened {
  page: Page;
  /** Addresses that were asked for, that of the page first. */
  requests: string[];
  /** What it complained of, and scripts that it had blocked. */
  complaints: string[];
}

/** Opens an address as somebody with such a screen would. */
export async function opened(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Opened> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return { page, requests, complaints };
}
