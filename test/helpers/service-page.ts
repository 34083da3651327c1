/** Pages of the service in a browser: their forms, and their rules. */
import type { Browser, Page } from 'playwright-core';
import type { Test } from 'tap';
import { assertAccessible } from './accessibility.ts';
import { openPage } from './browser.ts';

/** Clicks a button of the content, and returns the text of the page that follows. */
export async function clickButton(page: Page, name: string): Promise<string> {
  const clicked = page.getByRole('main').getByRole('button', { name, exact: true }).click();
  await Promise.all([page.waitForEvent('load'), clicked]);
  return page.innerText('main');
}

/**
 * Opens a page in two widths and both color schemes, and asserts that it fits, is accessible, requests
 * nothing else, and reports no error. `act` may use the page first.
 */
export async function inspectPage(
  t: Test,
  browser: Browser,
  url: string,
  act?: (page: Page) => Promise<void>,
): Promise<void> {
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width, height: 844 };
      const { page, requests, errors } = await openPage(browser, url, { viewport, colorScheme });
      t.same(requests, [url], 'the page makes no other request');
      await page.evaluate(
        `for (const each of document.querySelectorAll('details')) each.open = true`,
      );
      await act?.(page);
      const foreign = requests.filter((request) => !request.startsWith(new URL(url).origin));
      t.same(foreign, [], 'no request to another host');
      // Chromium reports a page with status 422, which shows what to correct.
      const unexpected = errors.filter((error) => !/status of 4(00|22) /.test(error));
      t.same(unexpected, [], url);
      t.equal(await page.evaluate('window.ran'), undefined, 'no text runs as a script');
      t.equal(await page.evaluate('document.scrollingElement.scrollWidth'), width, url);
      await assertAccessible(t, page);
      await page.context().close();
    }
  }
}

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
