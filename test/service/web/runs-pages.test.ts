/** The list of runs, the page of a run, and the progress of a simulation, in a real browser. */
import t from 'tap';
import { openPage } from '../../support/pages/browser.ts';
import { follow, inspectPage, pressEnter } from '../../support/pages/service-page.ts';
import { hang, reply, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval, withService } from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';
import { seedRun } from '../../support/sessions/seeded-run.ts';
import {
  parcel,
  runShopSimulation,
  startSimulation,
} from '../../support/sessions/shop-simulation.ts';

void t.test('the list keeps failed, errored, and incomplete sessions apart', async (t) => {
  const tested = await withEmptyService(t);
  await tested.admin('POST /seed', {
    runs: [
      seedRun('Monday', [
        { id: 'a', outcome: 'pass' },
        { id: 'b', outcome: 'fail' },
        { id: 'c', outcome: 'error' },
      ]),
      seedRun('Tuesday', [{ id: 'd', outcome: 'pass', startedAt: '2026-11-21T10:00:00Z' }]),
    ],
  });
  const { page } = await openPage(t, `${tested.service.url}/runs`);
  const rows = page.locator('[aria-label=Runs] tbody tr');
  t.match(await rows.nth(0).innerText(), /Tuesday\s+1\s+0\s+0\s+0\s+1 of 1\s+100%/);
  t.match(await rows.nth(1).innerText(), /Monday\s+2\s+1\s+1\s+0\s+1 of 2\s+50%/);
  const { total } = await tested.production('?run=Monday');
  t.equal(total, 2, 'the results endpoint counts the same sessions');

  const filter = async (fields: Record<string, string>): Promise<string[]> => {
    for (const [name, value] of Object.entries(fields)) await page.fill(`[name=${name}]`, value);
    await follow(page, 'text=Filter');
    return page.locator('[aria-label=Runs] tbody a').allInnerTexts();
  };
  t.same(await filter({ name: 'MOND' }), ['Monday']);
  t.same(await filter({ name: '', started_after: '2026-11-21' }), ['Tuesday']);
  t.same(await filter({ started_after: '', started_before: '2026-11-20T23:00:00Z' }), ['Monday']);
  t.same(await filter({ name: 'nothing' }), []);
  t.match(await page.innerText('main'), 'Nothing matches.');
  await filter({ started_before: 'yesterday' });
  const refused = await page.innerText('main');
  t.match(refused, /With a session before must be an ISO 8601 time/);
  t.notMatch(refused, /\d+ run|newest first|Nothing matches|No runs yet/);
  t.equal(await page.inputValue('[name=started_before]'), 'yesterday', 'the form keeps the value');
});

void t.test('the chart shows many runs; fewer than two have no chart', async (t) => {
  const tested = await withEmptyService(t);
  const url = `${tested.service.url}/runs`;
  const dots = 'svg.small circle';
  const empty = await openPage(t, url);
  t.equal(await empty.page.locator('figure').count(), 0, 'no runs, no chart');
  t.match(await empty.page.innerText('main'), 'No runs yet.');

  const day = (nth: number): string => `2026-10-${String(nth).padStart(2, '0')}`;
  const seedDay = (nth: number) =>
    seedRun(`Run of ${day(nth)}`, [
      { id: `good-${nth}`, outcome: 'pass', startedAt: `${day(nth)}T09:00:00Z` },
      { id: `${nth}`, outcome: nth < 20 ? 'pass' : 'fail', startedAt: `${day(nth)}T10:00:00Z` },
    ]);
  await tested.admin('POST /seed', { runs: [seedDay(1)] });
  await empty.page.reload();
  t.match(await empty.page.innerText('main'), 'Run of 2026-10-01');
  t.equal(await empty.page.locator('figure').count(), 0, 'one run, no chart');

  await tested.admin('POST /seed', {
    runs: Array.from({ length: 27 }, (_, index) => seedDay(index + 2)),
  });
  const { page } = await openPage(t, url);
  t.equal(await page.locator(dots).count(), 28);
  t.match(
    await page.getAttribute('svg.small', 'aria-label'),
    'Pass rate of the last 28 production runs, from 100% to 50%',
  );
  const chart = await page.innerHTML('svg.small');
  t.match(chart, /production run by the day of its newest session/, 'the x axis has a title');
  t.match(chart, /passed evals/, 'the y axis has a title');
  t.match(chart, /<title>\s*Run of 2026-10-28: 50%\s*<\/title>/, 'each dot has a label');
  const overview = await openPage(t, `${tested.service.url}/`);
  t.equal(await overview.page.locator(dots).count(), 28, 'on the overview, too');
});

