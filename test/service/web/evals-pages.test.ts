/** The pages of evals in a real browser: list, editor of every kind, and dry run. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { behaviors, startOpenAiServer } from '../../support/models/openai-server.ts';
import { atNight } from '../../support/nightly.ts';
import { openPage } from '../../support/pages/browser.ts';
import { clickButton, follow, followByKeyboard, tabTo } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const open = async (t: Test, { service }: ServiceUnderTest, path = '/evals') =>
  openPage(t, service.url + path);

type Values = Readonly<Record<string, string | boolean>>;

/** Fills fields by the last part of their names. */
async function fillFields(page: Page, values: Values): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const field = page.locator(`[name$="/${name}"]`);
    if (typeof value === 'boolean') await field.setChecked(value);
    else if ((await field.locator('option').count()) > 0) {
      await field.selectOption(value);
    } else await field.fill(value);
  }
}

const kinds: [kind: string, values: Values, params: Record<string, unknown>][] = [
  ['contains', { text: 'on its\nway' }, { text: 'on its\nway', in: 'agent' }],
  [
    'contains',
    { text: ' way ', in: 'user', case_sensitive: true },
    { text: ' way ', in: 'user', case_sensitive: true },
  ],
  [
    'regex',
    { pattern: '^(a|b)\\d+"<', flags: 'iu', in: 'any' },
    { pattern: '^(a|b)\\d+"<', flags: 'iu', in: 'any' },
  ],
  ['regex', { pattern: '.' }, { pattern: '.', in: 'agent' }],
  [
    'tool_args',
    { 'params/name': 'find', arguments: '{"deep": [1, null]}' },
    { name: 'find', arguments: { deep: [1, null] } },
  ],
  ['tool_called', { 'params/name': 'find order' }, { name: 'find order' }],
  ['tool_order', { names: 'find\n\n  mail \n' }, { names: ['find', 'mail'] }],
  ['max_turns', { max: '4' }, { max: 4 }],
  ['max_latency', { ms: '1.5e3' }, { ms: 1500 }],
  ['json_path', { path: '$.turns[0]', equals: 'null' }, { path: '$.turns[0]', equals: null }],
  ['evaluation_metadata', { key: 'tone', equals: '"calm"' }, { key: 'tone', equals: 'calm' }],
  ['judge', { criteria: 'It greets.', model: 'm-1' }, { criteria: 'It greets.', model: 'm-1' }],
];

/** Kinds that together have a field of every type; the night tries all kinds. */
const PUSH_KINDS = ['contains', 'tool_args', 'tool_order', 'max_latency'];

void t.test('evals of every kind can be added and edited in a form', async (t) => {
  const tested = await withEmptyService(t);
  const { page, errors } = await open(t, tested);
  t.match(await page.innerText('main'), 'There are no evals yet.');
  const tried = atNight(
    kinds,
    kinds.filter(([kind]) => PUSH_KINDS.includes(kind)),
  );
  for (const [nth, [kind, values, params]] of tried.entries()) {
    await page.goto(`${tested.service.url}/evals/new`);
    await follow(page, `a[href="/evals/new?kind=${kind}"]`);
    const id = `eval-${nth}`;
    const shared = { id, '/name': `Eval "${nth}"`, category: 'tone', required: false };
    await fillFields(page, { ...values, id, category: 'tone', required: false });
    await page.fill('[name="/name"]', shared['/name']);
    await page.selectOption('[name="/type"]', 'turn_level');
    t.match(
      await clickButton(page, 'Save'),
      'not scored with it until you choose it in the settings',
    );
    t.equal(await page.getAttribute('.notice a', 'href'), '/settings');
    const expected = { id, name: shared['/name'], category: 'tone', type: 'turn_level' };
    const stored = { ...expected, required: false, kind, params };
    t.same(await tested.admin(`GET /evals/${id}`), stored, kind);

    await follow(page, `text=Eval "${nth}"`);
    t.equal(await page.innerText('h1'), `Eval ${id}`);
    await page.check('[name="/required"]');
    await page.fill('[name="/category"]', '');
    await clickButton(page, 'Save');
    const { required, category, ...rest } = stored;
    t.same(
      await tested.admin(`GET /evals/${id}`),
      rest,
      `${kind}, ${required} and ${category} gone`,
    );
  }
  t.equal(await page.locator('tbody tr').count(), tried.length);
  t.same(errors, []);
});

