/** Every page that a link leads to, and every form on it, with hostile text in all data. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { createKitFunctions } from '../../../library/kit-functions.ts';
import { isNightly } from '../../support/nightly.ts';
import { assertAccessible, assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import {
  DESKTOP,
  openPage,
  optionsOf,
  VIEWS,
  type OpenedPage,
} from '../../support/pages/browser.ts';
import {
  addHostileData,
  IMAGE,
  LINE,
  makeHostileScenario,
  WIDE,
} from '../../support/pages/hostile-data.ts';
import { HOSTILE_MARKUP } from '../../support/pages/hostile-markup.ts';
import {
  assertNoMarkup,
  assertShown,
  clickButton,
  isUnexpected,
  writeUpload,
} from '../../support/pages/service-page.ts';
import { withFilledService } from '../../support/services/filled-service.ts';

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

/** Goes to a page, and asserts the rules of all pages. */
async function assertPage(t: Test, opened: OpenedPage, url: string): Promise<void> {
  const { page, requests, errors } = opened;
  [requests.length, errors.length] = [0, 0];
  await page.goto(url);
  const at = toTemplate(url);
  t.same(errors, [], `${at}: no error on the console`);
  await assertShown(t, page, requests);
  t.equal(await page.locator('h1').count(), 1, `${at}: one heading`);
  const { length } = await page.content();
  t.ok(length < 300_000, `${at}: ${length} characters`);
}

/** Returns the path of a page without the ids in it. */
const toKind = (url: string): string => toTemplate(url).split(' ')[0] ?? '';

/** Returns the links and forms in the HTML of a page. */
const parseHtml = (
  page: Page,
  url: string,
  html: string,
): Promise<{ links: string[]; forms: FoundForm[] }> =>
  page.evaluate(
    `((document) => {
      document.head.append(Object.assign(document.createElement('base'), { href: ${JSON.stringify(url)} }));
      return { links: ${LINKS}, forms: ${FORMS} };
    })(new DOMParser().parseFromString(${JSON.stringify(html)}, 'text/html'))`,
  );

/**
 * Follows all links from the overview. Returns one URL per kind of page, and the forms. A push shows the
 * first page of each path in the browser, and reads the HTML of the others; the night shows all.
 */
async function visitAll(
  t: Test,
  opened: OpenedPage,
): Promise<{ urls: string[]; forms: FoundForm[] }> {
  const { page } = opened;
  const { origin } = new URL(page.url());
  const urls = new Map([[toTemplate(`${origin}/`), `${origin}/`]]);
  const pages: string[] = [];
  const forms = new Map<string, FoundForm>();
  // A Map includes the entries that are added while it is read.
  for (const url of urls.values()) {
    const response = await fetch(url, { headers: { accept: 'text/html' } });
    t.equal(response.status, 200, toTemplate(url));
    const html = await response.text();
    if (!response.headers.get('content-type')?.startsWith('text/html')) continue;
    const isFirst = !pages.some((other) => toKind(other) === toKind(url));
    pages.push(url);
    await assertNoMarkup(t, page, html, toTemplate(url));
    t.ok(html.length < 300_000, `${toTemplate(url)}: ${html.length} characters`);
    if (isFirst || isNightly) {
      await assertPage(t, opened, url);
      await assertAccessible(t, page);
    }
    const found = await parseHtml(page, url, html);
    for (const link of found.links) {
      t.ok(link.startsWith(origin), `${link.slice(0, 100)} stays on the service`);
      const template = toTemplate(link);
      if (!urls.has(template) && urls.size < PAGES_MAX) urls.set(template, link);
    }
    for (const form of found.forms) {
      forms.set(`${toTemplate(form.action)} ${form.fields.map(({ name }) => name).join()}`, form);
    }
  }
  t.ok(urls.size < PAGES_MAX, `${urls.size} kinds of links`);
  return { urls: pages, forms: [...forms.values()] };
}

