/** The pages of scenarios and personas in a real browser: view, editor, starters, and runs. */
import t from 'tap';
import { atNight } from '../../support/nightly.ts';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage } from '../../support/pages/browser.ts';
import { clickButton, follow, inspectPage, pressEnter } from '../../support/pages/service-page.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';

const isExpected = (message: string): boolean => !/\(Bad Request|\(Unprocessable/.test(message);

void t.test('a starter scenario is added with its persona and its evals', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { page, errors } = await openPage(t, `${service.url}/scenarios`);
  t.match(await page.innerText('main'), 'No scenarios yet. Add a starter scenario, or write one.');
  await inspectPage(t, `${service.url}/scenarios`);
  await page.selectOption('[name=starter]', 'two-orders');
  const text = await clickButton(page, 'Add');
  t.match(page.url(), '/scenarios/two-orders?notice=added');
  for (const part of ['Know where both parcels are.', 'when the agent says “delivered”']) {
    t.match(text, part);
  }
  t.match(text, /Looks the order up\s+Calls a tool\s+Name of the tool\s+look_up_order/);
  t.match(text, 'first add an agent');
  t.match(await admin('GET /evals'), { evals: [{ id: 'looks-it-up' }] });
  await follow(page, 'text=Regular');
  t.match(await page.innerText('main'), /Friendly.*Asks about two orders in one message/s);
  await inspectPage(t, `${service.url}/scenarios/two-orders`);
  await inspectPage(t, `${service.url}/personas/regular`);
  await page.goto(`${service.url}/scenarios`);
  await page.click('summary:text-is("Add a starter scenario")');
  await page.selectOption('[name=starter]', 'shop');
  t.match(await clickButton(page, 'Add'), 'The starter scenarios were added');
  t.equal(await page.locator('tbody tr').count(), 12);
  await page.fill('main [name=q]', 'REFUND');
  t.match(await clickButton(page, 'Search'), '3 of 12 scenarios.');
  t.same(errors, []);
});

void t.test(
  'a typed scenario is validated; the error names the line and keeps the text',
  async (t) => {
    const { service, admin } = await withEmptyService(t);
    await admin('POST /personas', { id: 'calm', name: 'Calm' });
    const { page, errors } = await openPage(t, `${service.url}/scenarios`);
    await page.click('summary:text-is("Write a scenario")');
    const rows: [text: string, problem: string][] = [
      ['', 'Line 1, column 1: the scenario must be an object'],
      ['id: a\n  b: c: d', 'Line 1'],
      ['{"id": "a" "b"}', 'Invalid JSON'],
      [
        'id: a\nname: A\nuser:\n  openning: Hi',
        'Line 4, column 3: Unknown field openning. Did you mean opening?',
      ],
      [
        'id: a\nname: A\nuser: { opening: Hi }\npersona: clam',
        'Line 4, column 10: /persona must be the id of a persona',
      ],
      [
        'id: a\nname: A\nuser: { opening: Hi }\nevals: [{ id: e, name: E, kind: regex, params: { pattern: "(" } }]',
        'Line 4',
      ],
      ['id: a\nname: 7\nuser: { opening: Hi }', 'Put it in quotes: "7"'],
      ['['.repeat(50_000), 'Line 1'],
      ['x'.repeat(300_001), 'at most 300000 characters'],
    ];
    for (const [text, problem] of atNight(rows, rows.slice(0, -1))) {
      await page.fill('textarea', text);
      t.match(await clickButton(page, 'Add the scenario'), problem);
      t.equal(await page.inputValue('textarea'), text, 'the text is kept');
      t.equal(await page.getAttribute('textarea', 'aria-invalid'), 'true');
      // The browser moves the focus to the editor when it first draws the page.
      await page.locator('textarea[name=text]:focus').waitFor();
    }
    await assertAccessibleAtNight(t, page);
    t.match(await admin('GET /scenarios'), { scenarios: { length: 0 } });
    const valid =
      '# a comment\nid: a\nname: A\nuser:\n  opening: |\n    Hi,\n    there\npersona: calm\n';
    await page.fill('textarea', valid);
    t.match(await clickButton(page, 'Add the scenario'), 'The scenario was added.');
    t.match(await admin('GET /scenarios/a'), { user: { opening: 'Hi,\nthere\n' } });
    await page.click('summary:text-is("Edit the scenario")');
    const stored = await page.inputValue('textarea');
    await page.fill('textarea', stored.replace('id: a', 'id: b'));
    t.match(await clickButton(page, 'Save'), 'Line 1, column 5: The id must stay a.');
    await page.fill(
      'textarea',
      JSON.stringify({ id: 'a', name: 'Renamed', user: { opening: 'Hi' } }),
    );
    t.match(await clickButton(page, 'Save'), 'The scenario was saved.');
    t.equal(await page.innerText('h1'), 'Renamed');
    await clickButton(page, 'Duplicate the scenario');
    t.equal(await page.innerText('h1'), 'Copy of Renamed');
    t.match(page.url(), '/scenarios/a-copy?');
    await page.goto(`${service.url}/scenarios`);
    await page.click('summary:text-is("Write a scenario")');
    await page.fill('textarea', stored);
    t.match(
      await clickButton(page, 'Add the scenario'),
      'A scenario with the id a already exists.',
    );
    await page.goto(`${service.url}/scenarios/a-copy`);
    await page.click('summary:text-is("Delete this scenario")');
    t.match(await page.innerText('main'), 'Simulations that played it keep their results');
    t.match(await clickButton(page, 'Delete Copy of Renamed'), 'The scenario was deleted.');
    t.match(await admin('GET /scenarios'), { scenarios: [{ id: 'a', name: 'Renamed' }] });
    t.same(errors.filter(isExpected), []);
  },
);

void t.test('a persona is written, changed, and deleted', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { page, errors } = await openPage(t, `${service.url}/personas`);
  await page.click('summary:text-is("Write a persona")');
  await page.click('summary:text-is("All fields of a persona")');
  t.match(await page.innerText('dl'), /patience_turns\s+Number of consecutive unhelpful replies/);
  t.notMatch(await page.innerText('main'), /sandbox-kit|\(spec/);
  await page.fill('textarea', 'id: busy\nname: Busy\npatience_turns: 0\n');
  t.match(await clickButton(page, 'Add the persona'), 'Line 3, column 17: /patience_turns must be');
  await page.fill('textarea', 'id: busy\nname: Busy\npatience_turns: 2\n');
  t.match(await clickButton(page, 'Add the persona'), /Busy.*was added.*2 unhelpful replies/s);
  await page.click('summary:text-is("Edit the persona")');
  await page.fill('textarea', 'id: busy\nname: Very busy\n');
  t.match(await clickButton(page, 'Save'), 'Very busy');
  await follow(page, 'main >> text=Personas');
  await inspectPage(t, `${service.url}/personas`);
  await follow(page, 'text=Very busy');
  await page.click('summary:text-is("Delete this persona")');
  t.match(await page.innerText('main'), 'No scenario refers to it.');
  const scenario = makeScenario({ id: 'hurry', name: 'Hurry', persona: 'busy' });
  await admin('POST /scenarios', scenario);
  await page.reload();
  const confirmation = page.locator('details', { hasText: 'Delete this persona' });
  t.notOk(await confirmation.getByRole('button').isVisible(), 'one click does not delete');
  await page.click('summary:text-is("Delete this persona")');
  t.match(
    await confirmation.innerText(),
    "1 scenario refers to it, and can't run until it names another persona: Hurry.",
  );
  t.match(await clickButton(page, 'Delete Very busy'), 'The persona was deleted.');
  await page.goto(`${service.url}/scenarios/hurry`);
  t.match(await admin('GET /personas'), { personas: { length: 0 } });
  t.same(errors.filter(isExpected), []);
});

void t.test('the voice of a persona is edited in a form on its page', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const persona = { id: 'p', name: 'P', characteristics: 'Calm.', tags: ['a'] };
  await admin('POST /personas', persona);
  const stored = async (): Promise<unknown> => {
    const { personas } = (await admin('GET /personas')) as { personas: unknown[] };
    return personas[0];
  };
  const { page, errors } = await openPage(t, `${service.url}/personas/p`);
  t.match(await page.innerText('main'), 'It never interrupts or hesitates.');
  const edit = async (values: Record<string, string>): Promise<string> => {
    const summary = page.locator('details:not([open]) > summary:text-is("Edit the voice")');
    if ((await summary.count()) > 0) await summary.click();
    for (const [name, value] of Object.entries(values)) {
      const field = page.locator(`[name="${name}"]`);
      const isSelect = (await page.locator(`select[name="${name}"]`).count()) > 0;
      await (isSelect ? field.selectOption(value) : field.fill(value));
    }
    return clickButton(page, 'Save the voice');
  };
  const saved = await edit({
    '/name': 'rms',
    '/speed': '1.2',
    '/interruptions': 'rare',
    '/pauses': 'many',
    '/noise/kind': 'street',
    '/noise/snr_db': '15',
    preset: 'train',
  });
  t.match(saved, /was saved.*Voice\s+rms\s+Speed\s+1\.2.*in 1 answer of 5/s);
  const voice = {
    name: 'rms',
    speed: 1.2,
    interruptions: 'rare',
    pauses: 'many',
    noise: { kind: 'street', snr_db: 15 },
    network: { loss_pct: 6, burst: 6, jitter_ms: 60 },
  };
  t.same(await stored(), { ...persona, voice });
  await inspectPage(t, `${service.url}/personas/p`);
  await edit({});
  t.same(await stored(), { ...persona, voice }, 'saving the form changes nothing');
  const refused = await edit({ '/speed': '5', '/noise/snr_db': 'loud', '/network/burst': '0.5' });
  t.match(refused, /Speed must be a number from 0\.5 to 2, got 5\./);
  t.match(refused, 'Speech louder than the noise by, in dB must be a number.');
  t.match(refused, /Packets lost in a row, on average must be .* from 1 to 100, got 0\.5\./);
  t.equal(await page.inputValue('[name="/speed"]'), '5', 'the form keeps what was entered');
  const problemOf = (name: string): Promise<string> => page.innerText(`[id="problem-${name}"]`);
  t.match(await problemOf('/speed'), 'Speed must be', 'the problem is at its field');
  t.equal(await page.getAttribute('[name="/speed"]', 'aria-describedby'), 'problem-/speed');
  const idle = await edit({
    '/speed': '',
    '/noise/snr_db': '',
    '/network/loss_pct': '0',
    '/network/burst': '3',
  });
  t.match(idle, /Packets lost in a row, on average must be absent without lost packets/);
  t.same(await stored(), { ...persona, voice }, 'nothing was saved');
  const empty = Object.fromEntries(
    ['/name', '/speed', '/noise/snr_db', '/network/loss_pct', '/network/burst'].map((name) => [
      name,
      '',
    ]),
  );
  await edit({
    ...empty,
    '/network/jitter_ms': '',
    '/interruptions': 'never',
    '/pauses': 'none',
    '/noise/kind': 'quiet',
  });
  t.same(await stored(), persona, 'a voice with only default values is not stored');
  t.same(errors.filter(isExpected), []);
});