void t.test('the id of a new eval is made from its name, unless it is given', async (t) => {
  const tested = await withEmptyService(t);
  const { page } = await open(t, tested, '/evals/new?kind=contains');
  await page.fill('[name="/name"]', ' Order “Über” found! ');
  await fillFields(page, { text: 'shipped' });
  await clickButton(page, 'Save');
  await page.goto(`${tested.service.url}/evals/new?kind=contains`);
  await page.fill('[name="/name"]', '注文');
  await fillFields(page, { text: 'shipped' });
  t.match(await clickButton(page, 'Save'), 'Id must not be empty.', 'nothing is left of the name');
  t.match(await tested.admin('GET /evals'), { evals: [{ id: 'order-uber-found' }] });
});

void t.test('problems are shown at their fields, with the values that were typed', async (t) => {
  const tested = await withEmptyService(t);
  await tested.admin('POST /evals', makeContainsEval('taken', 'x'));
  const { page } = await open(t, tested, '/evals/new?kind=contains');
  const problemOf = (name: string): Promise<string> =>
    page
      .locator('.field', { has: page.locator(`[name="${name}"]`) })
      .locator('[role=alert]')
      .innerText();
  await clickButton(page, 'Save');
  t.equal(await problemOf('/params/text'), 'Text must not be empty.');
  t.equal(await problemOf('/name'), 'Name must not be empty.');
  t.equal(await problemOf('/id'), 'Id must not be empty.');
  await fillFields(page, { text: 'kept', id: 'two words', in: 'user' });
  await page.fill('[name="/name"]', 'n'.repeat(201));
  await clickButton(page, 'Save');
  t.match(
    await problemOf('/name'),
    /^Name must be a string of 1 to 200 characters on one line, got/,
  );
  t.match(await problemOf('/id'), /^Id must be 1 to 64 letters, digits, .*, got "two words"\.$/);
  t.equal(await page.locator('[role=alert]').count(), 2, 'no other problem');
  t.equal(await page.inputValue('[name="/params/text"]'), 'kept');
  t.equal(await page.inputValue('[name="/params/in"]'), 'user');
  await fillFields(page, { id: 'taken' });
  await page.fill('[name="/name"]', 'Named');
  await clickButton(page, 'Save');
  t.match(await problemOf('/id'), 'An eval with the id taken already exists.');
  t.match(await tested.admin('GET /evals'), { evals: [{ name: 'Says x' }] });

  await page.goto(`${tested.service.url}/evals/edit?id=taken`);
  await page.fill('[name="/name"]', 'Edited in another tab');
  await tested.admin('DELETE /evals/taken');
  await clickButton(page, 'Save');
  t.match(await problemOf('/id'), 'The eval taken was deleted meanwhile. Save again to add it');
  t.same(await tested.admin('GET /evals'), { evals: [] });
  await clickButton(page, 'Save');
  t.match(await tested.admin('GET /evals'), { evals: [{ name: 'Edited in another tab' }] });

  const rows: [kind: string, values: Values, field: string, problem: RegExp][] = [
    ['regex', { pattern: '(' }, '/params/pattern', /^Regular expression is not .*: Unterminated/],
    ['regex', { pattern: 'a', flags: 'g' }, '/params/flags', /^Flags must be .* got "g"\.$/],
    ['tool_args', { arguments: '{x}' }, '/params/arguments', /^Arguments must be valid JSON\./],
    [
      'tool_args',
      { arguments: '[]' },
      '/params/arguments',
      /^Arguments must be an object, got \[\]/,
    ],
    ['tool_order', { names: ' \n ' }, '/params/names', /^Names of the tools must be a list of at/],
    ['max_turns', { max: 'many' }, '/params/max', /^Maximum number of turns must be a number/],
    ['max_turns', { max: '1.5' }, '/params/max', /must be an integer of at least 0, got 1\.5\.$/],
    ['max_latency', { ms: '-1' }, '/params/ms', /must be a number of at least 0, got -1\.$/],
    ['json_path', { path: 'turns' }, '/params/path', /^Path is not a valid path.*begin with \$\.$/],
    ['json_path', { equals: 'text' }, '/params/equals', /^Expected value must be valid JSON\./],
    ['judge', { criteria: '  ' }, '/params/criteria', /^Criteria must be a text that is not blank/],
  ];
  for (const [kind, values, field, problem] of rows) {
    await page.goto(`${tested.service.url}/evals/new?kind=${kind}`);
    await page.fill('[name="/name"]', 'Named');
    const rest = {
      'params/name': 'find',
      arguments: '{}',
      path: '$.turns',
      equals: '1',
      pattern: 'a',
    };
    for (const [name, value] of Object.entries(rest)) {
      if ((await page.locator(`[name$="/${name}"]`).count()) > 0)
        await fillFields(page, { [name]: value });
    }
    await fillFields(page, { id: 'new', ...values });
    await clickButton(page, 'Save');
    t.match(await problemOf(field), problem, kind);
    t.equal(await page.locator('[role=alert]').count(), 1, `${kind} has one problem`);
  }
});

