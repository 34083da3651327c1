/** A clock that was moved on, and a restart on the same data: the service's time is the machine's. */
import t from 'tap';
import type { ProductionSessionPage } from '../../../src/contract/index.ts';
import { startService } from '../../../src/service/index.ts';
import { manualClock } from '../../../src/platform/clock.ts';
import { start } from '../../helpers/command.ts';
import { behaviors, startOpenAiServer } from '../../helpers/openai-server.ts';
import { makeTraceRequest, makeSpan } from '../../helpers/otlp.ts';
import { assertError, START_MS, withService } from '../../helpers/service.ts';

const DAY_MS = 86_400_000;
const COUNT = 40;
const ids = Array.from({ length: COUNT }, (_, nth) => `c-${nth}`);
const judged = { id: 'greets', name: 'Greets', kind: 'judge', params: { criteria: 'It greets.' } };

interface Address {
  url: string;
  apiKey: string;
  adminUrl: string;
}

async function ask(
  { apiKey }: Pick<Address, 'apiKey'>,
  method: string,
  url: string,
  body?: object,
) {
  const response = await fetch(url, {
    method,
    headers: { 'x-service-api-key': apiKey, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.status !== 200) throw new Error(`${method} ${url}: ${await response.text()}`);
  return await response.json();
}

void t.test(
  'Jobs queued while the clock was two days ahead are scored after kill -9 and a restart',
  async (t) => {
    const server = await startOpenAiServer(t);
    server.behave(behaviors.hang);
    const env = { SANDBOX_KIT_JUDGE_URL: server.baseUrl, SANDBOX_KIT_JUDGE_MODEL: 'small' };
    const args = ['serve', '--port', '0', '--json', '--data', t.testdir({})];
    const first = await start(t, args, { env });
    const one = JSON.parse(first.firstLine) as Address;
    await ask(one, 'POST', `${one.adminUrl}/evals`, judged);
    await ask(one, 'PUT', `${one.adminUrl}/settings`, { evals: ['greets'] });
    await ask(one, 'POST', `${one.adminUrl}/clock`, { advance_ms: 2 * DAY_MS });
    const spans = ids.map((conversationId) => makeSpan({ conversationId }));
    await ask(one, 'POST', `${one.url}/v1/traces`, makeTraceRequest(spans));
    for (const id of ids) await ask(one, 'POST', `${one.url}/v1/sessions/${id}/end`);
    await server.waitForRequests(1);
    await first.end('SIGKILL');

    server.behave(behaviors.verdict('pass'));
    const second = await start(t, args, { env });
    const two = JSON.parse(second.firstLine) as Address;
    await ask(two, 'POST', `${two.adminUrl}/drain`);
    const url = `${two.url}/api/prod-evaluations/sessions/`;
    t.equal(((await ask(two, 'GET', url)) as ProductionSessionPage).total, COUNT);
  },
);

void t.test(
  'A conversation received while the clock was days ahead is idle one day after the restart',
  async (t) => {
    const dataDir = t.testdir();
    const first = await startService({ dataDir, clock: manualClock(START_MS) });
    await ask(first, 'POST', `${first.adminUrl}/clock`, { advance_ms: 30 * DAY_MS });
    await ask(first, 'POST', `${first.url}/v1/traces`, makeTraceRequest());
    await first.stop();
    const second = await startService({ dataDir, clock: manualClock(START_MS) });
    t.teardown(() => second.stop());
    t.match(await ask(second, 'GET', `${second.adminUrl}/clock`), { now_ms: START_MS });
    await ask(second, 'POST', `${second.adminUrl}/clock`, { advance_ms: DAY_MS - 1 });
    await ask(second, 'POST', `${second.adminUrl}/clock`, { advance_ms: 1 });
    const closed = await ask(second, 'POST', `${second.url}/v1/sessions/conv-1/end`);
    t.match(closed, { already_closed: true });
  },
);

void t.test('A reset does not change the clock', async (t) => {
  const { admin } = await withService(t);
  await admin('POST /clock', { advance_ms: DAY_MS });
  await admin('POST /reset', { to: 'empty' });
  t.match(await admin('GET /clock'), { now_ms: START_MS + DAY_MS });
});

void t.test('The clock cannot pass the year 9999', async (t) => {
  const { admin, send, clock } = await withService(t);
  const end = { now: '9999-12-31T23:59:59.999Z', now_ms: Date.UTC(9999, 11, 31, 23, 59, 59, 999) };
  t.same(await admin('POST /clock', { set_ms: end.now_ms }), end);
  const further = await send('POST /__admin/clock', { body: { advance_ms: 1 } });
  assertError(t, further, 400, /advance_ms.*9999/);
  clock.advance(DAY_MS);
  t.same(await admin('GET /clock'), end, 'it stands still there');
  await admin('POST /clock', { set_ms: START_MS });
  t.match(await admin('GET /clock'), { now_ms: START_MS }, 'and can be set back');
});