void t.test('a run says its cost and its warnings before it starts', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t);
  const judge = { id: 'judge', name: 'Judge', kind: 'judge', params: { criteria: 'Polite.' } };
  const user = { mode: 'llm', goal: 'Get a refund.' };
  await admin('POST /scenarios', { id: 'model', name: 'Model', user, evals: [judge] });
  await admin('POST /scenarios', { id: 'run', name: 'Named as a route', user: { opening: 'Hi' } });
  const { page, errors } = await openPage(t, `${service.url}/scenarios`);
  t.match(await page.innerText('main'), 'first add an agent');
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
  await admin('POST /agents', { id: 'other', name: 'Other', url: 'http://127.0.0.1:1' });
  await page.goto(`${service.url}/scenarios?agent=other`);
  const [shown, needed] = await page.evaluate<number[]>(`(() => {
    const select = document.querySelector('select[name=agent]');
    const shown = select.getBoundingClientRect().width;
    select.style.width = 'max-content';
    const widths = [shown, select.getBoundingClientRect().width];
    select.style.width = '';
    return widths;
  })()`);
  t.ok(
    (shown ?? 0) >= (needed ?? 0),
    `${needed} px of the agent and its state are shown: ${shown}`,
  );
  t.equal(await page.inputValue('[name=agent]'), 'other');
  t.match(await clickButton(page, 'Show the cost'), 'Choose at least one scenario');
  await page.check('[aria-label="Run Model"]');
  await page.selectOption('[name=agent]', 'shop');
  for (const [name, value] of Object.entries({ samples: 'many', concurrency: '0', seed: 'a b' })) {
    await page.fill(`[name=${name}]`, value);
  }
  const refused = await clickButton(page, 'Show the cost');
  t.match(refused, 'Enter a whole number from 1 to 1,000');
  t.match(refused, 'Enter a whole number from 1 to 100');
  t.match(refused, 'Enter 1 to 64 letters');
  t.equal(await page.inputValue('[name=samples]'), 'many', 'typed values are kept');
  t.ok(await page.isChecked('[aria-label="Run Model"]'));
  t.equal(await page.inputValue('[name=agent]'), 'shop');
  await assertAccessibleAtNight(t, page);
  const fill = async (values: Record<string, string>): Promise<void> => {
    for (const [name, value] of Object.entries(values)) {
      await page.fill(`[name=${name}]`, value);
    }
  };
  await fill({ samples: '3', concurrency: '2', seed: 'a' });
  await page.selectOption('[name=channel]', 'voice');
  t.match(await clickButton(page, 'Show the cost'), 'Places 3 calls. At most 30 turns');
  await page.goto(`${service.url}/scenarios`);
  await fill({ samples: '3', concurrency: '2', seed: 'a' });
  await page.check('[name=all]');
  const review = await clickButton(page, 'Show the cost');
  t.match(review, '2 scenarios with Shop at http');
  t.match(
    review,
    '6 sessions. At most 60 turns, which reach the model of the sandbox, and at most 33 requests to the model of the users and 3 requests to the LLM judge.',
  );
  t.match(review, 'No LLM judge is configured.');
  t.match(review, 'No model is configured to play the user.');
  await assertAccessibleAtNight(t, page);
  t.match(await admin('GET /simulations'), { simulations: { length: 0 } }, 'nothing has started');
  await page.getByRole('button', { name: 'Start' }).focus();
  await pressEnter(page);
  await page.waitForURL(/\/simulation\/sim_/);
  const { simulations } = (await admin('GET /simulations')) as { simulations: object[] };
  t.match(simulations, [{ seed: 'a', agent: { name: 'Shop' }, counts: { sessions: 6 } }]);
  await page.goto(`${service.url}/scenarios/run`);
  t.equal(await page.innerText('h1'), 'Named as a route');
  t.match(await page.innerText('.run'), '1 session. At most 10 turns');
  await page.goto(`${service.url}/scenarios/model`);
  t.match(await page.innerText('.run'), 'No LLM judge is configured.');
  await admin('POST /personas', { id: 'calm', name: 'Calm' });
  await admin('POST /scenarios', { id: 'x', name: 'X', persona: 'calm', user: { opening: 'Hi' } });
  await admin('DELETE /personas/calm');
  await page.goto(`${service.url}/scenarios/x`);
  t.match(await page.innerText('main'), /This scenario can't run\..*must be the id of a persona/);
  t.same(
    errors.filter((message) => isExpected(message) && !message.includes('404')),
    [],
  );
});

