/** Beyond loopback, browsers sign in with a key, and only pages of the service may send forms. */
import t, { type Test } from 'tap';
import { startService, type RunningService } from '../../../src/service/index.ts';
import { withRegisteredRoutes } from '../../support/contract/registered-routes.ts';
import { assertAccessible, assertAccessibleAtNight } from '../../support/pages/accessibility.ts';
import { openPage, visitViews } from '../../support/pages/browser.ts';
import { follow, pressEnter } from '../../support/pages/service-page.ts';
import { manualClock, type ManualClock } from '../../../src/platform/manual-clock.ts';
import { START_MS, withService } from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';

const KEY = 'the-key-of-this-service';
const TEAM_KEY = 'the-key-of-team-b';
const HTML = { accept: 'text/html' };

/** Starts a service that other machines could reach. The tests reach it on loopback. */
async function withOpenService(t: Test): Promise<{ service: RunningService; clock: ManualClock }> {
  const clock = manualClock(START_MS);
  const service = await withStartedService(t, {
    clock,
    host: '0.0.0.0',
    keys: [{ key: KEY }, { key: TEAM_KEY, owner: 'team b' }],
  });
  return { service, clock };
}

void t.test(
  'a browser signs in with a key, sees the page it asked for, and signs out',
  async (t) => {
    const { service } = await withOpenService(t);
    const url = `${service.url}/runs?kind=simulation`;
    await visitViews(t, url, async ({ page }) => {
      t.equal(await page.innerText('h1'), 'Sign in');
      await assertAccessible(t, page);
      await page.keyboard.type('not-a-known-key');
      await pressEnter(page);
      t.match(await page.innerText('[role=alert]'), 'The service has no such key.');
      await page.fill('[name=key]', KEY);
      await follow(page, 'button');
      t.equal(page.url(), url, 'the page that the browser asked for');
      t.equal(await page.innerText('h1'), 'Simulations');
      await assertAccessibleAtNight(t, page);
      const [cookie] = await page.context().cookies();
      t.match(cookie, { httpOnly: true, sameSite: 'Lax' });
      t.notMatch(cookie?.value, KEY);
      await follow(page, 'text=Sign out');
      await page.goto(url);
      t.equal(await page.innerText('h1'), 'Sign in');
    });
  },
);

/**
 * What anyone may request: whether the service runs, its description, samples of files, the
 * stylesheet, and the sign-in. The WebSocket of calls refuses requests that are not a handshake;
 * `browser-call.test.ts` tests who may open it.
 */
