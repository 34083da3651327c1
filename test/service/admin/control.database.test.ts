/** `/__admin`: who may call it, and what its routes accept and reject. */
import t from 'tap';
import { sendHeaders } from '../../support/network/send-headers.ts';
import {
  makeContainsEval,
  assertError,
  assertRejected,
  START_MS,
  withOneReplica,
  withService,
} from '../../support/services/service.ts';

void t.test(
  'on loopback, /__admin needs no key but requires a local Host and Origin',
  async (t) => {
    const { service, send } = await withService(t);
    const url = `${service.adminUrl}/health`;
    const port = new URL(url).port;
    const fetchStatus = async (to: string, headers: Record<string, string>): Promise<number> =>
      (await sendHeaders(to, headers)).status;
    t.equal(await fetchStatus(url, {}), 200);
    t.equal(await fetchStatus(url, { host: `localhost:${port}` }), 200);
    t.equal(await fetchStatus(url, { host: `[::1]:${port}` }), 200);
    t.equal(await fetchStatus(url, { host: 'evil.example' }), 403);
    t.equal(await fetchStatus(url, { host: `127.0.0.1.evil.example:${port}` }), 403);
    t.equal(await fetchStatus(url, { origin: 'https://evil.example' }), 403);
    t.equal(await fetchStatus(url, { origin: 'null' }), 403);
    t.equal(await fetchStatus(url, { origin: service.url }), 200);
    t.equal(await fetchStatus(`${service.url}/simulation/x`, { host: 'evil.example' }), 403);
    const response = await send('GET /__admin/ready', { key: null });
    t.same(response.json, { ready: true });
    t.notOk(response.headers.get('access-control-allow-origin'));
  },
);

void t.test('evals can be added, replaced, listed, and deleted', async (t) => {
  const tested = await withService(t);
  const { admin, send } = tested;
  await admin('POST /evals', makeContainsEval('one', 'a'));
  await admin('POST /evals', makeContainsEval('one', 'b'));
  t.match(await admin('GET /evals'), { evals: [{ id: 'one', params: { text: 'b' } }] });
  t.match(await admin('GET /evals/one'), { id: 'one' });
  t.same(await admin('DELETE /evals/one'), { deleted: 'one' });
  assertError(t, await send('DELETE /__admin/evals/one'), 404, /"one"/);
  assertError(t, await send('GET /__admin/evals/one'), 404);
  await assertRejected(t, tested, 'POST /evals', [
    undefined,
    {},
    [],
    makeContainsEval('a b', 'x'),
    { id: 'x', name: 'x', kind: 'guess' },
    { id: 'x', name: 'x', kind: 'contains' },
    { id: 'x', name: 'x', kind: 'regex', params: { pattern: '(' } },
    { ...makeContainsEval('x', 'x'), more: 1 },
  ]);
});

void t.test(
  'settings can be changed partially; too many or unknown evals are rejected',
  async (t) => {
    const tested = await withService(t);
    const { admin, send } = tested;
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const id of ids) await admin('POST /evals', makeContainsEval(id, id));
    t.same(await admin('GET /settings'), { evals: [], run_name: 'Live traces' });
    await admin('PUT /settings', { evals: ids.slice(0, 5) });
    t.same(await admin('PUT /settings', { run_name: 'Shop' }), {
      evals: ids.slice(0, 5),
      run_name: 'Shop',
    });
    const sixth = await send('PUT /__admin/settings', { body: { evals: ids } });
    assertError(t, sixth, 400, /at most 5/);
    assertError(t, await send('PUT /__admin/settings', { body: { evals: ['z'] } }), 400, /"z"/);
    await assertRejected(t, tested, 'PUT /settings', [
      { evals: ['a', 'a'] },
      { evals: 'a' },
      { run_name: '' },
      { name: 'x' },
      null,
      7,
    ]);
    t.same(await admin('GET /settings'), { evals: ids.slice(0, 5), run_name: 'Shop' });
    await admin('DELETE /evals/a');
    await admin('PUT /settings', { run_name: 'Still' });
  },
);

