/** Every page that a link leads to, and every form on it, with hostile text in all data. */
import type { Browser, BrowserContextOptions } from 'playwright-core';
import t, { type Test } from 'tap';
import { assertAccessible } from '../../helpers/accessibility.ts';
import { openPage, withBrowser, type OpenedPage } from '../../helpers/browser.ts';
import { withFilledService } from '../../helpers/filled-service.ts';
import { HOSTILE_MARKUP } from '../../helpers/hostile-markup.ts';

const PAGES_MAX = 150;

/** A form of a page: where it goes, and its fields. */
interface FoundForm {
  action: string;
  isMultipart: boolean;
  fields: { name: string; value: string; isText: boolean }[];
}

/** Returns what links with different ids have in common. */
function toTemplate(url: string): string {
  const { pathname, searchParams } = new URL(url);
  const path = pathname.replaceAll(/\/(?=[^/]*[\d%_A-Z])[^/]+/g, '/ID');
  const names = [...searchParams].map(([name, value]) => (name === 'kind' ? value : name));
  return [path, ...new Set(names.sort())].join(' ');
}

const LINKS = `[...document.querySelectorAll('a[href]')].map((a) => a.href.replace(/#.*/, ''))`;
const FORMS = `[...document.forms].filter(({ method }) => method === 'post').map((form) => ({
  action: form.action, isMultipart: form.enctype === 'multipart/form-data',
  fields: [...form.elements].filter(({ name }) => name).map((field) => ({
    name: field.name, value: field.value,
    isText: field.matches('textarea, input:not([type]), [type=text], [type=search], [type=url], [type=password]'),
  })) }))`;

/** Opens a page, and asserts what holds for all pages. */
async function assertPage(
  t: Test,
  browser: Browser,
  url: string,
  options: BrowserContextOptions,
): Promise<OpenedPage> {
  const opened = await openPage(browser, url, options);
  const { page, requests, errors } = opened;
  const at = `${toTemplate(url)} ${JSON.stringify(options.viewport?.width)} ${options.colorScheme}`;
  t.same(errors, [], `${at}: no error on the console`);
  const { origin } = new URL(url);
  t.same(
    requests.filter((request) => new URL(request).origin !== origin),
    [],
    `${at}: no request to another host`,
  );
  t.equal(await page.evaluate('window.ran'), undefined, `${at}: hostile text is inert`);
  t.equal(await page.locator('h1').count(), 1, `${at}: one heading`);
  const width = await page.evaluate('document.scrollingElement.scrollWidth');
  t.equal(width, options.viewport?.width, `${at}: no horizontal scrolling`);
  const { length } = await page.content();
  t.ok(length < 300_000, `${at}: ${length} characters`);
  await assertAccessible(t, page);
  return opened;
}

/** Follows all links from the overview. Returns one URL per kind of page, and the forms. */
async function visitAll(
  t: Test,
  browser: Browser,
  origin: string,
): Promise<{ urls: string[]; forms: FoundForm[] }> {
  const urls = new Map([[toTemplate(`${origin}/`), `${origin}/`]]);
  const pages: string[] = [];
  const forms = new Map<string, FoundForm>();
  // A Map includes the entries that are added while it is read.
  for (const url of urls.values()) {
    const response = await fetch(url, { headers: { accept: 'text/html' } });
    t.equal(response.status, 200, toTemplate(url));
    const isPage = response.headers.get('content-type')?.startsWith('text/html');
    await response.body?.cancel();
    if (!isPage) continue;
    pages.push(url);
    const viewport = { width: 1280, height: 844 };
    const { page } = await assertPage(t, browser, url, { viewport, colorScheme: 'light' });
    for (const link of await page.evaluate<string[]>(LINKS)) {
      t.ok(link.startsWith(origin), `${link.slice(0, 100)} stays on the service`);
      const template = toTemplate(link);
      if (!urls.has(template) && urls.size < PAGES_MAX) urls.set(template, link);
    }
    for (const form of await page.evaluate<FoundForm[]>(FORMS)) {
      forms.set(`${toTemplate(form.action)} ${form.fields.map(({ name }) => name).join()}`, form);
    }
    await page.context().close();
  }
  t.ok(urls.size < PAGES_MAX, `${urls.size} kinds of links`);
  return { urls: pages, forms: [...forms.values()] };
}

/** Sends a form with other values, as a browser would. */
function sendForm(
  { action, isMultipart, fields }: FoundForm,
  change: (field: FoundForm['fields'][number]) => string,
): Promise<Response> {
  const body = isMultipart ? new FormData() : new URLSearchParams();
  for (const field of fields) body.append(field.name, change(field));
  const { origin } = new URL(action);
  return fetch(action, {
    ...{ method: 'POST', body, redirect: 'manual' },
    headers: { origin, accept: 'text/html' },
  });
}

void t.test('every page is accessible, safe, and fits desktop and phone', async (t) => {
  const { service } = await withFilledService(t, HOSTILE_MARKUP);
  const browser = await withBrowser(t);
  const { urls, forms } = await visitAll(t, browser, service.url);
  for (const url of urls) {
    for (const [width, colorScheme] of [
      [1280, 'dark'],
      [390, 'light'],
      [390, 'dark'],
    ] as const) {
      const viewport = { width, height: 844 };
      const { page } = await assertPage(t, browser, url, { viewport, colorScheme });
      await page.context().close();
    }
  }
  t.comment(`${urls.length} kinds of pages, ${forms.length} forms`);

  for (const form of forms) {
    const at = toTemplate(form.action);
    const withoutToken = await sendForm(form, ({ name, value }) =>
      name === '_token' ? 'x' : value,
    );
    t.ok([303, 403].includes(withoutToken.status), `${at}: ${withoutToken.status} without a token`);
    if (form.fields.some(({ name }) => name === '_token')) t.equal(withoutToken.status, 403, at);
    const foreign = await fetch(form.action, {
      ...{ method: 'POST', body: new URLSearchParams() },
      headers: { origin: 'https://evil.example' },
    });
    t.equal(foreign.status, 403, `${at}: from another site`);
  }
  for (const [label, text] of [
    ['empty', ''],
    ['hostile', HOSTILE_MARKUP],
  ] as const) {
    for (const form of forms) {
      const { status } = await sendForm(form, ({ value, isText }) => (isText ? text : value));
      t.ok(status < 500, `${toTemplate(form.action)} ${label}: ${status}`);
    }
  }
  // What the forms have stored is as harmless as the rest.
  for (const url of urls) {
    const { page } = await openPage(browser, url);
    t.equal(await page.evaluate('window.ran'), undefined, toTemplate(url));
    await page.context().close();
  }
});
