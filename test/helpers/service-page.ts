/** Pages of the service in a browser: their forms, and their rules. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { assertAccessible } from './accessibility.ts';
import { visitViews } from './browser.ts';

/** Clicks a button of the content, and returns the text of the page that follows. */
export async function clickButton(page: Page, name: string): Promise<string> {
  const clicked = page.getByRole('main').getByRole('button', { name, exact: true }).click();
  await Promise.all([page.waitForEvent('load'), clicked]);
  return page.innerText('main');
}

const TABS_MAX = 60;

/** Presses Tab until an element with this name or text has the focus. */
export async function tabTo(page: Page, target: string | RegExp): Promise<void> {
  for (let pressed = 0; pressed < TABS_MAX; pressed += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<(string | undefined)[]>(
      '[document.activeElement.name, document.activeElement.innerText]',
    );
    const isTarget = (value = ''): boolean =>
      typeof target === 'string' ? value === target : target.test(value);
    if (focused.some(isTarget)) return;
  }
  throw new Error(`${TABS_MAX} presses of Tab did not reach ${String(target)}.`);
}

/** Presses Enter, and waits for the page that follows. */
export async function pressEnter(page: Page): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
}

/** Follows a link or presses a button with the keyboard alone. */
export async function followByKeyboard(page: Page, target: string | RegExp): Promise<void> {
  await tabTo(page, target);
  await pressEnter(page);
}

/** Writes a file to upload, and returns its path. */
export function writeUpload(t: Test, name: string, content: string | Uint8Array): string {
  const path = join(t.testdir({}), name);
  writeFileSync(path, content);
  return path;
}

/**
 * Opens a page on a desktop and a phone, in light and dark mode, and asserts that it fits, also with all
 * details open, that it is accessible, reports no error, runs no foreign script, and requests nothing
 * else but its own live updates. `act` may use the page first.
 */
export async function inspectPage(
  t: Test,
  browser: Browser,
  url: string,
  act?: (page: Page) => Promise<void>,
): Promise<void> {
  await visitViews(browser, url, async ({ page, requests, errors }, { width }) => {
    const assertFits = async (state: string): Promise<void> => {
      const scrollWidth = await page.evaluate('document.scrollingElement.scrollWidth');
      t.equal(scrollWidth, width, `${url} ${state}`);
    };
    await assertFits('at first');
    await page.evaluate(
      `for (const each of document.querySelectorAll('details')) each.open = true`,
    );
    const others = requests.filter((request) => !isLive(request));
    t.same(others, [url], 'the page makes no other request');
    t.same(errors, [], url);
    await act?.(page);
    const foreign = requests.filter((request) => !request.startsWith(new URL(url).origin));
    t.same(foreign, [], 'no request to another host');
    // Chromium reports a page with status 422, which shows what to correct.
    const unexpected = errors.filter((error) => !/status of 4(00|22) /.test(error));
    t.same(unexpected, [], url);
    t.equal(await page.evaluate('window.ran'), undefined, 'no text runs as a script');
    await assertFits('with details open');
    await assertAccessible(t, page);
  });
}

const isLive = (url: string): boolean =>
  /\/(?:overview\/live|progress)$/.test(new URL(url).pathname);

/** Sends a form without the token, from another origin, and with a wrong token; each is refused. */
export async function assertFormsRefused(
  t: Test,
  page: Page,
  actions: readonly string[],
): Promise<void> {
  const { origin } = new URL(page.url());
  for (const action of actions) {
    for (const [headers, token] of [
      [{ origin }, undefined],
      [{ origin }, 'not-the-token'],
      [{ origin: 'https://evil.example' }, await readToken(page)],
      [{}, await readToken(page)],
    ] as const) {
      const response = await page.request.post(origin + action, {
        form: token === undefined ? {} : { _token: token },
        headers: { ...headers, accept: 'application/json' },
        maxRedirects: 0,
      });
      t.equal(response.status(), 403, `POST ${action}`);
    }
  }
}

const readToken = (page: Page): Promise<string> =>
  page.locator('main [name=_token]').first().inputValue();
