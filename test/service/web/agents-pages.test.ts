/** The pages of agents in a real browser: connection, reports, readiness, and the editor. */
import t, { type Test } from 'tap';
import { schemas } from '../../../src/contract/index.ts';
import { createKitFunctions } from '../../../library/kit-functions.ts';
import { failed, report, row } from '../../support/conformance/check-report.ts';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage } from '../../support/pages/browser.ts';
import {
  attachReport,
  clickButton,
  follow,
  inspectPage,
  writeUpload,
} from '../../support/pages/service-page.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { reply, respondWith, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { makeContainsEval, type ServiceUnderTest } from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';

const KEY = 'sandbox-key-1234';
const [LOAD_REPORT] = schemas.LoadReport.examples;

const KEY_OF_SERVICE = 'the-key-of-this-service';
const TEAM_KEY = 'the-key-of-team-b';

/** Starts a service that other machines could reach, with two owners. The test reaches it on loopback. */
async function withOpenService(t: Test) {
  const keys = [{ key: KEY_OF_SERVICE }, { key: TEAM_KEY, owner: 'team b' }];
  const service = await withStartedService(t, { host: '0.0.0.0', keys, kit: createKitFunctions() });
  const admin = async (path: string, body: unknown): Promise<void> => {
    const headers = { 'x-service-api-key': KEY_OF_SERVICE, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    t.equal((await fetch(service.adminUrl + path, request)).status, 200);
  };
  return { service, admin };
}

void t.test('an agent is added, checked, and changed; its key is never shown', async (t) => {
  const { service, admin, send } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t, { apiKey: KEY });
  const { page, errors } = await openPage(t, `${service.url}/agents`);
  t.match(await page.innerText('main'), 'No agents yet.');
  await page.fill('[name=name]', 'Shop agent');
  await page.fill('[name=url]', '127.0.0.1:8080');
  await page.fill('[name=api_key]', 'a wrong key');
  const refused = await clickButton(page, 'Add the agent');
  t.match(refused, 'Did you mean http://127.0.0.1:8080?');
  t.match(refused, 'The key must consist of');
  t.equal(await page.inputValue('[name=url]'), '127.0.0.1:8080', 'typed text is kept');
  t.equal(await page.inputValue('[name=api_key]'), '', 'but not a wrong key');
  await page.fill('[name=api_key]', KEY);
  const again = await clickButton(page, 'Add the agent');
  t.notMatch(again, 'The key must consist of');
  t.equal(await page.inputValue('[name=api_key]'), KEY, 'a wrong URL keeps the key');
  await assertAccessibleAtNight(t, page);
  await page.fill('[name=url]', agent.url);
  t.match(await clickButton(page, 'Add the agent'), 'The agent was added.');
  t.match(page.url(), /\/agents\/agt_[^/]+\?notice=added$/);
  const quiet = page.locator('button.quiet:text-is("Check connection")');
  t.equal(await quiet.count(), 0, 'the connection is the next step');
  t.match(await clickButton(page, 'Check connection'), /Connection\s+Reachable and healthy/);
  t.equal(await quiet.count(), 1, 'the connection was checked');
  t.equal(await page.innerText('main a.button'), 'Run a check', 'the next step is the main action');
  t.match(
    await page.innerText('.ready'),
    'Not judged yet Evidence is missing for conformance, load, and simulations. Evidence from 2026-11-20',
  );
  await page.click('summary:text-is("Settings")');
  await page.fill('[name=url]', 'http://127.0.0.1:1');
  t.match(
    await clickButton(page, 'Save'),
    'Enter the key again, because a URL leads to another server.',
  );
  await page.fill('[name=url]', `${agent.url}/`);
  await page.fill('[name=name]', 'Shop');
  t.match(await clickButton(page, 'Save'), 'The agent was saved.');
  t.match(
    await clickButton(page, 'Check connection'),
    /Connection\s+Reachable/,
    'the key was kept',
  );
  await page.click('summary:text-is("Settings")');
  t.match(await page.innerText('#settings'), 'A key is stored and never shown.');
  await page.check('[name=forget_key]');
  await clickButton(page, 'Save');
  t.match(await admin('GET /agents'), { agents: [{ name: 'Shop', has_api_key: false }] });
  t.match(
    await clickButton(page, 'Check connection'),
    'requires a key, but none is set (401: "Authorization must be Bearer followed by the API key of this agent.").',
  );
  t.match(
    await page.innerText('.fix-first'),
    'Enter the key that the sandbox expects in the settings',
  );
  t.notMatch((await send('GET /agents', { key: null })).text + (await page.content()), KEY);
  await page.click('summary:text-is("Delete this agent")');
  t.match(await clickButton(page, 'Delete the agent'), 'The agent and its reports were deleted.');
  t.match(await admin('GET /agents'), { agents: { length: 0 } });
  t.same(
    errors.filter((message) => !message.includes('400 (Bad Request)')),
    [],
  );
});