void t.test('simulations of each agent have a separate chart', async (t) => {
  const tested = await withEmptyService(t);
  const simulation = (nth: number, agent: string, outcome: 'pass' | 'fail') => ({
    id: `sim-${nth}`,
    name: `Release ${nth}`,
    agent,
    sessions: [
      {
        id: `ses-${nth}`,
        scenario: 'parcel',
        persona: 'calm',
        started_at: `2026-11-0${nth}T09:00:00Z`,
        outcomes: [{ eval_name: 'Polite', outcome }],
      },
    ],
  });
  await tested.admin('POST /seed', {
    simulations: [
      simulation(1, 'Shop', 'pass'),
      simulation(2, 'Bank', 'fail'),
      simulation(3, 'Shop', 'fail'),
      simulation(4, 'Bank', 'pass'),
      simulation(5, 'Alone', 'pass'),
    ],
  });
  for (const path of ['/', '/runs?kind=simulation']) {
    const { page } = await openPage(t, tested.service.url + path);
    t.same(await page.locator('.charts figcaption').allInnerTexts(), [
      'Bank: pass rate of the last 2 simulations, from 0% to 100%',
      'Shop: pass rate of the last 2 simulations, from 100% to 0%',
    ]);
  }
});

void t.test('response times are charted from the second simulation of an agent on', async (t) => {
  const tested = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t);
  await tested.admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
  const twoLines = makeScenario({
    id: 'two',
    user: { opening: 'Hello.', steps: [{ say: 'Where is my order A-1001?' }] },
  });
  const simulateOnce = async (): Promise<string> => {
    const id = await startSimulation(tested, { agent: 'shop', scenarios: [parcel, twoLines] });
    await tested.drain();
    return id;
  };
  const captionsOf = async (path: string): Promise<string> => {
    const { page } = await openPage(t, tested.service.url + path);
    const captions = page.locator('.charts :is(figcaption, p)');
    return (await captions.allTextContents()).join('\n').replaceAll(/[ \n]+/g, ' ');
  };
  const id = await simulateOnce();
  t.notMatch(await captionsOf('/runs?kind=simulation'), 'response time of the last');
  const ofOne = await captionsOf(`/simulation/${id}`);
  t.match(ofOne, /Shop by chat: response time of 3 turns, median [\d.]+ ms, 95th percentile/);
  t.match(ofOne, 'Shop by chat: turns of 2 sessions: 1 to 2');
  await simulateOnce();
  const ofTwo = /Shop by chat: response time of the last 2 simulations, median from [\d.]+ ms/;
  t.match(await captionsOf('/runs?kind=simulation'), ofTwo);
  const ofAgent = await captionsOf('/agents/shop');
  t.match(ofAgent, ofTwo);
  t.match(ofAgent, 'Shop by chat: turns of 4 sessions: 1 to 2', 'the distribution counts both');
});

void t.test('a deep link without a session leads to its run', async (t) => {
  const tested = await withEmptyService(t);
  await tested.admin('POST /seed', {
    runs: [
      seedRun('Monday', [
        { id: 'a', outcome: 'pass' },
        { id: 'b', outcome: 'fail', text: 'It was rude.' },
        { id: 'c', outcome: 'error' },
      ]),
    ],
  });
  const { id, agentUrl } = await runShopSimulation(t, tested);
  const withoutSession = (link: string | null | undefined): string => {
    const url = new URL(link ?? '');
    url.search = '';
    return url.href;
  };

  const [production] = (await tested.production()).items;
  const run = await openPage(t, withoutSession(production?.url));
  const text = await run.page.innerText('main');
  t.match(text, /1 of 2 sessions with results has no failed eval\. 50% of the evals passed\./);
  t.match(text, /With an errored eval\s+1 session/);
  t.match(
    await run.page.innerText('[aria-label=Evals] tbody tr'),
    /Polite\s+1 of 2\s+50%\s+1\s+1/,
    'failed and errored apart',
  );
  t.equal(await run.page.locator('[aria-label=Sessions] tbody tr').count(), 3, 'all sessions');

  const [simulated] = (await tested.simulations()).items;
  const link = withoutSession(simulated?.url);
  t.equal(link, `${tested.service.url}/simulation/${id}`);
  const { page } = await openPage(t, link);
  const main = await page.innerText('main');
  t.match(main, /Failed 1 of 2 scenarios passed, 1 failed\. 50% of the evals passed\./);
  t.match(main, new RegExp(`Agent\\s+Shop agent at ${agentUrl}`));
  t.match(main, /Seed\s+nightly/);
  const scenarios = page.locator('[aria-label=Scenarios] tbody tr');
  t.match(
    await scenarios.nth(0).innerText(),
    /hours\s+Opening hours, plain\s+failed\s+0 of 2\s+2\s+0/,
  );
  t.match(await scenarios.nth(1).innerText(), /parcel\s+Late parcel, plain\s+passed\s+2 of 2/);
  const cause = page.locator('.causes');
  t.equal(await cause.count(), 1, 'only the failed scenario has causes');
  t.match(
    await cause.innerText(),
    /hours 0 of 2 passed\s+failed 2 sessions.*#1 #2.*unlikely words/s,
  );
  await page.click('text=Repeat this simulation');
  t.match(await page.innerText('pre'), /\/__admin\/simulations.*"seed":"nightly"/);
  t.equal(await page.locator('#cancel').count(), 0, 'an ended simulation cannot be canceled');
  await follow(page, cause.locator('a').first());
  t.match(page.url(), /\?sessionId=/);
  t.match(await page.innerText('main'), /fail\s+Says unlikely words/);
});

