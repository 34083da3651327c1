/** Pages of the service in a browser: their forms, and their rules. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import { isNightly } from '../nightly.ts';
import { assertAccessibleAtNight } from './accessibility.ts';
import { assertFits, visitViews } from './browser.ts';

/**
 * Clicks a link or a button that leads to another page, waits until that has loaded, and returns its
 * text. A click alone returns when the browser has received the first bytes of the other page.
 */
export async function follow(page: Page, target: string | Locator): Promise<string> {
  const element = typeof target === 'string' ? page.locator(target).first() : target;
  await Promise.all([page.waitForEvent('load'), element.click()]);
  return page.innerText('main');
}

/** Clicks a button of the content, and returns the text of the page that follows. */
export function clickButton(page: Page, name: string): Promise<string> {
  return follow(page, page.getByRole('main').getByRole('button', { name, exact: true }));
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

/** Attaches a file (default: none) on the page of an agent, and returns the text of the page that follows. */
export async function attachReport(page: Page, path?: string): Promise<string> {
  const form = page.locator('details', { has: page.locator('#attach') }).last();
  if ((await form.getAttribute('open')) === null) await form.locator('summary').first().click();
  if (path !== undefined) await page.setInputFiles('[name=report]', path);
  return clickButton(page, 'Attach');
}

/** Writes a file to upload, and returns its path. */
export function writeUpload(t: Test, name: string, content: string | Uint8Array): string {
  const path = join(t.testdir({}), name);
  writeFileSync(path, content);
  return path;
}

/**
 * Opens a page, and asserts that it fits a desktop and a phone, even with all details open. It must
 * report no error, run no foreign script, and request only its stylesheet and live updates. `act` may
 * use the page first. At night, the page is opened in all views, and each must be accessible.
 */
export async function inspectPage(t: Test, url: string): Promise<void> {
  await visitViews(t, url, async ({ page, requests, errors }) => {
    const others = requests.filter((request) => !isLive(request) && !isStylesheet(request));
    t.same(others, [url], 'the page makes no other request');
    t.same(errors, [], url);
    await assertShown(t, page, requests);
    t.same(errors.filter(isUnexpected), [], url);
    await assertAccessibleAtNight(t, page);
  });
}

/** Whether a message is an error; Chromium reports a page with status 422, which shows what to correct. */
export const isUnexpected = (message: string): boolean => !/status of 4(00|22) /.test(message);

/** Opens all details of a page. */
export const openDetails = (page: Page): Promise<void> =>
  page.evaluate(`for (const each of document.querySelectorAll('details')) each.open = true`);

/** Elements that only hostile text has. */
const FOREIGN =
  'img, base, meta[http-equiv=refresh], [onerror], [onmouseover], main style, main script';

/**
 * Asserts that all text of a page is text, which runs no script and requests nothing from another host,
 * and that the page fits a desktop and a phone, even with all details open.
 */
export async function assertShown(t: Test, page: Page, requests: string[]): Promise<void> {
  const url = page.url();
  const { origin } = new URL(url);
  const foreign = requests.filter((request) => new URL(request).origin !== origin);
  t.same(foreign, [], 'no request to another host');
  const shown = await page.evaluate(`({
    ran: window.ran,
    isStyled: document.querySelector('h1').checkVisibility(),
    foreign: document.querySelectorAll(${JSON.stringify(FOREIGN)}).length,
  })`);
  t.same(shown, { ran: undefined, isStyled: true, foreign: 0 }, 'no text is markup');
  // A page is not wider without its details.
  if (isNightly) await assertFits(t, page, url);
  await openDetails(page);
  await assertFits(t, page, `${url} with details open`);
}

/** Asserts that the HTML of a response has no elements that only hostile text has. */
export async function assertNoMarkup(
  t: Test,
  page: Page,
  html: string,
  place: string,
): Promise<void> {
  const count = await page.evaluate(
    `new DOMParser().parseFromString(${JSON.stringify(html)}, 'text/html')
      .querySelectorAll(${JSON.stringify(FOREIGN)}).length`,
  );
  t.equal(count, 0, `${place}: no text is markup`);
}

const isStylesheet = (url: string): boolean => new URL(url).pathname.startsWith('/assets/');

const isLive = (url: string): boolean =>
  /\/(?:overview\/live|progress)$/.test(new URL(url).pathname);