void t.test('a failed connection check says what happened and what to do', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t, { apiKey: KEY });
  const double = await withSandboxDouble(t);
  const login = respondWith(200, '<!doctype html><form>Log in</form>', {
    'content-type': 'text/html',
  });
  const shop = respondWith(404, '{}');
  const tlsUrl = agent.url.replace('http:', 'https:');
  const rows = [
    [
      'key-refused',
      agent.url,
      'Key refused',
      'refuses the key with 401: "Authorization must be Bearer',
      'Enter the key that',
    ],
    ['down', 'http://127.0.0.1:1', 'Not reachable', 'Nothing accepts', 'Start the sandbox'],
    ['tls', tlsUrl, 'Not reachable', 'plain HTTP, not TLS', 'Use an http:// URL'],
    ['html', `${double.url}/html`, 'Not a sandbox', 'is an HTML page', 'A login page or a proxy'],
    ['shop', `${double.url}/shop`, 'Not a sandbox', 'No sandbox found at', 'Check the path'],
    [
      'v1',
      `${double.url}/v1`,
      'Not a sandbox',
      '/v1/v1/chat/completions responds with 404',
      'Remove /v1 from',
    ],
  ] as const;
  for (const [id, url, verdict, problem, cure] of rows) {
    const behavior = id === 'html' ? login : shop;
    const chat = id === 'v1' ? reply('Hello.') : behavior;
    double.setBehavior({ health: behavior, create: behavior, chat, delete: behavior });
    await admin('POST /agents', { id, name: id, url, api_key: 'another-key' });
    const { page } = await openPage(t, `${service.url}/agents/${id}`);
    const text = await clickButton(page, 'Check connection');
    t.match(text.replaceAll(/\s+/g, ' '), `Connection ${verdict}`, id);
    t.match(text, problem, id);
    t.match(text, cure, id);
    await follow(page, '.parts a');
    t.match(await page.innerText('main'), `Connection ${verdict}`, id);
    t.match(await page.innerText('main'), cure, id);
    await page.context().close();
  }
});

void t.test('plain HTTP to another machine is pointed out, with or without a key', async (t) => {
  const { admin, send } = await withEmptyService(t);
  const rows = [
    ['http://sandbox.example', KEY, 'Its key and its conversations are sent unencrypted'],
    ['http://sandbox.example', undefined, 'Its conversations are sent unencrypted'],
    ['https://sandbox.example', KEY, undefined],
    ['http://127.0.0.1:1', KEY, undefined],
  ] as const;
  for (const [url, key, warning] of rows) {
    await admin('POST /agents', { id: 'a', name: 'A', url, ...(key && { api_key: key }) });
    const { text } = await send('GET /agents/a', { key: null });
    const found = /Its .* are sent unencrypted/.exec(text)?.[0];
    t.equal(found, warning, url);
  }
});