/** How a form is sent: the origin, if any, and other values; undefined leaves a field out. */
interface Sending {
  origin?: string;
  change: (field: FoundForm['fields'][number]) => string | undefined;
}

/** Sends a form with other values, as a browser would. */
function sendForm(
  { action, isMultipart, fields }: FoundForm,
  { origin, change }: Sending,
): Promise<Response> {
  const body = isMultipart ? new FormData() : new URLSearchParams();
  for (const field of fields) {
    const value = change(field);
    if (value !== undefined) body.append(field.name, value);
  }
  return fetch(action, {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { accept: 'text/html', ...(origin !== undefined && { origin }) },
  });
}

/** Requests the page that a form led to. */
async function followResult(response: Response): Promise<Response> {
  const location = response.headers.get('location');
  if (location === null) return response;
  return fetch(new URL(location, response.url), { headers: { accept: 'text/html' } });
}

/** Something that a page is used for. */
interface Act {
  path: string;
  name: string;
  run: (t: Test, page: Page) => Promise<void>;
}

/** A dry run of an eval, whose result quotes the conversation. */
const makeDryRun = (id: string): Act => ({
  path: `/evals/edit?id=${id}`,
  name: `a dry run of ${id}`,
  run: async (t, page) => {
    t.match(await clickButton(page, 'Score this conversation'), 'Result of the dry run');
  },
});

/** An upload of transcripts, and what the page says about it. */
const makeUpload = (file: string, content: string, result: string): Act => ({
  path: '/transcripts',
  name: `an upload of ${file}: ${result}`,
  run: async (t, page) => {
    await page.setInputFiles('[type=file]', writeUpload(t, file, content));
    t.match(await clickButton(page, 'Upload'), result);
  },
});

/** Returns uploads with hostile text in every column and field. */
function listUploads(): Act[] {
  const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const columns =
    'session_id,user_input,agent_response,started_at,metadata,run,evals,evaluation_metadata';
  const cells = columns.split(',').map(() => quote(WIDE));
  const [value, turn] = [{ [WIDE]: WIDE }, { user_input: WIDE, agent_response: WIDE }];
  const strange = { ...value, session_id: 5, turns: [value, turn], evals: [WIDE] };
  const good = { session_id: WIDE, run: WIDE, metadata: value, turns: [turn] };
  const nothing = 'Nothing was stored.';
  return [
    makeUpload('a.csv', `${columns},${quote(WIDE)}\n${cells.join(',')},x\n`, nothing),
    makeUpload('a.csv', `${cells.join(',')}\n`, 'must name the columns'),
    makeUpload('a.txt', WIDE, 'must name the columns'),
    makeUpload('a.jsonl', `{"a"\n{${WIDE}`, nothing),
    makeUpload('a.json', JSON.stringify([strange]), nothing),
    makeUpload('a.json', JSON.stringify([good]), '1 session was stored'),
  ];
}

/** What shows hostile text only after a form was sent. */
const ACTS: readonly Act[] = [
  ...[makeDryRun('text'), makeDryRun('args')],
  {
    path: '/evals/new?kind=regex',
    name: 'an eval that is not valid',
    run: async (t, page) => {
      await page.fill('[name="/params/pattern"]', `(${LINE}`);
      for (const field of ['/params/flags', '/id', '/name']) {
        await page.fill(`[name="${field}"]`, IMAGE);
      }
      await page.fill('[name=other]', LINE);
      await clickButton(page, 'Save');
      t.equal(await page.inputValue('[name="/params/pattern"]'), `(${LINE}`);
      t.equal(await page.inputValue('[name=other]'), LINE);
    },
  },
  {
    path: '/keys',
    name: 'a label that is too long',
    run: async (t, page) => {
      const long = `<b>${'w'.repeat(120)}`;
      await page.fill('[name=label]', long);
      const text = await clickButton(page, 'Generate a key');
      t.match(text, 'The label must have at most 100 characters');
      t.equal(await page.inputValue('[name=label]'), long, 'the label stays in its field');
    },
  },
  {
    path: '/keys',
    name: 'a hostile label',
    run: async (t, page) => {
      await page.fill('[name=label]', IMAGE);
      t.match(await clickButton(page, 'Generate a key'), IMAGE);
    },
  },
  {
    path: '/settings',
    name: 'a name that is too long',
    run: async (t, page) => {
      await page.fill('[name=run_name]', `${IMAGE}${'w'.repeat(300)}`);
      t.match(await clickButton(page, 'Save'), 'must have 1 to 200 characters');
      t.match(await page.inputValue('[name=run_name]'), IMAGE);
    },
  },
  {
    path: '/scenarios/h',
    name: 'a scenario that is saved unchanged',
    run: async (t, page) => {
      await page.click('summary:text-is("Edit the scenario")');
      t.match(await clickButton(page, 'Save'), 'The scenario was saved.');
    },
  },
  ...listUploads(),
];