void t.test('an eval can be edited as JSON, and deleted', async (t) => {
  const tested = await withEmptyService(t);
  const { admin } = tested;
  await admin('POST /evals', makeContainsEval('one', 'a'));
  await admin('POST /evals', {
    id: 'lines',
    name: 'Lines',
    kind: 'regex',
    params: { pattern: 'a\nb' },
  });
  await admin('PUT /settings', { evals: ['one'] });
  const { page } = await open(t, tested, '/evals/edit?id=one');
  await follow(page, 'text=Edit it as JSON');
  const definition = page.locator('[name=definition]');
  t.match(await page.innerText('main'), 'The form of each kind explains its params.');
  t.notMatch(await page.innerText('main'), 'sandbox-kit');
  for (const [text, problem] of [
    ['{', 'The definition is not valid JSON.'],
    ['{"id": "one", "name": "A", "kind": "magic"}', '/kind must be one of "contains"'],
    [JSON.stringify(makeContainsEval('other', 'a')), 'The id must stay one.'],
    [`${'['.repeat(300)}${']'.repeat(300)}`, 'nested more than 200 levels deep'],
  ] as const) {
    await definition.fill(text);
    t.match(await clickButton(page, 'Save'), problem);
    t.equal(await definition.inputValue(), text, 'the text stays');
  }
  await definition.fill(JSON.stringify({ ...makeContainsEval('one', 'b'), category: 'x' }));
  t.match(await clickButton(page, 'Save'), 'Live traces that are closed from now on are scored');
  t.match(await admin('GET /evals/one'), { params: { text: 'b' }, category: 'x' });
  await follow(page, 'text=Lines');
  t.match(await definition.inputValue(), 'a\\nb', 'a field of one line would lose the line break');

  await page.goto(`${tested.service.url}/evals/new?as=json`);
  await definition.fill(JSON.stringify(makeContainsEval('one', 'c')));
  t.match(await clickButton(page, 'Save'), 'An eval with the id one already exists.');
  await page.goto(`${tested.service.url}/evals/edit?id=one`);
  await page.click('summary');
  t.match(await page.innerText('details'), 'Live traces skip it from then on');
  t.match(await clickButton(page, 'Delete one'), 'The eval was deleted.');
  t.match(await admin('GET /evals'), { evals: [{ id: 'lines' }] });
  t.equal((await page.goto(`${tested.service.url}/evals/edit?id=one`))?.status(), 404);
});

void t.test('the list shows who uses an eval, and its newest outcomes', async (t) => {
  const tested = await withEmptyService(t);
  const { admin, drain } = tested;
  await admin('POST /evals', makeContainsEval('hello', 'hello', { category: 'tone' }));
  await admin('POST /evals', makeContainsEval('unused', 'x', { required: false }));
  await admin('PUT /settings', { evals: ['hello'] });
  const user = { opening: 'Hi' };
  for (const id of ['a', 'b']) {
    await admin('POST /scenarios', {
      id,
      name: id,
      user,
      evals: ['hello', makeContainsEval('in', 'x')],
    });
  }
  for (const [nth, reply] of ['Hello!', 'Hello.', 'Bye.', 'hello'].entries()) {
    const turns = [{ user_input: 'Hi', agent_response: reply }];
    await admin('POST /transcripts', { session_id: `t-${nth}`, turns });
  }
  await drain();
  const { page } = await open(t, tested);
  const rows = await page.locator('tbody tr').allInnerTexts();
  t.same(
    rows.map((row) => row.replaceAll(/ ?\n/g, ' ').replaceAll(' \t', '\t')),
    [
      'Says hello hello\tContains a text\ttone\tyes\tlive traces, 2 scenarios\t75% of 4',
      'Says x unused\tContains a text\tgeneral\tno\tnothing\t',
    ],
  );
});