void t.test('the command of the page starts the same simulation again', async (t) => {
  const tested = await withEmptyService(t);
  const { id } = await runShopSimulation(t, tested);
  const { page } = await openPage(t, `${tested.service.url}/simulation/${id}`);
  await page.click('text=Repeat this simulation');
  const command = await page.innerText('pre');
  const body = /-d '(.*)'$/s.exec(command)?.[1]?.replaceAll(String.raw`'\''`, "'");
  const again = await startSimulation(tested, JSON.parse(body ?? '') as object);
  await tested.drain();
  t.not(again, id);
  const read = async (simulation: string) =>
    (await tested.admin(`GET /simulations/${simulation}`)) as { scenarios: unknown; seed: string };
  const [first, second] = [await read(id), await read(again)];
  t.same(second.scenarios, first.scenarios);
  t.equal(second.seed, first.seed);
});

void t.test('beyond loopback, the command names a variable with the key', async (t) => {
  const key = 'the-first-key';
  const service = await withStartedService(t, { host: '0.0.0.0', keys: [{ key }] });
  const agent = { name: 'Nowhere', url: 'http://127.0.0.1:9' };
  const started = await fetch(`${service.adminUrl}/simulations`, {
    method: 'POST',
    body: JSON.stringify({ agent, scenarios: [makeScenario({})] }),
    headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
  });
  const { id } = (await started.json()) as { id: string };
  const { page } = await openPage(t, `${service.url}/simulation/${id}`);
  await page.fill('[name=key]', key);
  await follow(page, 'button');
  await page.click('text=Repeat this simulation');
  t.match(
    await page.innerText('#repeat'),
    /First set SANDBOX_KIT_SERVICE_API_KEY to the first API/,
  );
  t.match(
    await page.innerText('#repeat pre'),
    ` -H "x-service-api-key: $SANDBOX_KIT_SERVICE_API_KEY" http`,
  );
  t.notMatch(await page.content(), key, 'no key');
});

