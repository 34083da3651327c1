/** Every route of `/__admin` exists, separates owners, and rejects unauthorized callers. */
import t from 'tap';
import { sendHeaders } from '../../support/network/send-headers.ts';
import {
  makeContainsEval,
  assertError,
  START_MS,
  withService,
} from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
const session = { scenario: 's', persona: 'p', started_at: '2026-11-20T09:00:00Z' };
const simulations = [{ id: 'sim', name: 'Sim', agent: 'A', sessions: [session] }];

/** Routes that affect one owner; each may need what an earlier one created. */
const ownerRoutes: [route: string, body?: unknown][] = [
  ['POST /keys', { key: 'team-b-test-key' }],
  ['POST /evals', makeContainsEval('polite', 'Hello')],
  ['GET /keys'],
  ['GET /evals'],
  ['GET /evals/polite'],
  ['PUT /settings', { evals: ['polite'] }],
  ['GET /settings'],
  ['POST /agents', { id: 'shop', name: 'Shop', url: 'https://shop.example' }],
  ['GET /agents'],
  ['GET /agents/shop'],
  ['POST /personas', { id: 'calm', name: 'Calm' }],
  ['GET /personas'],
  ['GET /personas/calm'],
  ['POST /scenarios', { id: 'hi', name: 'Hi', persona: 'calm', user: { opening: 'Hi' } }],
  ['GET /scenarios'],
  ['GET /scenarios/hi'],
  ['POST /transcripts', { session_id: 't-1', turns }],
  ['POST /seed', { simulations }],
  ['POST /score-backlog'],
  ['GET /ingest-log'],
  ['GET /sessions'],
];

/** Routes that delete what `ownerRoutes` created. */
const cleanupRoutes: [route: string, body?: unknown][] = [
  ['DELETE /simulations/sim'],
  ['DELETE /scenarios/hi'],
  ['DELETE /personas/calm'],
  ['DELETE /agents/shop'],
  ['DELETE /evals/polite'],
  ['POST /reset', { to: 'empty' }],
  ['DELETE /keys', { key: 'team-b-test-key' }],
];

/** Routes that affect the whole service. */
const serviceRoutes: [route: string, body?: unknown][] = [
  ['GET /health'],
  ['GET /ready'],
  ['GET /clock'],
  ['POST /clock', { advance_ms: 1 }],
  ['PUT /clock', { set_ms: START_MS }],
  ['POST /drain'],
  ['GET /faults'],
  ['POST /faults', { kind: 'slow' }],
  ['PUT /faults', []],
  ['DELETE /faults'],
  ['GET /requests'],
  ['DELETE /requests'],
];

const allRoutes = [...ownerRoutes, ...serviceRoutes, ...cleanupRoutes];

void t.test('every route exists, and changes for one owner are invisible to another', async (t) => {
  const { admin, send, simulations, production } = await withService(t);
  for (const [route, body] of ownerRoutes) await admin(`${route}?owner=team-b`, body);
  const malformed = { body: { resourceSpans: 7 }, key: 'team-b-test-key' };
  assertError(t, await send('POST /v1/traces', malformed), 400);
  t.same(await admin('GET /evals'), { evals: [] });
  t.same(await admin('GET /settings'), { evals: [], run_name: 'Live traces' });
  for (const kind of ['agents', 'personas', 'scenarios']) {
    t.same(await admin(`GET /${kind}`), { [kind]: [] });
    t.match(await admin(`GET /${kind}?owner=team-b`), { [kind]: { length: 1 } });
  }
  t.same(await admin('GET /ingest-log'), { entries: [] });
  t.match(await admin('GET /ingest-log?owner=team-b'), { entries: { length: 1 } });
  t.equal((await simulations()).total, 0);
  t.equal((await production()).total, 0);
  for (const path of ['simulations', 'prod-evaluations']) {
    const response = await send(`GET /api/${path}/sessions`, { key: 'team-b-test-key' });
    t.match(response.json, { total: 1 }, path);
  }
  assertError(t, await send('POST /__admin/score-backlog'), 409, /PUT \/__admin\/settings/);
  for (const [route, body] of serviceRoutes) await admin(route, body);
  assertError(t, await send('DELETE /__admin/simulations/sim'), 404);
  await admin('POST /reset', { to: 'empty' });
  t.match(await admin('GET /evals?owner=team-b'), { evals: { length: 1 } });
  for (const [route, body] of cleanupRoutes) await admin(`${route}?owner=team-b`, body);
  t.same(await admin('GET /evals?owner=team-b'), { evals: [] });
});