void t.test(
  'a dry run scores stored conversations with the unsaved eval, and stores nothing',
  async (t) => {
    const tested = await withEmptyService(t);
    const { admin, trace, end, drain } = tested;
    await trace(makeSpan({ conversationId: 'open one', agent: 'It is on its way.' }));
    await trace(makeSpan({ conversationId: 'scored', agent: 'Please wait.' }));
    await admin('POST /evals', makeContainsEval('saved', 'x'));
    await admin('PUT /settings', { evals: ['saved'] });
    await end('scored');
    await drain();
    const before = [await admin('GET /evals'), await admin('GET /sessions')];
    const { page, errors } = await open(t, tested, '/evals/new?kind=contains');
    const options = await page.locator('[name=session] option').allInnerTexts();
    t.match(options.map((text) => text.trim()).sort(), [
      /^open one · open · 2026/,
      /^scored · failed · /,
    ]);
    await fillFields(page, { text: 'ON ITS WAY', id: 'draft' });
    await page.fill('[name="/name"]', 'Draft');
    const score = () => clickButton(page, 'Score this conversation');
    await page.selectOption('[name=session]', 'open one');
    const text = await score();
    t.match(
      text,
      /Result of the dry run\s+pass open one\s+Looked for "ON ITS WAY" .*turn 1 has it/s,
    );
    t.match(text, /Nothing was stored\..*Turn 1.*Where is my order\?.*It is on its way\./s);
    t.equal(await page.inputValue('[name="/params/text"]'), 'ON ITS WAY', 'the draft stays');
    t.equal(await page.inputValue('[name=session]'), 'open one');
    await page.fill('[name=other]', 'scored');
    t.match(await score(), /fail scored\s+Looked for "ON ITS WAY".*none of 1 message has it/s);
    t.equal(await page.inputValue('[name=other]'), 'scored');
    const [session] = ((await admin('GET /sessions')) as { sessions: { url: string }[] }).sessions;
    await page.fill('[name=other]', session?.url ?? '');
    t.match(await score(), 'fail scored', 'the address of a session');
    await page.fill('[name=other]', 'nothing');
    t.match(await score(), 'There is no session or conversation "nothing".');
    await page.fill('[name="/params/text"]', '');
    t.match(await score(), 'Text must not be empty.');
    t.same([await admin('GET /evals'), await admin('GET /sessions')], before);
    t.same(
      errors.filter((error) => !error.includes('422')),
      [],
    );
  },
);

const judged = {
  id: 'judged',
  name: 'Judged',
  kind: 'judge',
  params: { criteria: 'The agent greets.' },
};

void t.test('a dry run of a judge names the missing judge, or shows its verdict', async (t) => {
  const model = await startOpenAiServer(t);
  model.behave(behaviors.verdict('fail', 'The agent never greets <b>.'));
  const judge = { baseUrl: model.baseUrl, model: 'm' };
  for (const [options, expected] of [
    [{}, /error conv-1\s+No LLM judge is configured\. Set SANDBOX_KIT_JUDGE_URL/],
    [{ judge }, /fail conv-1\s+The agent never greets <b>\./],
  ] as const) {
    const tested = await withService(t, options);
    await tested.trace(makeSpan());
    await tested.admin('POST /evals', judged);
    const { page } = await open(t, tested, '/evals/edit?id=judged');
    t.match(await clickButton(page, 'Score this conversation'), expected);
  }
});

void t.test('an eval is written, tried, and saved with the keyboard alone', async (t) => {
  const tested = await withEmptyService(t);
  await tested.trace(makeSpan());
  const { page } = await open(t, tested);
  await followByKeyboard(page, 'Add an eval');
  await followByKeyboard(page, 'Contains a text');
  await tabTo(page, '/params/text');
  await page.keyboard.type('way');
  await tabTo(page, '/id');
  await page.keyboard.type('typed');
  await tabTo(page, '/name');
  await page.keyboard.type('Typed');
  await followByKeyboard(page, 'Score this conversation');
  t.match(await page.innerText('#dry-run'), 'pass conv-1');
  await followByKeyboard(page, 'Save');
  t.match(await page.innerText('main'), 'The eval was saved.');
  t.match(await tested.admin('GET /evals/typed'), { name: 'Typed', params: { text: 'way' } });
});

void t.test('pages of evals stay small for many evals and long conversations', async (t) => {
  const tested = await withEmptyService(t);
  const evals = Array.from({ length: 120 }, (_, nth) => makeContainsEval(`e-${nth}`, 'x'));
  const long = 'w'.repeat(100_000);
  const turns = Array.from({ length: 60 }, () => ({ user_input: long, agent_response: long }));
  await tested.admin('POST /seed', { evals, transcripts: [{ session_id: 't', turns }] });
  const { page } = await open(t, tested);
  t.equal(await page.locator('tbody tr').count(), 50);
  await follow(page, 'text=Older');
  await follow(page, 'text=Older');
  t.equal(await page.locator('tbody tr').count(), 20);
  await page.goto(`${tested.service.url}/evals/edit?id=e-0`);
  t.match(await clickButton(page, 'Score this conversation'), '10 more turns not shown.');
  t.ok((await page.content()).length < 300_000, 'less than 300 kB');
});