void t.test(
  'a transcript is scored immediately by the live evals or by the evals it names',
  async (t) => {
    const tested = await withService(t);
    const { admin, drain, production } = tested;
    await admin('POST /evals', makeContainsEval('hello', 'Hello'));
    await admin('POST /evals', makeContainsEval('bye', 'Bye'));
    await admin('PUT /settings', { evals: ['hello'] });
    const turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
    const upload = { session_id: 't-1', started_at: '2026-11-19T23:00:00-02:00', turns };
    t.match(await admin('POST /transcripts', upload), {
      session_id: 't-1',
      run: 'Transcripts 2026-11-20',
      evaluations_queued: 1,
    });
    await admin('POST /transcripts', { ...upload, run: 'Mine', evals: ['hello', 'bye'] });
    await admin('POST /transcripts', { ...upload, run: 'Mine', evals: ['hello', 'bye'] });
    await drain();
    const { items, total } = await production('?include_traces=true');
    t.equal(total, 2, 'a transcript that is uploaded again to the same run replaces the first');
    const mine = items.find(({ run }) => run === 'Mine');
    t.match(mine, {
      source_session_id: 't-1',
      started_at: '2026-11-20T01:00:00.000Z',
      status: 'completed',
      outcome_summary: { total_evaluations: 2, passed_count: 1 },
      traces: [{ session_sequence: 1, user_input: 'Hi', agent_response: 'Hello' }],
    });
    await assertRejected(t, tested, 'POST /transcripts', [
      {},
      { ...upload, turns: [] },
      { ...upload, evals: ['nothing'] },
      { ...upload, started_at: 'yesterday' },
      { ...upload, started_at: '2026-02-30T00:00:00Z' },
      { ...upload, more: 1 },
    ]);
  },
);

void t.test('the clock can be read, advanced, and set forward and back', async (t) => {
  const tested = await withService(t);
  const { admin, clock } = tested;
  const now = (): Promise<unknown> => admin('GET /clock');
  t.same(await now(), { now: '2026-11-20T10:00:00.000Z', now_ms: START_MS });
  await admin('POST /clock', { advance_ms: 5000 });
  clock.advance(5000);
  t.match(await now(), { now_ms: START_MS + 10_000 }, 'the clock continues from the new time');
  t.match(await admin('POST /clock', { set_ms: 0 }), { now: '1970-01-01T00:00:00.000Z' });
  await admin('POST /clock', { set_ms: START_MS + 86_400_000 });
  await assertRejected(t, tested, 'POST /clock', [
    {},
    { advance_ms: 1, set_ms: 1 },
    { advance_ms: -1 },
    { advance_ms: 1.5 },
    { advance_ms: '1' },
    { set_ms: 1e300 },
  ]);
});

void t.test('keys can be added for owners and removed', async (t) => {
  const { admin, send, simulations } = await withService(t);
  const granted = await admin('POST /keys', { key: 'team-b-test-key', owner: 'team-b' });
  t.same(granted, { key: 'team-b-test-key', owner: 'team-b' });
  const route = 'GET /api/simulations/sessions';
  t.equal((await send(route, { key: 'team-b-test-key' })).status, 200);
  const conflict = { key: 'team-b-test-key', owner: 'team-c' };
  assertError(t, await send('POST /__admin/keys', { body: conflict }), 409);
  await admin('POST /evals?owner=team-b', makeContainsEval('theirs', 'x'));
  t.same(await admin('GET /evals'), { evals: [] });
  t.match(await admin('GET /evals?owner=team-b'), { evals: [{ id: 'theirs' }] });
  assertError(t, await send('GET /__admin/evals?owner=nobody'), 404, /nobody/);
  assertError(t, await send('GET /__admin/evals?owner=a&owner=b'), 400);
  await admin('DELETE /keys', granted);
  assertError(t, await send(route, { key: 'team-b-test-key' }), 401);
  assertError(t, await send('DELETE /__admin/keys', { body: granted }), 404);
  await simulations();
});

