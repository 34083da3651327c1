/** The pages of the service in a real browser: overview, sessions, and runs. */
import fastify from 'fastify';
import t from 'tap';
import { showErrorsAsPages } from '../../../src/service/web/frame/errors.ts';
import { assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage } from '../../support/pages/browser.ts';
import { follow, inspectPage } from '../../support/pages/service-page.ts';
import { withEmptyService } from '../../support/services/empty-service.ts';
import { sendConversations, toName } from '../../support/services/filled-service.ts';
import {
  makeContainsEval,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';

/** Two scored conversations, one of which failed, an open one, and a request without an id. */
async function fillService(tested: ServiceUnderTest): Promise<void> {
  const text = 'Hello.';
  const { admin, drain } = tested;
  const name = toName(text);
  await admin('POST /evals', makeContainsEval('polite', 'please'));
  await admin('PUT /settings', { evals: ['polite'], run_name: name });
  await sendConversations(tested, text);
  await drain();
  await admin('POST /seed', {
    agents: [{ name: name, url: 'https://shop.example/agent' }],
    simulations: [
      {
        id: 'sim-1',
        name: name,
        agent: name,
        sessions: [
          {
            id: 'ses-1',
            scenario: name,
            persona: 'calm',
            started_at: '2026-11-20T09:30:00Z',
            ended_at: '2026-11-20T09:31:00Z',
            outcomes: [{ eval_name: name, outcome: 'fail', reasoning: text }],
          },
        ],
      },
    ],
  });
}

const PATHS = [
  '/',
  '/sessions?kind=production',
  '/sessions?kind=simulation&failed_only=true',
  '/runs?kind=production',
  '/runs?kind=simulation',
];

void t.test('the pages of an empty service explain how to send traces', async (t) => {
  const { service } = await withEmptyService(t);
  const forms = ['/agents', '/scenarios', '/personas', '/evals', '/keys', '/settings', '/compare'];
  for (const path of [...PATHS, ...forms]) await inspectPage(t, service.url + path);
  const { page } = await openPage(t, `${service.url}/`);
  const text = await page.innerText('main');
  t.match(text, 'No trace has arrived.');
  for (const start of ['Add an agent', 'Send traces', 'Upload conversations']) t.match(text, start);
  t.match(text, `OTEL_EXPORTER_OTLP_ENDPOINT=${service.url}`);
  t.notOk(text.includes(service.apiKey), 'no key');
  await follow(page, 'nav >> text=Sessions');
  t.match(await page.innerText('main'), 'No scored sessions yet.');
});

void t.test('the overview leads to the failed session, and to why data is missing', async (t) => {
  const tested = await withEmptyService(t);
  await fillService(tested);
  const { page, errors } = await openPage(t, `${tested.service.url}/`);
  const counts = await page.locator('.counts li').allInnerTexts();
  t.same(
    counts.map((text) => text.replaceAll(/\s+/g, ' ')),
    [
      '1 open conversation',
      '0 sessions being scored',
      '2 production sessions 1 with a failed eval',
      '1 simulation session 1 with a failed eval',
    ],
  );
  t.match(await page.innerText('.log'), /The request contains no spans\..*empty_request, 1 time/s);
  await follow(page, page.locator('.counts a', { hasText: 'with a failed eval' }).first());
  t.match(await page.innerText('main'), '1 session with these filters');
  await follow(page, page.locator('tbody th a'));
  t.match(page.url(), /\/production-eval\/\d+\?sessionId=/);
  t.match(await page.innerText('main'), /fail\s+Says please/);
  const text = await page.innerText('main');
  t.match(await page.innerText('#turn-1 .metrics'), /^[\d.]+ m?s/, 'the latency of the turn');
  t.match(text, `scenario from-conversation Hello. --service ${tested.service.url} --out`);
  const span = page.locator('[aria-label=Spans] tbody tr');
  t.equal(await span.count(), 1);
  await span.locator('summary').click();
  t.match(await span.innerText(), /"traceId": "2222/);
  await assertAccessibleAtNight(t, page);
  await follow(page, 'nav >> text=Runs');
  const run = page.locator('[aria-label=Runs] tbody tr');
  t.match(await run.innerText(), /Hello\. 2026-11-20\s+2\s+1\s+0\s+0\s+1 of 2\s+50%/);
  await follow(page, run.locator('a'));
  t.match(await page.innerText('main'), /1 of 2 sessions with results has no failed eval\./);
  await follow(page, page.locator('[aria-label=Evals] tbody td a'));
  t.match(await page.innerText('main'), '1 session with these filters');
  t.same(errors, []);
});

void t.test('the list has the filters and the totals of the results endpoint', async (t) => {
  const tested = await withEmptyService(t);
  await fillService(tested);
  const { page } = await openPage(t, `${tested.service.url}/sessions?kind=production`);
  const submit = async (fields: Record<string, string>): Promise<string> => {
    for (const [name, value] of Object.entries(fields)) await page.fill(`[name=${name}]`, value);
    await follow(page, 'button');
    return page.innerText('main');
  };
  for (const fields of [
    { run: 'HELLO' },
    { run: '', eval: 'please' },
    { eval: '', started_after: '2026-11-20T10:00:01Z' },
    { started_after: '', started_before: '2026-11-20' },
  ]) {
    const text = await submit(fields);
    const sent = [...new URL(page.url()).searchParams].filter(([, value]) => value !== '');
    const { total } = await tested.production(`?${new URLSearchParams(sent).toString()}`);
    t.match(text, `${total} session${total === 1 ? '' : 's'} with these filters`);
  }
  const refused = await submit({ started_before: 'yesterday' });
  t.match(refused, /Started before must be an ISO 8601 time/);
  t.notMatch(refused, /\d sessions?\b|newest first|No session matches|No scored sessions/);
  t.equal(await page.inputValue('[name=started_before]'), 'yesterday', 'the form keeps the value');
  const { status } = await tested.send('GET /sessions?kind=nothing', { key: null });
  t.equal(status, 400, 'an unknown kind');
  await submit({ started_before: '' });
  await page.selectOption('[name=outcome]', 'failed');
  t.match(await submit({}), '1 session with these filters');
});

void t.test(
  'a URL that is not valid, and a failure of the service, are pages for browsers',
  async (t) => {
    const { service } = await withEmptyService(t);
    for (const path of ['/scenarios/%', '/agents/%E0%A4%A']) {
      const page = await fetch(service.url + path, { headers: { accept: 'text/html' } });
      t.equal(page.status, 400);
      t.match(page.headers.get('content-type'), 'text/html');
      t.match(await page.text(), '<h1>The request failed</h1>');
      const json = await fetch(service.url + path, { headers: { accept: '*/*' } });
      t.match(await json.json(), { message: /not a valid url/ });
    }
    const app = fastify();
    t.teardown(() => app.close());
    const logged: unknown[] = [];
    const failure = new TypeError('secret words');
    showErrorsAsPages(app, (method, error) => void logged.push(method, error));
    app.get('/', () => {
      throw failure;
    });
    const page = await app.inject({ url: '/', headers: { accept: 'text/html' } });
    t.equal(page.statusCode, 500);
    t.match(page.body, 'The service failed to respond.');
    t.notMatch(page.body, 'secret');
    t.same(logged, ['GET', failure], 'logged once');
  },
);

void t.test('long lists have pages', async (t) => {
  const tested = await withEmptyService(t);
  const outcomes = [{ eval_name: 'E', outcome: 'pass', reasoning: 'It was.' }];
  const sessions = Array.from({ length: 120 }, (_, nth) => ({
    source_session_id: `conv-${nth}`,
    outcomes,
    started_at: `2026-11-19T10:${String(nth % 60).padStart(2, '0')}:00Z`,
  }));
  await tested.admin('POST /seed', { runs: [{ name: 'Live', sessions }] });
  const { page } = await openPage(t, `${tested.service.url}/sessions?kind=production&run=live`);
  const seen = new Set<string>();
  for (;;) {
    for (const name of await page.locator('tbody th a').allInnerTexts()) seen.add(name);
    const older = page.locator('text=Older');
    if ((await older.count()) === 0) break;
    await follow(page, older);
  }
  t.equal(seen.size, 120, 'each session is on one page');
  t.match(await page.innerText('.pages'), /to 120 of 120/);
  await follow(page, 'text=Newer');
  t.match(page.url(), 'run=live', 'the filter stays');
});

void t.test('pages show the data of one owner, and links keep the owner', async (t) => {
  const { service, admin } = await withService(t);
  await admin('POST /keys', { key: 'the-key-of-team-b', owner: 'team b' });
  await admin('POST /seed?owner=team%20b', {
    runs: [
      {
        name: 'Run of B',
        sessions: [
          {
            source_session_id: 'conv-b',
            started_at: '2026-11-19T09:30:00Z',
            outcomes: [{ eval_name: 'E', outcome: 'pass', reasoning: 'It was.' }],
          },
        ],
      },
    ],
  });
  const { page } = await openPage(t, `${service.url}/runs?kind=production`);
  t.match(await page.innerText('main'), 'No runs yet.');
  await page.goto(`${service.url}/?owner=team%20b`);
  t.match(await page.innerText('nav.site'), 'Owner team b');
  await follow(page, 'nav >> text=Runs');
  await follow(page, '[aria-label=Runs] a');
  t.match(await page.innerText('[aria-label=Sessions] tbody'), 'conv-b');
});
