/** The lists of sessions and conversations in a real browser: searches, outcomes, and what waits. */
import type { Page } from 'playwright-core';
import t from 'tap';
import { atNight } from '../../support/nightly.ts';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage } from '../../support/pages/browser.ts';
import { follow, followByKeyboard, pressEnter, tabTo } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import {
  makeContainsEval,
  START_MS,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

/** A conversation of one turn, with tags. */
interface Sent {
  agent: string;
  user?: string;
  tags?: Record<string, string>;
}

async function converse(
  { trace }: ServiceUnderTest,
  id: string,
  { agent, user = 'Where is it?', tags = {} }: Sent,
): Promise<void> {
  await trace(makeSpan({ conversationId: id, user, agent, attributes: tags }));
}

const judge = { id: 'judged', name: 'Judged', kind: 'judge', params: { criteria: 'Is polite.' } };

/** Scores three conversations, one of which passes, one fails, and one has a judge that errors. */
async function scoreThree(tested: ServiceUnderTest): Promise<void> {
  const { admin, end, drain } = tested;
  await admin('POST /evals', makeContainsEval('shipped', 'shipped'));
  await admin('POST /evals', judge);
  await admin('PUT /settings', { evals: ['shipped'] });
  await converse(tested, 'passing', { agent: 'It SHIPPED today.', tags: { tier: 'gold' } });
  await end('passing');
  await converse(tested, 'failing', {
    agent: 'I lost it.',
    tags: { tier: 'silver', region: 'eu' },
  });
  await end('failing');
  await admin('PUT /settings', { evals: ['judged'] });
  await converse(tested, 'errored', { agent: 'Straße 7.' });
  await end('errored');
  await drain();
}

const namesOn = (page: Page): Promise<string[]> => page.locator('tbody th a').allInnerTexts();

void t.test('sessions are found by text, tag, and outcome, failed and errored apart', async (t) => {
  const tested = await withEmptyService(t);
  await scoreThree(tested);
  const { page, errors } = await openPage(t, `${tested.service.url}/sessions`);
  const find = async (fields: Record<string, string>): Promise<string[]> => {
    for (const name of ['text', 'tag', 'run', 'eval']) {
      await page.fill(`[name=${name}]`, fields[name] ?? '');
    }
    await page.selectOption('[name=outcome]', fields['outcome'] ?? '');
    await follow(page, '.filters button');
    return namesOn(page);
  };
  const { items } = await tested.production();
  t.same(
    await find({}),
    items.map(({ source_session_id: id }) => id),
    'without a filter, the list is that of the results endpoint',
  );
  const rows: [Record<string, string>, string[]][] = [
    [{ text: 'shipped' }, ['passing']],
    [{ text: 'WHERE is', eval: 'shipped' }, ['failing', 'passing']],
    [{ tag: 'tier' }, ['failing', 'passing']],
    [{ tag: 'tier=gold' }, ['passing']],
    [{ tag: 'region = eu', text: 'lost' }, ['failing']],
    [{ tag: 'tier=silver, region=eu' }, ['failing']],
    [{ tag: 'tier=gold, region=eu' }, []],
    [{ tag: 'region,tier' }, ['failing']],
    [{ outcome: 'failed' }, ['failing']],
    [{ outcome: 'errored' }, ['errored']],
    [{ outcome: 'errored', text: 'STRASSE' }, ['errored']],
    [{ outcome: 'unfinished' }, []],
  ];
  const filled = rows.slice(0, atNight(rows.length, 3));
  for (const [fields, names] of rows.slice(filled.length)) {
    const query = new URLSearchParams(fields);
    const { text } = await tested.send(`GET /sessions?${query.toString()}`, { key: null });
    const found = ['errored', 'failing', 'passing'].filter((name) => text.includes(`>${name}<`));
    t.same(found, names, query.toString());
  }
  for (const [fields, names] of filled) {
    const found = await find(fields);
    t.same(found.toSorted(), names, JSON.stringify(fields));
    t.match(await page.innerText('main'), `${names.length} session`);
    for (const [name, value] of Object.entries(fields)) {
      t.equal(await page.inputValue(`[name=${name}]`), value, 'the form keeps the value');
    }
  }
  await find({ outcome: 'unfinished' });
  t.match(await page.innerText('main'), 'No session matches.');
  await find({ outcome: 'errored' });
  t.match(await page.innerText('tbody tr'), /undecided\s+! errored/);
  t.notMatch(await page.innerText('tbody tr'), /fail/, 'an errored eval is not a failed one');
  await page.goto(`${tested.service.url}/sessions?failed_only=true`);
  t.same(await namesOn(page), ['failing'], 'the parameter of the results endpoint works, too');
  t.equal(await page.inputValue('[name=outcome]'), 'failed');
  t.same(errors, []);
  for (const query of ['outcome=green', `text=${'x'.repeat(300)}`, 'tag==gold', 'tag=a=1,,b=2']) {
    const { status, text } = await tested.send(`GET /sessions?${query}`, { key: null });
    t.equal(status, 400);
    t.match(text, /role="alert"/);
  }
  const unknown = await tested.send('GET /sessions?kind=bogus', { key: null });
  t.equal(unknown.status, 400);
  t.match(unknown.text, 'kind must be production, simulation, open, or unscored, got');
});

void t.test(
  'an eval and an outcome together find the sessions with that outcome of it',
  async (t) => {
    const tested = await withEmptyService(t);
    const makeSession = (id: string, polite: string, short: string) => ({
      source_session_id: id,
      started_at: '2026-11-19T10:00:00Z',
      outcomes: [
        { eval_name: 'Polite', outcome: polite, reasoning: 'It was.' },
        { eval_name: 'Short', outcome: short, reasoning: 'It was.' },
      ],
    });
    const sessions = [
      makeSession('rude', 'fail', 'pass'),
      makeSession('long', 'pass', 'fail'),
      makeSession('unclear', 'error', 'fail'),
      makeSession('broken', 'pass', 'error'),
    ];
    await tested.admin('POST /seed', { runs: [{ name: 'Monday', sessions }] });
    const find = async (query: string): Promise<string[]> => {
      const { text } = await tested.send(`GET /sessions?${query}`, { key: null });
      return sessions
        .map(({ source_session_id: id }) => id)
        .filter((id) => text.includes(`>${id}<`));
    };
    for (const more of ['', '&run=monday', '&text=', '&started_after=2026-11-01']) {
      t.same(await find(`eval=polite&outcome=failed${more}`), ['rude']);
      t.same(await find(`eval=polite&failed_only=true${more}`), ['rude']);
      t.same(await find(`eval=short&outcome=failed${more}`), ['long', 'unclear']);
      t.same(await find(`eval=polite&outcome=errored${more}`), ['unclear']);
      t.same(await find(`eval=polite${more}`), ['rude', 'long', 'broken']);
    }
    const { total } = await tested.production('?eval=polite&failed_only=true');
    t.equal(total, 2, 'the results endpoint asks for any failed eval');
  },
);

void t.test('few evals have a column each; many are summarized', async (t) => {
  const tested = await withEmptyService(t);
  const seedWith = (run: string, count: number) =>
    tested.admin('POST /seed', {
      runs: [
        {
          name: run,
          sessions: [
            {
              source_session_id: `in ${run}`,
              started_at: '2026-11-19T10:00:00Z',
              outcomes: Array.from({ length: count }, (_, nth) => ({
                eval_name: `Eval ${nth}`,
                reasoning: 'It was.',
                outcome: nth === 0 ? 'fail' : 'pass',
              })),
            },
          ],
        },
      ],
    });
  await seedWith('few', 3);
  await seedWith('many', 9);
  const { url } = tested.service;
  const { page } = await openPage(t, `${url}/sessions?run=few`);
  t.match(await page.innerText('thead'), /Eval 0\s+Eval 1\s+Eval 2/);
  t.match(await page.innerText('tbody'), /✗ fail\s+✓ pass\s+✓ pass/);
  await page.goto(`${url}/sessions?run=many`);
  t.match(await page.innerText('tbody'), /8 of 9\s+Eval 0/);
});

void t.test(
  'a failed eval that is not required is labeled, as the verdict is passed',
  async (t) => {
    const tested = await withEmptyService(t);
    const { admin, end, drain, service } = tested;
    await admin('POST /evals', makeContainsEval('shipped', 'shipped'));
    await admin('POST /evals', { ...makeContainsEval('polite', 'please'), required: false });
    await admin('PUT /settings', { evals: ['shipped', 'polite'] });
    await converse(tested, 'rude', { agent: 'It shipped.' });
    await end('rude');
    await drain();
    const { page } = await openPage(t, service.url);
    await follow(page, page.locator('.counts a', { hasText: 'with a failed eval' }).first());
    t.match(await page.innerText('[name=outcome] :checked'), 'with a failed eval');
    t.match(await page.innerText('tbody tr'), /rude\s+passed.*✗ fail/s);
    const headings = await page.locator('th.eval').allInnerTexts();
    t.equal(headings.filter((heading) => /not required/.test(heading)).length, 1);
    t.match(headings.join(' | '), /please\s+not required/);
  },
);

void t.test('an eval with a long name has no column', async (t) => {
  const tested = await withEmptyService(t);
  const { admin, end, drain, service } = tested;
  const name = 'The agent answers every question of the user';
  await admin('POST /evals', { ...makeContainsEval('answers', 'please'), name });
  await admin('PUT /settings', { evals: ['answers'] });
  await converse(tested, 'rude', { agent: 'It shipped.' });
  await end('rude');
  await drain();
  const { page } = await openPage(t, `${service.url}/sessions?kind=production`);
  t.equal(await page.locator('th.eval').count(), 0);
  t.match(await page.innerText('thead'), 'failed and errored evals');
  t.match(await page.innerText('tbody tr'), new RegExp(`rude\\s+failed\\s+0 of 1\\s+${name}`));
});

void t.test(
  'the overview leads to open and unscored conversations, and they say why',
  async (t) => {
    const tested = await withEmptyService(t);
    const { admin, end, drain, service } = tested;
    await converse(tested, 'still/open?', { agent: 'One moment.', tags: { tier: 'gold' } });
    await converse(tested, 'closed', { agent: 'Goodbye.' });
    await end('closed');
    const { page, errors } = await openPage(t, `${service.url}/`);
    await follow(page, 'text=open conversation');
    t.same(await namesOn(page), ['still/open?']);
    t.match(await page.innerText('tbody'), /1\s+2026-11-20 10:00\s+tier = gold\s+It is open/);
    await follow(page, 'tbody th a');
    t.match(
      await page.innerText('main'),
      /not scored, because it is open.*POST .*still%2Fopen%3F/s,
    );
    t.match(await page.innerText('#turn-1'), /Where is it\?.*One moment\./s);
    await assertAccessibleAtNight(t, page);
    await page.goto(`${service.url}/`);
    await follow(page, 'text=1 closed conversation');
    t.match(await page.innerText('tbody'), /No evals were chosen when it was closed/);
    await follow(page, 'tbody th a');
    const waiting = page.url();
    t.match(await page.innerText('main'), /no evals were chosen when it was closed/);
    await admin('POST /evals', makeContainsEval('bye', 'Goodbye'));
    await admin('PUT /settings', { evals: ['bye'] });
    await admin('POST /score-backlog', {});
    await drain();
    await page.goto(waiting);
    t.match(
      page.url(),
      /\/production-eval\/\d+\?sessionId=/,
      'a scored conversation has a session',
    );
    await page.goto(`${service.url}/sessions?text=goodbye`);
    t.same(await namesOn(page), ['closed'], 'the backlog is searched, too');
    t.same(errors, []);
    const missing = await tested.send('GET /conversation?id=x', { key: null });
    t.equal(missing.status, 404);
  },
);

void t.test(
  'with the keyboard alone: from the overview to why a session of yesterday failed',
  async (t) => {
    const tested = await withEmptyService(t);
    const { admin, service } = tested;
    const seeded = (id: string, at: string, outcome: string) => ({
      source_session_id: id,
      started_at: at,
      turns: [{ user_input: 'Where is it?', agent_response: 'I do not know.' }],
      outcomes: [{ eval_name: 'Helps', outcome, reasoning: 'In turn 1 it says "I do not know".' }],
    });
    await admin('POST /seed', {
      runs: [
        {
          name: 'Live',
          sessions: [
            seeded('today', '2026-11-20T08:00:00Z', 'fail'),
            seeded('yesterday', '2026-11-19T08:00:00Z', 'fail'),
            seeded('fine', '2026-11-19T07:00:00Z', 'pass'),
          ],
        },
      ],
    });
    t.equal(new Date(START_MS).toISOString().slice(0, 10), '2026-11-20');
    const { page, errors } = await openPage(t, `${service.url}/`);
    await followByKeyboard(page, /^[1-9]\d* with a failed eval$/);
    await tabTo(page, 'started_after');
    await page.keyboard.type('2026-11-19');
    await tabTo(page, 'started_before');
    await page.keyboard.type('2026-11-20');
    await pressEnter(page);
    t.same(await namesOn(page), ['yesterday']);
    await followByKeyboard(page, 'yesterday');
    t.match(await page.innerText('.outcome'), /fail\s+Helps.*I do not know/s);
    await tabTo(page, /turn 1: “I do not know”/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/#turn-1$/);
    t.equal(await page.innerText('#turn-1 mark'), 'I do not know', 'the quotation is highlighted');
    await followByKeyboard(page, 'Make a scenario');
    t.equal(new URL(page.url()).pathname, '/scenarios/from-yesterday');
    t.match(await page.innerText('main'), /The scenario was added.*Where is it\?/s);
    await followByKeyboard(page, 'Sessions');
    await followByKeyboard(page, 'today');
    await followByKeyboard(page, /Next \(older\)/);
    t.equal(await page.innerText('h1'), 'yesterday');
    await followByKeyboard(page, /Back to the list/);
    t.same(await namesOn(page), ['today', 'yesterday', 'fine']);
    t.same(errors, []);
  },
);

void t.test('the page of an open conversation closes it; lists leave messages out', async (t) => {
  const { service, admin, trace, send } = await withEmptyService(t);
  await admin('POST /evals', makeContainsEval('way', 'way'));
  await admin('PUT /settings', { evals: ['way'] });
  const attributes = {
    'llm.input_messages.0.message.content': 'my address',
    'app.messages': 'my address',
    region: 'north',
  };
  await trace(makeSpan({ conversationId: 'a/b', attributes }));
  const { page, errors } = await openPage(t, `${service.url}/sessions?kind=open`);
  t.match(await page.innerText('table'), 'region = north');
  t.notMatch(await page.innerText('main'), 'my address');
  await follow(page, 'text=a/b');
  t.match(await page.innerText('main'), 'my address', 'the page has all tags');
  await assertAccessibleAtNight(t, page);
  await follow(page, page.getByRole('button', { name: 'Close and score' }));
  await page.waitForURL(/production-eval/);
  await admin('POST /drain');
  t.match((await send('GET /api/prod-evaluations/sessions/')).text, /"a\/b"/);
  t.same(errors, []);
});
