/** The page where transcripts are uploaded, in a real browser. */
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { atNight, isNightly, nightOnly } from '../../support/nightly.ts';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage, visitViews } from '../../support/pages/browser.ts';
import { clickButton, follow, pressEnter, writeUpload } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval, type ServiceUnderTest } from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';

const HEADER = 'session_id,user_input,agent_response\n';

/** Chooses a file, submits the form, and returns the text of the next page. */
async function upload(
  t: Test,
  page: Page,
  name: string,
  content: string | Uint8Array,
): Promise<string> {
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.click('[type=file]'),
  ]);
  await chooser.setFiles(writeUpload(t, name, content));
  return clickButton(page, 'Upload');
}

async function withPage(t: Test): Promise<ServiceUnderTest & { page: Page; errors: string[] }> {
  const tested = await withEmptyService(t);
  await tested.admin('POST /evals', makeContainsEval('found', 'shipped'));
  await tested.admin('POST /evals', makeContainsEval('polite', 'please'));
  await tested.admin('PUT /settings', { evals: ['found'] });
  const { page, errors } = await openPage(t, `${tested.service.url}/transcripts`);
  return { ...tested, page, errors };
}

/** Returns the rows of the table of problems: row, place, and problem. */
const listProblems = async (page: Page): Promise<string[]> => {
  const rows = await page.locator('[aria-label=Problems] tbody tr').allInnerTexts();
  return rows.map((row) =>
    row
      .split('\t')
      .map((cell) => cell.trim())
      .join(' | '),
  );
};

void t.test(
  'the samples of all formats are stored and scored; the same file replaces',
  async (t) => {
    const { service, page, production, drain } = await withPage(t);
    t.match(await page.innerText('nav [aria-current]'), 'Upload');
    for (const [index, format] of (['csv', 'json', 'jsonl'] as const).entries()) {
      await page.goto(`${service.url}/transcripts`);
      const link = page.getByText(`Download sample.${format}`, { exact: true });
      const response = await fetch(service.url + String(await link.getAttribute('href')));
      t.match(response.headers.get('content-disposition'), `filename="sample.${format}"`);
      const text = await upload(t, page, `sample.${format}`, await response.text());
      t.match(page.url(), /\/transcripts\?shown=[\w-]+$/, 'a reload does not send the form again');
      t.match(text, /2 sessions were stored/);
      t.match(text, /2\s+evals queued/, 'the live eval of each session');
      if (index === 0) t.notMatch(text, 'replaced');
      else t.match(text, /2\s+replaced earlier ones/);
      await drain();
      const { items } = await production();
      t.equal(items.length, 2);
      t.match(
        items.map((item) => item.eval_outcomes.map(({ outcome }) => outcome)),
        [['fail'], ['pass']],
      );
    }
    await follow(page, 'text=Transcripts 2026-11-20');
    t.match(page.url(), '/sessions?kind=production&run=Transcripts+2026-11-20');
    t.equal(await page.locator('tbody tr').count(), 2);
  },
);

void t.test(
  'a file of more sessions than a transaction stores is stored completely',
  nightOnly(),
  async (t) => {
    const { page, send } = await withPage(t);
    const rows = Array.from({ length: 1_001 }, (_, index) => `s${index},hi,there\n`);
    const text = await upload(t, page, 'a.csv', `${HEADER}${rows.join('')}`);
    t.match(text, /1,001 sessions were stored/);
    t.match(await send('GET /api/prod-evaluations/sessions/?limit=1'), { status: 200 });
    await follow(page, 'ul.runs a');
    t.match(await page.innerText('main'), '1,001');
  },
);

void t.test('pasted text, the run, and the chosen evals apply', async (t) => {
  const { page, production, drain, errors } = await withPage(t);
  t.match(await clickButton(page, 'Upload'), 'Choose a file that is not empty, or paste text.');
  await page.fill('[name=text]', `${HEADER}a,"Two\nlines; ""quoted""",please\nb,hi,there`);
  await page.fill('[name=run]', 'Week 47');
  await page.check('[value=polite]');
  await page.selectOption('[name=format]', 'csv');
  t.match(await clickButton(page, 'Upload'), /2 sessions were stored/);
  await drain();
  const { items } = await production('?run=Week+47');
  t.match(
    items.map((item) => item.eval_outcomes.map((outcome) => outcome.eval_name)),
    [['Says please'], ['Says please']],
  );
  await follow(page, 'text=Week 47');
  await follow(page, 'tbody a:text-is("a")');
  t.match(await page.innerText('main'), 'Two\nlines; "quoted"', 'line breaks as in the text');
  t.same(
    errors.filter((message) => !message.includes('400 (Bad Request)')),
    [],
  );
});

