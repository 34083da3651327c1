/** Every page that a link leads to, and every form on it, with hostile text in all data. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { schemas, type Scenario } from '../../../src/contract/index.ts';
import { createKitFunctions } from '../../../src/library/kit-functions.ts';
import { assertAccessible, assertAccessibleAtNight } from '../../helpers/accessibility.ts';
import { DESKTOP, openPage, optionsOf, VIEWS, type OpenedPage } from '../../helpers/browser.ts';
import { report, row } from '../../helpers/check-report.ts';
import { withFilledService } from '../../helpers/filled-service.ts';
import { HOSTILE_MARKUP } from '../../helpers/hostile-markup.ts';
import { isNightly } from '../../helpers/nightly.ts';
import { makeSpan } from '../../helpers/otlp.ts';
import { seedRun } from '../../helpers/runs.ts';
import { reply, respondWith, withSandboxDouble } from '../../helpers/sandbox-double.ts';
import {
  assertNoMarkup,
  assertShown,
  clickButton,
  isUnexpected,
  writeUpload,
} from '../../helpers/service-page.ts';
import { makeContainsEval, type Bench } from '../../helpers/service.ts';
import { makeScenario } from '../../helpers/simulation.ts';

const PAGES_MAX = 150;

/** The hostile text as short lines: one that breaks out of elements, and one with an image. */
const [LINE = '', IMAGE = ''] = HOSTILE_MARKUP.split('\n');

/** The hostile text on one line, where line breaks and control characters are not allowed. */
const WIDE = HOSTILE_MARKUP.replaceAll(/[\r\n\0]/g, ' ').slice(0, 190);
const FLAT = WIDE.slice(0, 90);

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

/** Goes to a page, and asserts what holds for all pages. */
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

/** Returns the path of a page without the ids in it: a push judges the accessibility of each once. */
const toKind = (url: string): string => toTemplate(url).split(' ')[0] ?? '';

/** Follows all links from the overview. Returns one URL per kind of page, and the forms. */
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
    const isPage = response.headers.get('content-type')?.startsWith('text/html');
    await response.body?.cancel();
    if (!isPage) continue;
    await assertPage(t, opened, url);
    const isFirst = !pages.some((other) => toKind(other) === toKind(url));
    if (isFirst || isNightly) await assertAccessible(t, page);
    pages.push(url);
    for (const link of await page.evaluate<string[]>(LINKS)) {
      t.ok(link.startsWith(origin), `${link.slice(0, 100)} stays on the service`);
      const template = toTemplate(link);
      if (!urls.has(template) && urls.size < PAGES_MAX) urls.set(template, link);
    }
    for (const form of await page.evaluate<FoundForm[]>(FORMS)) {
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
    ...{ method: 'POST', body, redirect: 'manual' },
    headers: { accept: 'text/html', ...(origin !== undefined && { origin }) },
  });
}

/** A scenario with hostile text in every field that allows one. */
const makeHostileScenario = (): Scenario => {
  const text = HOSTILE_MARKUP.slice(0, 9_000);
  const condition = { contains: text, lacks: text, tool_called: FLAT };
  return {
    ...{ id: 'h', name: FLAT, category: FLAT, tags: [FLAT], persona: 'p' },
    initial_messages: [{ role: 'user', content: text }],
    user: {
      ...{ goal: text, opening: text, stop_when: [condition] },
      facts: [{ name: FLAT, value: text }],
      steps: [{ say: text, when: condition, otherwise: text }],
      reactions: [{ when: condition, say: text }],
    },
    evals: [{ id: 'e', name: FLAT, kind: 'contains', params: { text } }],
    ...{ metadata: { time_of_day: text }, profile: { name: text } },
  };
};

/** Adds an agent whose sandbox responds with hostile text, and reports that contain it. */
async function addHostileAgent(t: Test, { admin }: Bench): Promise<void> {
  const double = await withSandboxDouble(t);
  const page = respondWith(500, HOSTILE_MARKUP);
  double.setBehavior({ health: page, create: page, chat: page, delete: page });
  await admin('POST /agents', { id: 'shop', name: FLAT, url: double.url });
  await admin('POST /agents/shop/connection');
  const hostile = {
    ...{ rule: HOSTILE_MARKUP, hint: HOSTILE_MARKUP, curl: HOSTILE_MARKUP },
    ...{ expected: HOSTILE_MARKUP, received: HOSTILE_MARKUP, verdict: 'fail' as const },
  };
  const check = report([row('CHAT-001', hostile)], { target: HOSTILE_MARKUP });
  const causes = [{ description: HOSTILE_MARKUP, clears: ['CHAT-001'], verified: true }];
  await admin('POST /agents/shop/reports', { ...check, causes, waived: [HOSTILE_MARKUP] });
  const [load] = schemas.LoadReport.examples;
  await admin('POST /agents/shop/reports', {
    ...{ ...load, sentence: HOSTILE_MARKUP, notes: [HOSTILE_MARKUP] },
    targets: load.targets.map((target) => ({ ...target, reason: HOSTILE_MARKUP })),
  });
}

