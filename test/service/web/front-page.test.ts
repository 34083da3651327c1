/** What `/`, `/__admin`, and unsupported methods show to a caller who knows only the address. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../../support/repository.ts';
import { assertError, withService } from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

void t.test('/ describes the service in JSON and says where to send traces', async (t) => {
  const { send, admin, service } = await withService(t, { apiKeyHeader: 'X-My-Key' });
  for (const accept of ['*/*', 'application/json', 'text/plain', 'text/html;q=0, */*', 'a;q=b,,']) {
    const response = await send('GET /', { key: null, headers: { accept } });
    t.equal(response.status, 200, accept);
    t.equal(response.headers.get('content-type'), 'application/json', accept);
    t.match(response.json, { service: 'sandbox-kit', key_header: 'x-my-key' });
    t.match(response.text, /POST \/v1\/traces.*\/__admin.*docs\/service\.md/s);
    t.notOk(response.text.includes(service.apiKey), 'no key');
    t.match(response.headers.get('vary'), /accept/i);
  }
  t.equal((await send('HEAD /?x=1', { key: null })).status, 200);
  t.match(await admin('GET /requests'), { total: 0 }, 'requests for / are not in the journal');
});

void t.test('/ is a page for browsers that loads its stylesheet only', async (t) => {
  const { send, service } = await withService(t);
  for (const accept of [BROWSER, 'text/html', 'TEXT/HTML', 'application/json;q=0.1, text/*']) {
    const { status, headers, text } = await send('GET /', { key: null, headers: { accept } });
    t.equal(status, 200, accept);
    t.equal(headers.get('content-type'), 'text/html; charset=utf-8', accept);
    t.match(headers.get('content-security-policy'), /default-src 'none'/);
    t.match(
      text,
      /<title>Overview - sandbox-kit.*x-service-api-key.*\/v1\/traces.*docs\/service\.md/s,
    );
    t.notOk(text.includes(service.apiKey), 'no key');
    t.notMatch(text, /<img|src=/);
    const links = Array.from(text.matchAll(/<link rel="(\w+)" href="([^"]+)"/g));
    t.equal(links.length, 1);
    const [[, rel = '', path = ''] = []] = links;
    t.equal(rel, 'stylesheet');
    for (const [asked, caching] of [
      [path, 'public, max-age=31536000, immutable'],
      ['/assets/0123456789abcdef.css', 'no-store'],
    ] as const) {
      const stylesheet = await send(`GET ${asked}`, { key: null });
      t.equal(stylesheet.status, 200);
      t.equal(stylesheet.headers.get('cache-control'), caching, 'of this version');
      t.equal(stylesheet.headers.get('content-type'), 'text/css; charset=utf-8');
      t.match(stylesheet.text, /nav\.site/);
    }
    t.equal(text.match(/<script/g)?.length, 1, 'the script for live updates');
  }
});

void t.test('an exporter that posts to / gets the right address', async (t) => {
  const { send } = await withService(t);
  const response = await send('POST /', { body: { resourceSpans: [] } });
  assertError(t, response, 405, /POST.*Use GET, HEAD.*Send traces to \/v1\/traces\.$/);
  t.equal(response.headers.get('allow'), 'GET, HEAD');
  assertError(t, await send('GET /v1'), 404, /GET \/v1/);
});

void t.test('/ and /__admin reveal nothing to unauthorized callers', async (t) => {
  const { send } = await withService(t);
  for (const path of ['/', '/__admin', '/__admin/']) {
    const headers = { origin: 'https://evil.example' };
    assertError(t, await send(`GET ${path}`, { headers }), 403);
  }
  const key = 'the-key-of-this-service';
  const service = await withStartedService(t, { host: '0.0.0.0', keys: [{ key }] });
  for (const path of ['/', '/search?q=x', '/__admin', '/__admin/', '/__admin/evals']) {
    const method = path === '/__admin/evals' ? 'PATCH' : 'GET';
    const rejected = await fetch(service.url + path, { method });
    t.equal(rejected.status, 401, path);
    t.equal(rejected.headers.get('allow'), null);
    const headers = { 'x-service-api-key': key };
    t.equal((await fetch(service.url + path, { headers })).status, 200, path);
  }
});

interface RouteList {
  routes: { route: string; purpose: string }[];
}

void t.test('/__admin lists every control route, and each is documented', async (t) => {
  const { admin, send } = await withService(t);
  const { routes } = (await admin('GET ')) as RouteList;
  t.same(await admin('GET /'), { routes });
  const document = readFileSync(join(ROOT, 'docs/service.md'), 'utf8');
  t.ok(routes.length > 30, `${routes.length} routes`);
  for (const { route, purpose } of routes) {
    t.match(purpose, /\w/, `${route} is described in src/service/admin/route-list.ts`);
    const [method = '', path = ''] = route.split(' ');
    const short = path.replace('/__admin', '').replace(/\/\{id\}.*/, '');
    t.ok(document.includes(short), `${short} is in docs/service.md`);
    const response = await send(`${method} ${path.replace('{id}', 'x')}`);
    t.not(response.status, 405, route);
    t.notMatch(response.json, { message: /Route (GET|POST|PUT|DELETE) / }, route);
  }
});

void t.test(
  'a control route responds to an unsupported method with the supported ones',
  async (t) => {
    const { send } = await withService(t);
    const rows: [route: string, allow: string][] = [
      ['GET /drain', 'POST'],
      ['POST /settings', 'GET, HEAD, PUT'],
      ['PATCH /evals/x', 'DELETE, GET, HEAD'],
      ['DELETE /clock', 'GET, HEAD, POST, PUT'],
      ['OPTIONS /requests', 'DELETE, GET, HEAD'],
      ['POST /', 'GET, HEAD'],
    ];
    for (const [route, allow] of rows) {
      const [method = '', path = ''] = route.split(' ');
      const response = await send(`${method} /__admin${path}`, {
        body: method === 'GET' ? undefined : {},
      });
      assertError(
        t,
        response,
        405,
        new RegExp(`^${method} is not supported here. Use ${allow}[.]`),
      );
      t.equal(response.headers.get('allow'), allow, route);
    }
    assertError(t, await send('GET /__admin/evalz'), 404, /GET \/__admin lists all routes\.$/);
  },
);