void t.test('problems name the row, the column or pointer, and what was expected', async (t) => {
  const { page, production } = await withPage(t);
  await page.fill('[name=run]', 'Week 47');
  await page.check('[value=polite]');
  const csv = `${HEADER.trim()},started_at,notes\na,hi,there,,\nb,hi\nc,hi,there,soon,\n,hi,there,,\n`;
  const text = await upload(t, page, 'bad.csv', csv);
  t.match(text, 'Nothing was stored.');
  t.match(text, /read as CSV: 4 problems, 1 valid conversation, and 2 with problems/);
  t.same(await listProblems(page), [
    '1 | "notes" | Expected a known column, received "notes". The columns are session_id, user_input, ' +
      'agent_response, evaluation_metadata, started_at, metadata, run, and evals.',
    '3 |  | Expected 5 cells as in the first row, received 2.',
    '4 | started_at | Expected an ISO 8601 time, received "soon".',
    '5 | session_id | Expected the id of the conversation, received an empty cell.',
  ]);
  t.match(await production('?run=Week+47'), { items: { length: 0 } });
  t.equal(await page.inputValue('[name=text]'), csv, 'the text can be corrected');
  t.equal(await page.inputValue('[name=run]'), 'Week 47');
  t.ok(await page.isChecked('[value=polite]'));
  await page.check('[name=leave_out]');
  t.match(
    await clickButton(page, 'Upload'),
    /1 session was stored.*2\s+conversations left out.*Left out/s,
  );
  t.equal((await listProblems(page)).length, 4, 'what was left out');

  await follow(page, 'text=Upload another file');
  const bad = { session_id: 'x', turns: [{ user_input: 1, agent_response: 'b' }] };
  await upload(t, page, 'bad.json', JSON.stringify([bad, { ...bad, turns: [], evals: ['found'] }]));
  t.same(await listProblems(page), [
    '1 | /turns/0/user_input | Expected a string, received 1.',
    '2 | /turns | Expected an array of 1 to 10000, received [].',
  ]);
  const unknown = {
    session_id: 'x',
    turns: [{ user_input: 'a', agent_response: 'b' }],
    evals: ['fund'],
  };
  await upload(t, page, 'bad.jsonl', `{"a"\n${JSON.stringify(unknown)}`);
  t.match(await listProblems(page), [
    /^1 \| {2}\| Expected a JSON object on this line, received "{\\"a\\"": The line is not valid JSON\.$/,
    '2 | /evals/0 | Must be the id of an eval, got "fund"; did you mean found?',
  ]);
  await upload(t, page, 'many.csv', `${HEADER}${'a,b\n'.repeat(20_000)}`);
  t.equal((await listProblems(page)).length, 100);
  t.match(await page.innerText('main'), 'And 19,900 more problems.');
  t.match(await page.innerText('[role=alert]'), 'choose the file again');
  t.equal(await page.inputValue('[name=text]'), '', 'a long text is not sent back');
  t.ok((await page.content()).length < 100_000);
});

void t.test('after a mistake, the page says what it could not keep', async (t) => {
  const { page } = await withPage(t);
  const long = `${HEADER}${'a,b\n'.repeat(20_000)}`;
  const paste = `document.querySelector('[name=text]').value = ${JSON.stringify(long)}`;
  const asksAgain = 'The text is longer than 50 kB, so the page could not keep it. Paste it again';
  await page.evaluate(paste);
  const text = await clickButton(page, 'Upload');
  t.match(text, asksAgain);
  t.match(text, 'To go on, paste the corrected text again, which is too long to be kept.');
  t.notMatch(text, 'choose the file again');
  await page.evaluate(paste);
  await page.evaluate(`document.querySelector('[name=run]').removeAttribute('maxlength')`);
  await page.fill('[name=run]', 'r'.repeat(201));
  const other = await clickButton(page, 'Upload');
  t.match(other, asksAgain);
  t.match(other, 'The name of a run has 1 to 200 characters');
  await page.evaluate(`document.querySelector('[name=run]').removeAttribute('maxlength')`);
  await page.fill('[name=run]', 'r'.repeat(201));
  t.match(
    await upload(t, page, 'a.csv', long),
    'The page could not keep the file. Choose it again.',
  );
});