/** Runs two simulations with hostile names, in the second of which the sandbox says hostile text. */
async function addHostileSimulations(t: Test, { admin, drain }: Bench): Promise<string[]> {
  const sandbox = await withSandboxDouble(t, { chat: reply('shipped') });
  const ids: string[] = [];
  for (const [name, text] of [
    [`${LINE} before`, 'shipped'],
    [LINE, HOSTILE_MARKUP],
  ] as const) {
    sandbox.setBehavior({ chat: reply(text) });
    const scenario = makeScenario({
      ...{ id: 'hostile', name: LINE },
      user: { opening: HOSTILE_MARKUP.replaceAll('\0', '').toWellFormed() },
      evals: [{ ...makeContainsEval('e', 'shipped'), name: LINE }],
    });
    const agent = { name: LINE, url: sandbox.url };
    const body = { name, agent, scenarios: [scenario], seed: 'hostile' };
    ids.push(((await admin('POST /simulations', body)) as { id: string }).id);
    await drain();
  }
  return ids;
}

/** Adds two production runs with hostile names, outcomes, and tags. */
async function addHostileRuns({ admin }: Bench): Promise<void> {
  const runs = [1, 2].map((nth) => {
    const name = `${LINE} ${nth}`;
    const { sessions } = seedRun(name, [{ id: name, outcome: 'fail', text: HOSTILE_MARKUP }]);
    const metadata = { [LINE]: name };
    const named = (outcome: object) => ({ ...outcome, eval_name: LINE });
    return {
      name,
      sessions: sessions.map((session) => ({
        ...{ ...session, metadata },
        outcomes: session.outcomes.map(named),
      })),
    };
  });
  await admin('POST /seed', { runs });
}

/** Sends conversations with hostile tags and tool calls: one scored, one unscored, and one open. */
async function sendHostileConversations({ admin, trace, end, drain }: Bench): Promise<void> {
  const converse = async (conversationId: string): Promise<void> => {
    const said = { user: HOSTILE_MARKUP, agent: HOSTILE_MARKUP };
    await trace(makeSpan({ conversationId, ...said, attributes: { [LINE]: HOSTILE_MARKUP } }));
    const attributes = {
      'gen_ai.tool.name': IMAGE,
      'gen_ai.tool.call.arguments': JSON.stringify({ [IMAGE]: HOSTILE_MARKUP }),
    };
    await trace(makeSpan({ conversationId, operation: 'execute_tool', attributes }));
  };
  await converse(`${LINE} scored`);
  await end(`${LINE} scored`);
  await drain();
  await admin('PUT /settings', { evals: [], run_name: IMAGE });
  await converse(`${LINE} unscored`);
  await end(`${LINE} unscored`);
  await converse(`${LINE} open`);
  // An eval that was deleted is still chosen.
  await admin('POST /evals', makeContainsEval('gone', 'x', { name: IMAGE }));
  await admin('PUT /settings', { evals: ['gone'], run_name: IMAGE });
  await admin('DELETE /evals/gone');
}