void t.test('every page is accessible, safe, and fits desktop and phone', async (t) => {
  const tested = await withFilledService(t, HOSTILE_MARKUP, { kit: createKitFunctions() });
  const paths = await addHostileData(t, tested);
  const { url: origin } = tested.service;
  const first = await openPage(t, origin, optionsOf(DESKTOP));
  const { urls, forms } = await visitAll(t, first);
  const others = paths.map((path) => origin + path);
  for (const view of VIEWS) {
    const opened = view === DESKTOP ? first : await openPage(t, origin, optionsOf(view));
    const { page, requests, errors } = opened;
    for (const url of view === DESKTOP ? others : [...urls, ...others]) {
      await assertPage(t, opened, url);
      await assertAccessibleAtNight(t, page);
      if (!others.includes(url) || /\/evals\/|tag=/.test(url)) continue;
      t.match(await page.innerText('main'), '<script>window.ran', `${toTemplate(url)} shows it`);
    }
    for (const { path, name, run } of ACTS) {
      [requests.length, errors.length] = [0, 0];
      await page.goto(origin + path);
      await run(t, page);
      await assertShown(t, page, requests);
      t.same(errors.filter(isUnexpected), [], name);
      await assertAccessibleAtNight(t, page);
    }
  }
  t.same(
    await tested.admin('GET /scenarios/h'),
    makeHostileScenario(),
    'the editor keeps all text',
  );
  t.comment(`${urls.length} kinds of pages, ${forms.length} forms`);

  const evil = 'https://evil.example';
  for (const form of forms) {
    const token = form.fields.find(({ name }) => name === '_token')?.value;
    for (const [sender, sent] of [
      [origin, undefined],
      [origin, 'not-the-token'],
      [evil, token],
      [undefined, token],
    ] as const) {
      const isOpen = token === undefined && sender === origin;
      const { status } = await sendForm(form, {
        ...(sender !== undefined && { origin: sender }),
        change: ({ name, value }) => (name === '_token' ? sent : value),
      });
      const at = `${toTemplate(form.action)} from ${sender} with the token ${sent}`;
      t.ok(status === 403 || (isOpen && status === 303), `${at}: ${status}`);
    }
  }
  for (const [label, text] of [
    ['empty', ''],
    ['hostile', HOSTILE_MARKUP],
  ] as const) {
    for (const form of forms) {
      const at = `${toTemplate(form.action)} ${label}`;
      const response = await sendForm(form, {
        origin,
        change: ({ value, isText }) => (isText ? text : value),
      });
      t.ok(response.status < 500, `${at}: ${response.status}`);
      const shown = await followResult(response);
      t.ok(shown.status < 500, `${at}: ${shown.status} after the redirect`);
      await assertNoMarkup(t, first.page, await shown.text(), at);
    }
  }
  // What the forms have stored is as harmless as the rest.
  for (const url of urls) {
    const response = await fetch(url, { headers: { accept: 'text/html' } });
    await assertNoMarkup(t, first.page, await response.text(), toTemplate(url));
  }
});