void t.test('files that cannot be read are refused with the reason', async (t) => {
  const { page, service, errors } = await withPage(t);
  const cases: [name: string, content: string | Uint8Array, problem: RegExp][] = [
    ['a.json', '[\n{"a": 1}\n{"b": 2}]', /not valid JSON in line 3/],
    ['a.json', '['.repeat(1_000_000), /nested more than 200 levels deep/],
    [
      'a.csv',
      'name,text\n1,2\n',
      /must name the columns session_id, .* Received "name" and "text"\./,
    ],
    ['a.csv', HEADER, /The file contains no conversation\./],
    ['a.csv', Buffer.from(`${HEADER}a,b,c`, 'utf16le'), /NUL byte.*Save it as UTF-8/],
    ['a.csv', Buffer.from(`\uFEFF${HEADER}`, 'utf16le'), /The file is UTF-16/],
    ['a.csv', Buffer.from(`${HEADER}a,caf\u00e9,c`, 'latin1'), /Line 2 is not valid UTF-8/],
    ['a.png', Buffer.from('\u0089PNG\r\n\u001a\n\0\0\0\rIHDR', 'latin1'), /NUL byte/],
    ['a.xlsx', Buffer.from('PK\u0003\u0004\u0014\0', 'latin1'), /Excel workbook/],
    ['a.csv', `${HEADER}${'a,b,c\n'.repeat(100_001)}`, /more than 100,000 turns/],
    ['a.jsonl', '{}\n'.repeat(20_001), /more than 20,000 conversations/],
    ['a.jsonl', Buffer.alloc(32_000_001, 'x'), /The file has 32,000,001 bytes/],
  ];
  // Large files take seconds. A push has the limits of turns and of nesting in
  // test/unit/service/operations/transcript-file.test.ts; only the night has the limit in bytes.
  const tried = atNight(
    cases,
    cases.filter(([, { length }]) => length < 100_000),
  );
  for (const [name, content, problem] of tried) {
    await upload(t, page, name, content);
    t.match(await page.innerText('[role=alert]'), problem, String(problem));
  }
  if (isNightly) {
    t.match(await upload(t, page, 'a.csv', Buffer.alloc(34_000_000, 'x')), 'at most 32 MiB');
  }
  t.equal((await fetch(`${service.url}/transcripts`)).status, 200, 'the service still responds');
  t.same(
    errors.filter((message) => !/\(Unprocessable|\(Payload Too Large/.test(message)),
    [],
  );
});

void t.test('the page is accessible at both widths, in both color schemes', async (t) => {
  const { service } = await withPage(t);
  const bad = writeUpload(
    t,
    'bad.csv',
    `${HEADER.trim()},evals\na,hi,there,\nb,${'w'.repeat(500)}\n`,
  );
  await visitViews(t, `${service.url}/transcripts`, async (opened, { width, colorScheme }) => {
    const { page, requests } = opened;
    const inspect = async (name: string): Promise<void> => {
      const place = `${name}, ${width} px, ${colorScheme}`;
      t.equal(await page.evaluate('document.scrollingElement.scrollWidth'), width, place);
      await assertAccessibleAtNight(t, page);
    };
    for (const format of ['JSON', 'JSONL']) await page.click(`summary:text-is("${format}")`);
    await inspect('form');
    await page.setInputFiles('[type=file]', bad);
    await clickButton(page, 'Upload');
    await inspect('problems');
    await page.check('[name=leave_out]');
    await clickButton(page, 'Upload');
    await inspect('result');
    t.ok(
      requests.every((each) => each.startsWith(service.url)),
      'no request to another host',
    );
  });
});

void t.test('the page works without JavaScript and with the keyboard alone', async (t) => {
  const { service } = await withEmptyService(t);
  const options = { javaScriptEnabled: false };
  const { page } = await openPage(t, `${service.url}/transcripts`, options);
  t.match(await page.innerText('main'), 'There are no evals yet');
  await page.focus('[name=text]');
  await page.keyboard.type(
    '{"session_id": "a", "turns": [{"user_input": "a", "agent_response": "b"}]}',
  );
  // Format, run, the link to evals, the checkbox, and the button.
  for (let tab = 0; tab < 5; tab += 1) await page.keyboard.press('Tab');
  t.equal(await page.innerText(':focus'), 'Upload');
  await pressEnter(page);
  t.match(await page.innerText('main'), 'No evals apply, so there will be no scores.');
});

void t.test('readers who may not change anything cannot upload', async (t) => {
  const keys = [{ key: 'the-key-of-this-service' }, { key: 'the-key-of-team-b', owner: 'team b' }];
  const service = await withStartedService(t, { host: '0.0.0.0', keys });
  const { page } = await openPage(t, `${service.url}/transcripts`);
  await page.fill('[name=key]', 'the-key-of-team-b');
  await follow(page, 'button');
  t.match(await page.innerText('main'), 'sign in with the first API key');
  t.equal(await page.locator('[type=file]').count(), 0);
  const response = await fetch(`${service.url}/transcripts`, {
    method: 'POST',
    headers: { origin: service.url },
    body: new URLSearchParams({ text: '{}' }),
  });
  t.equal(response.status, 401);
});