/** Adds hostile text where `withFilledService` has none. Returns the paths of pages that show it. */
async function addHostileData(t: Test, bench: Bench): Promise<string[]> {
  const { admin } = bench;
  const shared = { name: IMAGE, category: LINE };
  await admin('POST /evals', { ...makeContainsEval('text', HOSTILE_MARKUP), ...shared });
  const criteria = { criteria: HOSTILE_MARKUP };
  await admin('POST /evals', { id: 'judged', kind: 'judge', ...shared, params: criteria });
  const params = { name: 'x', arguments: { [HOSTILE_MARKUP]: HOSTILE_MARKUP } };
  await admin('POST /evals', { id: 'args', kind: 'tool_args', ...shared, params });
  const labels = HOSTILE_MARKUP.split('\n').map((line) => line.slice(0, 100));
  const keys = labels.map((label, nth) => ({ key: `key-${nth}-of-6`, label }));
  await admin('POST /seed', { keys });
  const characteristics = HOSTILE_MARKUP.slice(0, 9_000);
  await admin('POST /personas', { id: 'p', name: FLAT, characteristics, tags: [FLAT] });
  await admin('POST /scenarios', makeHostileScenario());
  await addHostileAgent(t, bench);
  const [before, after] = await addHostileSimulations(t, bench);
  await addHostileRuns(bench);
  await sendHostileConversations(bench);
  const { items } = await bench.production('?limit=100');
  const scored = items.find(({ source_session_id: id }) => id.endsWith('scored'));
  const [first, second] = items
    .filter(({ run }) => run.startsWith(LINE))
    .map(({ url }) => new URL(url ?? '').pathname);
  const { pathname, search } = new URL(scored?.url ?? '');
  const name = encodeURIComponent(LINE);
  const list = encodeURIComponent(`kind=production&text=${name}`);
  return [
    ...['text', 'judged', 'args'].flatMap((id) => [
      `/evals/edit?id=${id}`,
      `/evals/edit?id=${id}&as=json`,
    ]),
    ...['/agents/shop', '/scenarios/h', '/personas/p', '/compare?kind=simulation'],
    ...[1, 2, 3].map((nth) => `/agents/shop/reports/${nth}`),
    ...[first, second, `/simulation/${before}`, `/simulation/${after}`].map(String),
    `/compare?a=${before}&b=${after}`,
    `/compare?a=${String(second?.split('/')[2])}&b=${String(first?.split('/')[2])}`,
    ...['production', 'simulation'].map((kind) => `/runs?kind=${kind}&name=${name}`),
    `/sessions?kind=production&text=${name}`,
    `/sessions?kind=production&tag=${encodeURIComponent(`${LINE}=x`)}`,
    ...['open', 'unscored'].map((kind) => `/sessions?kind=${kind}`),
    `/conversation?id=${encodeURIComponent(`${LINE} open`)}`,
    `${pathname}${search}&list=${list}`,
  ];
}

/** Something that a page is used for. */
interface Act {
  path: string;
  name: string;
  run: (t: Test, page: Page) => Promise<void>;
}

/** A dry run of an eval, whose result quotes the conversation. */
const makeDryRun = (id: string): Act => ({
  ...{ path: `/evals/edit?id=${id}`, name: `a dry run of ${id}` },
  run: async (t, page) => {
    t.match(await clickButton(page, 'Score this conversation'), 'Result of the dry run');
  },
});

/** An upload of transcripts, and what the page says about it. */
const makeUpload = (file: string, content: string, result: string): Act => ({
  ...{ path: '/transcripts', name: `an upload of ${file}: ${result}` },
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
    ...{ path: '/evals/new?kind=regex', name: 'an eval that is not valid' },
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
    ...{ path: '/keys', name: 'a label that is too long' },
    run: async (t, page) => {
      const long = `<b>${'w'.repeat(120)}`;
      await page.fill('[name=label]', long);
      const text = await clickButton(page, 'Generate a key');
      t.match(text, 'The label must have at most 100 characters');
      t.equal(await page.inputValue('[name=label]'), long, 'the label stays in its field');
    },
  },
  {
    ...{ path: '/keys', name: 'a hostile label' },
    run: async (t, page) => {
      await page.fill('[name=label]', IMAGE);
      t.match(await clickButton(page, 'Generate a key'), IMAGE);
    },
  },
  {
    ...{ path: '/settings', name: 'a name that is too long' },
    run: async (t, page) => {
      await page.fill('[name=run_name]', `${IMAGE}${'w'.repeat(300)}`);
      t.match(await clickButton(page, 'Save'), 'must have 1 to 200 characters');
      t.match(await page.inputValue('[name=run_name]'), IMAGE);
    },
  },
  {
    ...{ path: '/scenarios/h', name: 'a scenario that is saved unchanged' },
    run: async (t, page) => {
      await page.click('summary:text-is("Edit")');
      t.match(await clickButton(page, 'Save'), 'The scenario was saved.');
    },
  },
  ...listUploads(),
];

void t.test('every page is accessible, safe, and fits desktop and phone', async (t) => {
  const bench = await withFilledService(t, HOSTILE_MARKUP, { kit: createKitFunctions() });
  const paths = await addHostileData(t, bench);
  const { url: origin } = bench.service;
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
  t.same(await bench.admin('GET /scenarios/h'), makeHostileScenario(), 'the editor keeps all text');
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
      await assertNoMarkup(t, first.page, await response.text(), at);
    }
  }
  // What the forms have stored is as harmless as the rest.
  for (const url of urls) {
    const response = await fetch(url, { headers: { accept: 'text/html' } });
    await assertNoMarkup(t, first.page, await response.text(), toTemplate(url));
  }
});