void t.test('reports are uploaded; wrong files are refused with the reason', async (t) => {
  const { service, admin } = await withEmptyService(t);
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:1' });
  const { page, errors } = await openPage(t, `${service.url}/agents/shop`);
  const upload = async (name: string, content: string): Promise<string> => {
    return attachReport(page, writeUpload(t, name, content));
  };
  t.match(
    await page.textContent('details:has(#attach) + details pre'),
    /sandbox-kit load \S+ --duration 60s --json load\.json/,
    'the load test does not take its 5 minutes by default',
  );
  t.match(await attachReport(page), 'Choose the JSON file of a report.');
  t.match(await upload('a.json', '{'), 'The file is not valid JSON.');
  t.match(await upload('a.png', '\u0089PNG'), 'The file is not valid JSON.');
  t.match(await upload('a.json', '{"a":1}'), 'not a report of a check or a load test');
  t.match(await upload('a.json', '['.repeat(100_000)), 'nested more than 200 levels deep');
  t.match(
    await upload('a.json', '['.repeat(300) + ']'.repeat(300)),
    'nested more than 200 levels deep',
  );
  const old = { ...report([row('CHAT-001')]), verdict: undefined };
  t.match(await upload('a.json', JSON.stringify(old)), 'incomplete or from another version');
  t.equal(await page.locator('[role=alert]').count(), 1);
  await assertAccessibleAtNight(t, page);
  t.match(await page.innerText('#reports ~ p'), 'No reports yet.');
  const bad = report([row('CHAT-001'), row('CHAT-002', failed)], { verdict: 'not-conforming' });
  t.match(await upload('check.json', JSON.stringify(bad)), 'The report was attached.');
  t.match(await page.innerText('.parts'), /Conformance\s+Not conforming\s+1 pass and 1 fail/);
  await upload('load.json', JSON.stringify({ ...LOAD_REPORT, sandbox: 'http://other:1' }));
  t.match(await page.innerText('.parts'), 'The report is about http://other:1');
  t.equal(await page.locator('[aria-label=Reports] tbody tr').count(), 2, 'history');
  await follow(page, '[aria-label=Reports] tr:nth-child(2) a');
  t.match(await page.innerText('h1'), 'Conformance Not conforming');
  t.match(await page.innerText('.finding'), /fail CHAT-002 must, spec 2\.8.*Return a string\./s);
  const { url } = service;
  const json = await fetch(`${page.url()}/json`);
  t.same(await json.json(), bad);
  t.match(json.headers.get('content-disposition'), 'attachment; filename="check-');
  await page.goto(`${url}/agents/shop`);
  await follow(page, '[aria-label=Reports] tr:nth-child(1) a');
  t.match(await page.innerText('main'), LOAD_REPORT.sentence);
  t.match(await page.innerText('[aria-label=Targets]'), LOAD_REPORT.targets[0].statement);
  t.same(
    errors.filter((message) => !/\(Bad Request|\(Unprocessable/.test(message)),
    [],
  );
});

void t.test(
  '"Is this agent ready to onboard?" is answered on its page and on the list',
  async (t) => {
    const { service, admin, drain } = await withEmptyService(t);
    const { agent } = await withReferenceAgent(t);
    await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
    await admin('POST /agents', { id: 'new', name: 'New', url: 'http://127.0.0.1:1' });
    await admin('POST /agents/shop/connection');
    await admin('POST /agents/shop/reports', report([row('CHAT-001')], { target: agent.url }));
    await admin('POST /agents/shop/reports', {
      ...LOAD_REPORT,
      sandbox: agent.url,
      verdict: 'PASS',
    });
    await admin('POST /evals', makeContainsEval('hours', 'open'));
    const user = { opening: 'When do you open?' };
    const scenario = { id: 'hours', name: 'Opening hours', user, evals: ['hours'] };
    await admin('POST /simulations', { name: 'First', agent: 'shop', scenarios: [scenario] });
    await drain();
    const { page } = await openPage(t, `${service.url}/agents`);
    const rows = await page.locator('[aria-label=Agents] tbody tr').allInnerTexts();
    t.match(rows[0], /Shop.*yes.*Reachable.*Conforming.*Pass.*1 of 1 scenario passed/s);
    t.match(rows[1], /New.*not judged yet.*Not checked.*No report.*No report.*None yet/s);
    await follow(page, 'text=Shop');
    t.match(
      await page.innerText('.ready'),
      /^Ready for text; voice not tested Evidence from 2026-11-20 .* to 2026-11-20 /,
    );
    t.match(await page.innerText('[aria-label=Runs]'), /First\s+1\s+0\s.*1 of 1\s+100%/s);
    await inspectPage(t, `${service.url}/agents`);
    await inspectPage(t, `${service.url}/agents/shop`);
  },
);

/** Adds what an agent needs to be ready, besides a simulation. */
async function addEvidence({ admin }: ServiceUnderTest, url: string): Promise<void> {
  await admin('POST /agents', { id: 'shop', name: 'Shop', url });
  await admin('POST /agents/shop/connection');
  await admin('POST /agents/shop/reports', report([row('CHAT-001')], { target: url }));
  await admin('POST /agents/shop/reports', { ...LOAD_REPORT, sandbox: url, verdict: 'PASS' });
}

const makeScenario = (id: string, evalId: string): object => ({
  id,
  name: id,
  user: { opening: 'When do you open?' },
  evals: [evalId],
});

void t.test('a run of one easy scenario does not hide the failures of others', async (t) => {
  const tested = await withEmptyService(t);
  const { service, admin, drain } = tested;
  const { agent } = await withReferenceAgent(t);
  await addEvidence(tested, agent.url);
  await admin('POST /evals', makeContainsEval('easy', 'open'));
  await admin('POST /evals', makeContainsEval('hard', 'no agent says this'));
  const run = async (name: string, ...scenarios: object[]): Promise<void> => {
    await admin('POST /simulations', { name, agent: 'shop', scenarios });
    await drain();
  };
  await run('All', makeScenario('a', 'easy'), makeScenario('b', 'hard'), makeScenario('c', 'hard'));
  await run('Easy', makeScenario('a', 'easy'));
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.equal(
    (await page.innerText('.ready')).replace(/ Evidence from.*/, ''),
    'Not ready Simulations: 1 of 3 scenarios passed.',
  );
  t.match(await page.innerText('.parts'), '3 scenarios, 2 failed in their newest run.');
  t.equal(await page.locator('.ready .failed').innerText(), 'Not ready');
  await page.goto(`${service.url}/agents`);
  t.match(await page.innerText('[aria-label=Agents] tbody'), /\bno\b.*1 of 3 scenarios passed/s);
  await run('Mended', makeScenario('b', 'easy'), makeScenario('c', 'easy'));
  await page.goto(`${service.url}/agents/shop`);
  t.match(await page.innerText('.ready'), /^Ready for text; voice not tested/);
  t.match(await page.innerText('.parts'), '3 scenarios, none failed in their newest run.');
});

void t.test('reports and simulations of another URL do not count', async (t) => {
  const tested = await withEmptyService(t);
  const { service, admin, drain } = tested;
  const { agent } = await withReferenceAgent(t);
  await addEvidence(tested, agent.url);
  await admin('POST /evals', makeContainsEval('easy', 'open'));
  const scenarios = [makeScenario('a', 'easy')];
  await admin('POST /simulations', { agent: 'shop', scenarios });
  await drain();
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:1' });
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(
    await page.innerText('.ready'),
    'Not judged yet Evidence is missing for connection, conformance, load, and simulations.',
  );
  const parts = await page.innerText('.parts');
  t.match(parts, /Conformance\s+Report for another URL/);
  t.match(parts, /Simulations\s+Run for another URL\s+The simulations ran with/);
});

void t.test('if all sessions stopped, the agent is not ready for the reason', async (t) => {
  const tested = await withEmptyService(t);
  const { service, admin, drain } = tested;
  const double = await withSandboxDouble(t);
  double.setBehavior({ create: respondWith(500, '{}') });
  await addEvidence(tested, double.url);
  const scenarios = [makeScenario('a', 'easy'), makeScenario('b', 'easy')];
  await admin('POST /evals', makeContainsEval('easy', 'open'));
  await admin('POST /simulations', { agent: 'shop', scenarios, samples: 2 });
  await drain();
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(await page.innerText('.ready'), /^Not ready Simulations: all sessions stopped\./);
  const reason = 'All 4 sessions stopped: POST /users returned 500.';
  t.match(await page.innerText('.parts'), reason);
  const [first, second, ...others] = await page.locator('.fix-first li').allInnerTexts();
  t.equal(first, `Simulations: ${reason}`);
  t.match(second, /^Connection: reachable, with errors POST .*\/users/);
  t.same(others, []);
});

void t.test(
  'beyond loopback, only the first key changes agents, and owners are apart',
  async (t) => {
    const { service, admin } = await withOpenService(t);
    const agent = { id: 'shop', name: 'Shop of the first owner', url: 'http://127.0.0.1:1' };
    await admin('/agents', agent);
    await admin('/agents?owner=team%20b', { ...agent, name: 'Shop of team b' });
    await admin('/agents/shop/reports', report([row('CHAT-001')]));
    const { page } = await openPage(t, `${service.url}/agents/shop`);
    const signIn = async (key: string): Promise<string> => {
      await page.fill('[name=key]', key);
      return clickButton(page, 'Sign in');
    };
    const seen = await signIn(TEAM_KEY);
    t.match(seen, /Shop of team b.*No reports yet\./s);
    t.match(seen, 'To change this, sign in with the first API key of this service.');
    t.equal(await page.locator('main button').count(), 0);
    await assertAccessibleAtNight(t, page);
    for (const path of ['/agents/shop/reports/1', '/agents/shop/reports/1/json']) {
      const response = await page.goto(service.url + path);
      t.equal(response?.status(), 404, 'reports of another owner');
    }
    const posts = ['', '/shop', '/shop/delete', '/shop/connection', '/shop/reports'];
    for (const path of posts) {
      const response = await page.request.post(`${service.url}/agents${path}`, {
        form: { name: 'Taken over', url: 'http://127.0.0.1:1' },
        headers: { origin: service.url, accept: 'application/json' },
      });
      t.equal(response.status(), 403, `POST /agents${path}`);
    }
    await page.goto(service.url);
    await follow(page, 'text=Sign out');
    await page.goto(`${service.url}/agents/shop`);
    const own = await signIn(KEY_OF_SERVICE);
    t.match(own, /Shop of the first owner.*Conforming/s);
    await page.click('summary:text("Commands that write and attach a report")');
    t.match(await page.innerText('main'), '-H "x-service-api-key: $SANDBOX_KIT_SERVICE_API_KEY"');
    await page.click('summary:text-is("Settings")');
    await page.fill('[name=name]', 'Renamed');
    t.match(await clickButton(page, 'Save'), 'The agent was saved.');
  },
);

void t.test('a refused key leads to the field of the key', async (t) => {
  const { service, admin } = await withEmptyService(t);
  const { agent } = await withReferenceAgent(t, { apiKey: KEY });
  await admin('POST /agents', { id: 'shop', name: 'Shop', url: agent.url });
  const { page } = await openPage(t, `${service.url}/agents/shop`);
  t.match(await clickButton(page, 'Check connection'), 'Key refused');
  await follow(page, 'text=Change the API key');
  t.ok(await page.isVisible('[name=api_key]'), 'the settings are open');
  t.equal(await page.evaluate('document.activeElement.name'), 'api_key');
  await page.fill('[name=api_key]', KEY);
  t.match(await clickButton(page, 'Save'), 'The agent was saved.');
  const checked = await clickButton(page, 'Check connection');
  t.notMatch(checked, 'Change the API key');
});