const OPEN_ROUTES = [
  ...[/^GET \/(ready|openapi\.json|sign-in|transcripts\/sample\.\w+)$/, /^POST \/sign-(in|out)$/],
  ...[/^\w+ \/v1\/(logs|metrics)$/, /\/socket$/, /^GET \/assets\//],
];

void t.test('beyond loopback, every route needs a key or a session', async (t) => {
  const { server, routes } = await withRegisteredRoutes(t, () =>
    startService({ host: '0.0.0.0', keys: [{ key: KEY }] }),
  );
  for (const known of [
    'GET /evals/reviews',
    'GET /agents/{id}/readiness',
    'POST /dismiss-problems',
    'GET /requirements/{id}',
    'GET /simulation/{id}/again',
  ]) {
    t.ok(routes.includes(known), known);
  }
  for (const route of routes.filter((each) => !OPEN_ROUTES.some((open) => open.test(each)))) {
    const [method = '', path = ''] = route.replaceAll(/\{\w+\}/g, 'x').split(' ');
    const isAdmin = path.startsWith('/__admin');
    const { origin } = new URL(server.url);
    const response = await fetch(new URL(path, isAdmin ? server.adminUrl : server.url), {
      method,
      headers: { origin },
      redirect: 'manual',
      ...(method === 'POST' && { body: new URLSearchParams() }),
    });
    t.equal(response.status, 401, route);
    await response.body?.cancel();
  }
});

void t.test('programs get a 401 as JSON, and never a redirect', async (t) => {
  const { service } = await withOpenService(t);
  const response = await fetch(`${service.url}/sessions?kind=production`);
  t.equal(response.status, 401);
  t.match(await response.json(), { message: /must contain an API key/ });
  const page = await fetch(`${service.url}/sessions?kind=production`, { headers: HTML });
  t.equal(page.status, 401);
  t.match(await page.text(), '<h1>Sign in</h1>');
});

/** Sends the form of the sign-in page, and returns the response. */
const signIn = (
  { url }: RunningService,
  fields: Record<string, string>,
  headers: Record<string, string> = { origin: url },
): Promise<Response> =>
  fetch(`${url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers,
    body: new URLSearchParams(fields),
  });

void t.test('sessions expire, end with their key, and cannot be forged', async (t) => {
  const { service, clock } = await withOpenService(t);
  const cookieOf = async (key: string): Promise<string> => {
    const response = await signIn(service, { key, next: '/' });
    t.equal(response.status, 303);
    return response.headers.get('set-cookie')?.split(';')[0] ?? '';
  };
  const status = async (cookie: string): Promise<number> =>
    (await fetch(service.url, { headers: { ...HTML, cookie } })).status;
  const cookie = await cookieOf(KEY);
  t.equal(await status(cookie), 200);
  t.equal(await status(`other=1; ${cookie}`), 200, 'next to other cookies');
  const parts = cookie.split('.');
  for (const nth of parts.keys()) {
    const forged = parts.with(
      nth,
      (parts[nth] ?? '').replace(/.$/, (last) => (last === '1' ? '2' : '1')),
    );
    t.equal(await status(forged.join('.')), 401, `part ${nth} is changed`);
  }
  t.equal(await status('sandbox_kit_session='), 401);
  clock.advance(12 * 3_600_000);
  t.equal(await status(cookie), 401, 'after 12 hours');

  const granted = await fetch(`${service.adminUrl}/keys`, {
    method: 'POST',
    body: '{}',
    headers: { 'x-service-api-key': KEY, 'content-type': 'application/json' },
  });
  const { key } = (await granted.json()) as { key: string };
  const reader = await cookieOf(key);
  t.equal(await status(reader), 200);
  await fetch(`${service.adminUrl}/keys`, {
    method: 'DELETE',
    body: JSON.stringify({ key }),
    headers: { 'x-service-api-key': KEY, 'content-type': 'application/json' },
  });
  t.equal(await status(reader), 401, 'the key was revoked');
});

void t.test('a live page ends with its session, and with its key', async (t) => {
  const { service } = await withOpenService(t);
  const admin = { 'x-service-api-key': KEY, 'content-type': 'application/json' };
  const granted = await fetch(`${service.adminUrl}/keys`, {
    method: 'POST',
    body: '{}',
    headers: admin,
  });
  const { key } = (await granted.json()) as { key: string };
  const openLive = async () => {
    const { page } = await openPage(t, `${service.url}/`);
    const requested = page.waitForRequest('**/overview/live');
    await page.fill('[name=key]', key);
    await follow(page, 'button');
    await requested;
    t.equal(await page.getByText('Add an agent').count(), 1);
    return page;
  };
  const page = await openLive();
  const [{ name, value } = { name: '', value: '' }] = await page.context().cookies();
  const other = await page.context().newPage();
  await other.goto(`${service.url}/settings`);
  await follow(other, 'text=Sign out');
  await page.getByText('You are signed out.').waitFor();
  t.equal(await page.getByText('Add an agent').count(), 0, 'the data is gone');
  for (const copy of [value, `${value}.more`]) {
    const { status } = await fetch(service.url, {
      headers: { ...HTML, cookie: `${name}=${copy}` },
    });
    t.equal(status, 401, 'a copy of the cookie is worth nothing');
  }
  const live = await fetch(`${service.url}/overview/live`, {
    headers: { accept: 'text/event-stream' },
  });
  t.match(await live.text(), /^event: final\ndata: .*You are signed out/, 'no endless repetition');
  t.equal((await fetch(`${service.url}/overview/live`)).status, 401, 'programs get an error');

  const keyed = await openLive();
  const { status } = await fetch(`${service.adminUrl}/keys`, {
    method: 'DELETE',
    body: JSON.stringify({ key }),
    headers: admin,
  });
  t.equal(status, 200);
  await keyed.getByText('You are signed out.').waitFor();
});

void t.test('the sign-in leads to no other host, and takes no form of another site', async (t) => {
  const { service } = await withOpenService(t);
  for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', 'x', '']) {
    const { headers } = await signIn(service, { key: KEY, next });
    t.equal(headers.get('location'), '/', next);
  }
  for (const origin of ['https://evil.example', 'null']) {
    const { status } = await signIn(service, { key: KEY }, { origin });
    t.equal(status, 403, origin);
  }
  t.equal((await signIn(service, { key: KEY }, {})).status, 403, 'no origin');
});

void t.test('behind a proxy that replaces Host, the sign-in says what to set', async (t) => {
  const { service } = await withOpenService(t);
  const origin = 'https://kit.example<b>';
  const refused = await signIn(service, { key: KEY }, { origin });
  const expected = JSON.stringify(new URL(service.url).host);
  const { message } = (await refused.json()) as { message: string };
  t.match(message, `Origin is "${origin}", but must name this service: ${expected}`);
  t.match(message, 'set --app-url to the address in the browser, or let the proxy forward Host.');
  const page = await signIn(service, { key: KEY }, { ...HTML, origin });
  t.equal(page.status, 403);
  const text = await page.text();
  t.match(text, /<h1>Not allowed<\/h1>.*https:\/\/kit\.example&lt;b&gt;.*set --app-url/s);
  t.notMatch(text, 'kit.example<b>', 'escaped');
});

void t.test('unknown pages are pages for browsers and JSON for programs', async (t) => {
  const { send } = await withService(t);
  const page = await send('GET /no-such-page', { key: null, headers: HTML });
  t.equal(page.status, 404);
  t.match(page.text, /<h1>Page not found<\/h1>.*Go to the overview/s);
  const program = await send('GET /no-such-page', { key: null });
  t.match(program.json, { message: /Route GET \/no-such-page does not exist/ });
  const missing = await send('GET /?owner=unknown', { key: null, headers: HTML });
  t.equal(missing.status, 404);
  t.match(missing.text, /There is no owner/);
});