void t.test('back from the cost of a run keeps the choice', async (t) => {
  const { service, admin } = await withEmptyService(t);
  for (const id of ['one', 'two', 'three']) {
    await admin('POST /scenarios', { id, name: `Scenario ${id}`, user: { opening: 'Hi' } });
  }
  for (const id of ['other', 'shop']) {
    await admin('POST /agents', { id, name: id, url: 'http://127.0.0.1:1' });
  }
  const { page, errors } = await openPage(t, `${service.url}/scenarios?agent=shop`);
  await page.click('summary:text-is("Add a starter scenario")');
  await clickButton(page, 'Add');
  t.equal(await page.inputValue('[name=agent]'), 'shop', 'starters keep the agent');
  await page.goto(`${service.url}/scenarios?agent=shop&q=Scenario+t`);
  await page.check('[aria-label="Run Scenario three"]');
  const typed = { samples: '3', concurrency: '2', seed: 'a', name: 'Before the release' };
  for (const [name, value] of Object.entries(typed)) await page.fill(`[name=${name}]`, value);
  await page.selectOption('[name=channel]', 'voice');
  t.match(await clickButton(page, 'Show the cost'), '1 scenario with shop');
  await clickButton(page, 'Back');
  t.equal(await page.innerText('h1'), 'Scenarios');
  t.ok(await page.isChecked('[aria-label="Run Scenario three"]'));
  t.notOk(await page.isChecked('[aria-label="Run Scenario two"]'));
  for (const [name, value] of Object.entries({ ...typed, agent: 'shop', channel: 'voice' })) {
    t.equal(await page.inputValue(`.run [name=${name}]`), value, name);
  }
  t.equal(await page.locator('main [role=alert]').count(), 0, 'nothing is wrong');
  await page.check('[aria-label="Run Scenario one"]');
  t.match(await clickButton(page, 'Show the cost'), '2 scenarios with shop');
  t.match(await admin('GET /simulations'), { simulations: { length: 0 } }, 'nothing has started');
  t.same(errors, []);
});

void t.test('the form of a run offers the first of many agents, and the chosen one', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const agents = Array.from({ length: 60 }, (_, nth) => ({
    id: `a-${nth}`,
    name: `Agent ${nth}`,
    url: 'http://127.0.0.1:9',
  }));
  await admin('POST /seed', { agents });
  await admin('POST /scenarios', { id: 's', name: 'S', user: { opening: 'Hello' } });
  const { page } = await openPage(t, `${service.url}/scenarios?agent=a-59`);
  t.equal(await page.locator('[name=agent] option').count(), 51);
  t.equal(await page.inputValue('[name=agent]'), 'a-59');
  t.match(await page.innerText('main'), 'The 50 agents that were reached last.');
});
