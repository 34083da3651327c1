/** On loopback, requests that a proxy forwarded need a key, even if it replaced `Host`. */
import t from 'tap';
import { sendHeaders } from '../../support/network/send-headers.ts';
import { assertError, withService } from '../../support/services/service.ts';
import { makeTraceRequest } from '../../support/traces/otlp.ts';

const FORWARDED = {
  forwarded: 'for=203.0.113.7;host=kit.example;proto=https',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-host': 'kit.example',
  'x-forwarded-proto': 'https',
  'x-real-ip': '203.0.113.7',
  via: '1.1 edge',
};
const HTML = { accept: 'text/html' };
const APP_URL = 'https://kit.example';

void t.test('/__admin, /metrics, and pages need a key for each forwarded request', async (t) => {
  const keys = [{ key: 'first-key-1' }, { key: 'second-key-2', owner: 'team' }];
  const { send } = await withService(t, { keys });
  for (const route of ['GET /__admin/keys', 'POST /__admin/reset', 'GET /metrics']) {
    const options = route.startsWith('POST') ? { body: { to: 'empty' } } : {};
    for (const [name, value] of Object.entries(FORWARDED)) {
      const headers = { [name]: value };
      const refused = await send(route, { ...options, headers, key: null });
      assertError(
        t,
        refused,
        401,
        new RegExp(`first API key.* header ${name}, .*needs a key`, 'i'),
      );
      const other = await send(route, { ...options, headers, key: 'second-key-2' });
      t.equal(other.status, 401, `${route}, ${name}: a key that is not the first`);
      const allowed = await send(route, { ...options, headers, key: 'first-key-1' });
      t.equal(allowed.status, 200, `${route}, ${name}: the first key`);
    }
  }
  for (const [name, value] of Object.entries(FORWARDED)) {
    const headers = { [name]: value };
    assertError(t, await send('GET /', { headers, key: null }), 401, /API key: .* needs a key/);
    t.equal((await send('GET /', { headers, key: 'second-key-2' })).status, 200);
    const page = await send('GET /keys', { headers: { ...headers, ...HTML }, key: null });
    t.equal(page.status, 401, name);
    t.match(page.text, '<h1>Sign in</h1>');
    const form = await send('POST /keys/generate', {
      raw: '',
      key: null,
      headers: {
        ...headers,
        origin: APP_URL,
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
    t.equal(form.status, 401, `${name}: a form`);
  }
  t.equal((await send('GET /__admin/keys', { key: null })).status, 200, 'without a proxy');
  t.equal((await send('GET /keys', { headers: HTML, key: null })).status, 200);
});

void t.test(
  'callers with a key and signed-in browsers use the service through a proxy',
  async (t) => {
    const { service, send } = await withService(t, { appUrl: APP_URL });
    const headers = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' };
    const traces = await send('POST /v1/traces', { body: makeTraceRequest(), headers });
    t.equal(traces.status, 200);
    t.equal((await send('POST /v1/sessions/conv-1/end', { headers })).status, 200);
    t.equal((await send('GET /api/prod-evaluations/sessions/', { headers })).status, 200);
    t.equal((await send('GET /ready', { headers, key: null })).status, 200, 'needs no key');

    const withHost = { ...headers, host: 'kit.example', 'x-service-api-key': service.apiKey };
    for (const path of ['/__admin/keys', '/metrics', '/keys']) {
      const { status } = await sendHeaders(service.url + path, withHost);
      t.equal(status, 200, `${path}: the proxy may keep the Host`);
    }

    const post = (path: string, fields: Record<string, string>, cookie = ''): Promise<Response> =>
      fetch(service.url + path, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(fields),
        headers: { ...headers, cookie, origin: APP_URL },
      });
    const signedIn = await post('/sign-in', { key: service.apiKey, next: '/keys' });
    t.equal(signedIn.status, 303);
    t.equal(signedIn.headers.get('location'), '/keys');
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await send('GET /keys', { headers: { ...headers, ...HTML, cookie }, key: null });
    t.equal(page.status, 200);
    const [, token = ''] = /name="_token" value="([^"]+)"/.exec(page.text) ?? [];
    const added = await post('/keys/generate', { _token: token, label: 'Added' }, cookie);
    t.ok(added.status < 400, `${added.status}: a form of the session`);
    t.equal(
      (await post('/keys/generate', { _token: token, label: 'Added' })).status,
      401,
      'no session',
    );
  },
);