void t.test('keys are listed without the keys, and revoked by their ids', async (t) => {
  const { admin, send, clock } = await withService(t);
  const label = 'Exporter <of> "staging"';
  const { key } = (await admin('POST /keys', { label })) as { key: string };
  clock.advance(1000);
  await admin('POST /keys', { key: 'another-test-key' });
  await admin('POST /keys', { key, label: 'A new label' });
  await admin('POST /keys', { key: 'team-b-test-key', owner: 'team-b' });
  type Listed = { keys: { id: string; label?: string }[] };
  const list = async (query = '') => ((await admin(`GET /keys${query}`)) as Listed).keys;
  const [configured, another, labeled, ...more] = await list();
  t.match(configured, { configured: true, created_at: undefined });
  t.match(another, { created_at: '2026-11-20T10:00:01.000Z', configured: false });
  t.match(labeled, { label, created_at: '2026-11-20T10:00:00.000Z' }, 'the first label stays');
  t.same(more, []);
  t.notMatch(JSON.stringify(await list()), key);
  const theirs = (await list('?owner=team-b'))[0]?.id ?? '';

  assertError(t, await send(`DELETE /__admin/keys/${theirs}`), 404);
  assertError(t, await send(`DELETE /__admin/keys/${configured?.id}`), 409, /configuration/);
  assertError(t, await send('POST /__admin/keys', { body: { label: 'two\nlines' } }), 400, /label/);
  const route = 'GET /api/simulations/sessions';
  t.equal((await send(route, { key })).status, 200);
  await admin(`DELETE /keys/${labeled?.id}`);
  t.equal((await send(route, { key })).status, 401);
  t.equal((await list()).length, 2);
});

void t.test('sessions of a deleted simulation have no link', async (t) => {
  const session = { scenario: 's', persona: 'p', started_at: '2026-11-20T09:00:00Z' };
  const seed = { simulations: [{ id: 'sim', name: 'Sim', agent: 'A', sessions: [session] }] };
  const { admin, simulations, send } = await withService(t, { seed });
  t.type((await simulations()).items[0]?.url, 'string');
  await admin('DELETE /simulations/sim');
  t.match((await simulations()).items, [{ url: null, simulation: 'Sim' }]);
  assertError(t, await send('DELETE /__admin/simulations/sim'), 404);
});

void t.test('the journal lists requests without keys and query strings', async (t) => {
  const { admin, send } = await withOneReplica(t);
  await send('GET /api/simulations/sessions?agent=secret');
  await send('POST /v1/traces', { raw: 'secret', headers: { 'content-type': 'text/plain' } });
  const { total, requests } = (await admin('GET /requests')) as {
    total: number;
    requests: Record<string, unknown>[];
  };
  t.equal(total, 2);
  t.match(requests, [
    { method: 'GET', path: '/api/simulations/sessions', status: 200 },
    { method: 'POST', path: '/v1/traces', status: 415, request_bytes: 6 },
  ]);
  t.notMatch(JSON.stringify(requests), /secret|sk_/);
  await admin('DELETE /requests');
  t.match(await admin('GET /requests'), { total: 0 });
});

void t.test('invalid faults are rejected', async (t) => {
  const tested = await withService(t);
  await assertRejected(t, tested, 'POST /faults', [
    {},
    { kind: 'x' },
    { kind: 'slow', delay_ms: 0 },
  ]);
  await assertRejected(t, tested, 'PUT /faults', [{}, Array(101).fill({ kind: 'slow' })]);
  await tested.admin('PUT /faults', [{ kind: 'slow' }]);
  t.same(await tested.admin('DELETE /faults'), { faults: [] });
});