void t.test('cross-origin pages are rejected and learn nothing about the routes', async (t) => {
  const { service, admin } = await withService(t);
  const { host } = new URL(service.url);
  const status = async (route: string, headers: Record<string, string>): Promise<number> => {
    const [method = '', path = ''] = route.split(' ');
    const response = await sendHeaders(service.adminUrl + path, headers, method);
    const cors = Object.keys(response.headers).filter((name) => /^access-control/.test(name));
    t.same(cors, [], `${route}: no CORS headers`);
    return response.status;
  };
  for (const [route] of [...allRoutes, ['GET /nothing'], ['OPTIONS /evals']] as const) {
    t.equal(await status(route, { host: 'evil.example' }), 403, `${route}, Host`);
    t.equal(await status(route, { origin: 'https://evil.example' }), 403, `${route}, Origin`);
  }
  t.equal(await status('GET /nothing', {}), 404);
  t.equal(await status('GET /evals', { origin: `http://${host}` }), 200);
  t.match(await admin('GET /requests'), { total: 0 }, 'the journal is empty');
});

void t.test('every route rejects bodies that are not JSON', async (t) => {
  const { send } = await withService(t);
  for (const [route, body] of allRoutes) {
    if (body === undefined) continue;
    const request = route.replace(' ', ' /__admin');
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const headers = { 'content-type': type };
      assertError(
        t,
        await send(request, { raw: JSON.stringify(body), headers }),
        415,
        /application/,
      );
    }
    const headers = { 'content-type': 'application/json' };
    assertError(t, await send(request, { raw: '{"a":', headers }), 400, /JSON/);
    assertError(t, await send(request, { body: 7 }), 400);
  }
});

void t.test('beyond loopback, every route requires the service key', async (t) => {
  const key = 'the-key-of-this-service';
  const service = await withStartedService(t, { host: '0.0.0.0', keys: [{ key }] });
  for (const [route] of [...allRoutes, ['GET /nothing']] as const) {
    const [method = '', path = ''] = route.split(' ');
    const { status } = await fetch(service.adminUrl + path, { method });
    t.equal(status, 401, route);
  }
});

void t.test('the clock can be read and set; only POST advances it', async (t) => {
  const { admin, send, trace, drain, production } = await withService(t);
  await admin('POST /evals', makeContainsEval('polite', 'Hello'));
  await admin('PUT /settings', { evals: ['polite'] });
  await trace(makeSpan({ agent: 'Hello' }));
  assertError(t, await send('PUT /__admin/clock', { body: { advance_ms: 1 } }), 400, /set_ms/);
  assertError(t, await send('PUT /__admin/clock', { body: {} }), 400, /set_ms/);
  const dayLater = { now: '2026-11-21T10:00:00.000Z', now_ms: START_MS + 86_400_000 };
  t.same(await admin('PUT /clock', { set_ms: dayLater.now_ms }), dayLater);
  t.same(await admin('GET /clock'), dayLater);
  await drain();
  t.match(
    (await production()).items,
    [{ source_session_id: 'conv-1' }],
    'the idle conversation was closed',
  );
  t.same(await admin('PUT /clock', { set_ms: dayLater.now_ms }), dayLater, 'safe to repeat');
});