void t.test('the page of a running simulation updates itself until its end', async (t) => {
  const tested = await withEmptyService(t);
  const held: (() => void)[] = [];
  const sandbox = await withSandboxDouble(t, {
    chat: (response, request) => {
      if (sandbox.chats().length < 3) reply('One moment.')(response, request);
      else held.push(() => reply('It has shipped.')(response, request));
    },
  });
  const id = await startSimulation(tested, {
    agent: { name: 'Slow agent', url: sandbox.url },
    scenarios: [
      makeScenario({
        user: { opening: 'Hello?', steps: [{ say: 'Are you there?' }, { say: 'Please!' }] },
        evals: [makeContainsEval('ships', 'shipped')],
      }),
    ],
  });
  await sandbox.waitForRequests('chat', 3);
  const url = `${tested.service.url}/simulation/${id}`;
  const { page, errors } = await openPage(t, url);
  const main = await page.innerText('main');
  t.match(main, /Running: 0 of 1 session ended\./);
  t.match(main, /No verdict yet/);
  t.match(main, /a #1\s+2 turns of at most \d+.*Hello\?.*One moment\./s, 'the turns so far');
  await inspectPage(t, `${tested.service.url}/simulation/${id}`);
  const { page: plain } = await openPage(t, url, { javaScriptEnabled: false });
  t.match(await plain.innerText('noscript'), 'Reload this page');

  for (const respond of held) respond();
  await page.waitForSelector('.verdict:has-text("1 of 1 scenario passed.")');
  t.equal(await page.innerText('.verdict .badge'), 'Passed');
  const ended = await page.innerText('main');
  t.match(ended, /\b1 session ended\./);
  t.notMatch(ended, /No verdict yet|No session has ended/, 'the whole page is new');
  t.equal(await page.locator('[aria-label=Sessions] tbody th a').count(), 1);
  t.equal(await page.locator('#cancel').count(), 0);
  t.same(errors, []);
  await follow(plain, 'noscript a');
  t.match(await plain.innerText('main'), /Passed 1 of 1 scenario passed\./);
});

void t.test('a running simulation can be canceled', async (t) => {
  const tested = await withEmptyService(t);
  const sandbox = await withSandboxDouble(t, { chat: hang });
  const body = { agent: { name: 'Silent', url: sandbox.url }, scenarios: [parcel], samples: 7 };
  const id = await startSimulation(tested, body);
  await sandbox.waitForRequests('chat', 5);
  const { page } = await openPage(t, `${tested.service.url}/simulation/${id}`);
  await page.focus('#cancel');
  await pressEnter(page);
  t.match(await page.innerText('main'), /The simulation was canceled\./);
  t.match(await page.innerText('main'), /Canceled after 5 of 7 sessions\./);
  t.match(await tested.admin(`GET /simulations/${id}`), { status: 'canceled' });
  const { status } = await fetch(`${tested.service.url}/simulation/${id}/cancel`, {
    method: 'POST',
    body: new URLSearchParams({ _token: 'guessed' }),
  });
  t.equal(status, 403, 'a form without the token of the page changes nothing');
});

void t.test(
  'a run of another owner is found by its deep link, and stays with its owner',
  async (t) => {
    const tested = await withService(t);
    const { service, admin } = tested;
    await admin('POST /keys', { key: 'the-key-of-team-b', owner: 'team b' });
    await admin('POST /seed?owner=team%20b', {
      runs: [seedRun('Run of B', [{ id: 'b', outcome: 'pass' }])],
    });
    const { page } = await openPage(t, `${service.url}/runs?owner=team%20b`);
    await follow(page, '[aria-label=Runs] a');
    const path = new URL(page.url()).pathname;
    await page.goto(service.url + path);
    t.match(await page.innerText('h1'), 'Run of B');
    t.match(await page.innerText('nav.site'), 'Owner team b');
    t.match(await page.getAttribute('text=Compare with another', 'href'), 'owner=team+b');

    const keys = ['the-key-of-team-a', 'the-key-of-team-b'].map((key) => ({ key, owner: key }));
    const open = await withStartedService(t, { host: '0.0.0.0', keys });
    await fetch(`${open.url}/__admin/seed?owner=the-key-of-team-b`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-api-key': 'the-key-of-team-a' },
      body: JSON.stringify({ runs: [seedRun('Run of B', [{ id: 'b', outcome: 'pass' }])] }),
    });
    for (const [key, status] of [
      ['the-key-of-team-a', 404],
      ['the-key-of-team-b', 200],
    ] as const) {
      const headers = { 'x-service-api-key': key, accept: 'text/html' };
      const response = await fetch(`${open.url}/production-eval/1`, { headers });
      t.equal(response.status, status, key);
    }
  },
);

void t.test('an unknown run is a page that says so', async (t) => {
  const { service } = await withService(t);
  for (const path of ['/simulation/sim_unknown', '/production-eval/7', '/production-eval/%20']) {
    const response = await fetch(service.url + path, { headers: { accept: 'text/html' } });
    t.equal(response.status, 404, path);
    t.match(await response.text(), /has this address\. It was deleted/);
  }
});

void t.test('without a kind, the lists show a kind that has sessions', async (t) => {
  const { admin, send } = await withEmptyService(t);
  const shown = async (path: string): Promise<string | undefined> => {
    const { text } = await send(`GET ${path}`, { key: null });
    return /<a href="[^"]*kind=(\w+)"\s+aria-current="page"/.exec(text)?.[1];
  };
  for (const path of ['/runs', '/sessions']) t.equal(await shown(path), 'production', 'no data');
  await admin('POST /seed', {
    simulations: [
      {
        id: 'sim-1',
        name: 'Nightly',
        agent: 'Shop',
        sessions: [
          {
            id: 'ses-1',
            scenario: 'greeting',
            persona: 'calm',
            started_at: '2026-11-20T09:30:00Z',
            ended_at: '2026-11-20T09:31:00Z',
            outcomes: [{ eval_name: 'polite', outcome: 'pass', reasoning: 'It was.' }],
          },
        ],
      },
    ],
  });
  for (const path of ['/runs', '/sessions']) t.equal(await shown(path), 'simulation', path);
  t.equal(await shown('/runs?kind=production'), 'production', 'a chosen kind stays');
});
