/** Restarts with the same data after the service clock was advanced: the clock returns to system time. */
import t from 'tap';
import type { ProductionSessionPage } from '../../../src/contract/index.ts';
import { startService } from '../../../src/service/index.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { start } from '../../support/commands/command-process.ts';
import { behaviors, startOpenAiServer } from '../../support/models/openai-server.ts';
import { nightOnly } from '../../support/nightly.ts';
import { assertError, START_MS, withService } from '../../support/services/service.ts';
import { makeTraceRequest, makeSpan } from '../../support/traces/otlp.ts';

const DAY_MS = 86_400_000;
const COUNT = 40;
const ids = Array.from({ length: COUNT }, (_, nth) => `c-${nth}`);
const greetsEval = {
  id: 'greets',
  name: 'Greets',
  kind: 'judge',
  params: { criteria: 'It greets.' },
};

interface Address {
  url: string;
  apiKey: string;
  adminUrl: string;
}

async function request(
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
  'jobs queued while the clock was two days ahead are scored after kill -9 and a restart',
  nightOnly,
  async (t) => {
    const server = await startOpenAiServer(t);
    server.behave(behaviors.hang);
    const env = { SANDBOX_KIT_JUDGE_URL: server.baseUrl, SANDBOX_KIT_JUDGE_MODEL: 'small' };
    const args = ['serve', '--port', '0', '--json', '--data', t.testdir({})];
    const first = await start(t, args, { env });
    const firstAddress = JSON.parse(first.firstLine) as Address;
    await request(firstAddress, 'POST', `${firstAddress.adminUrl}/evals`, greetsEval);
    await request(firstAddress, 'PUT', `${firstAddress.adminUrl}/settings`, { evals: ['greets'] });
    await request(firstAddress, 'POST', `${firstAddress.adminUrl}/clock`, {
      advance_ms: 2 * DAY_MS,
    });
    const spans = ids.map((conversationId) => makeSpan({ conversationId }));
    await request(firstAddress, 'POST', `${firstAddress.url}/v1/traces`, makeTraceRequest(spans));
    for (const id of ids)
      await request(firstAddress, 'POST', `${firstAddress.url}/v1/sessions/${id}/end`);
    await server.waitForRequests(1);
    await first.end('SIGKILL');

    server.behave(behaviors.verdict('pass'));
    const second = await start(t, args, { env });
    const secondAddress = JSON.parse(second.firstLine) as Address;
    await request(secondAddress, 'POST', `${secondAddress.adminUrl}/drain`);
    const url = `${secondAddress.url}/api/prod-evaluations/sessions/`;
    t.equal(((await request(secondAddress, 'GET', url)) as ProductionSessionPage).total, COUNT);
  },
);

void t.test(
  'a conversation received while the clock was days ahead is idle one day after the restart',
  async (t) => {
    const dataDir = t.testdir();
    const first = await startService({ dataDir, clock: manualClock(START_MS) });
    await request(first, 'POST', `${first.adminUrl}/clock`, { advance_ms: 30 * DAY_MS });
    await request(first, 'POST', `${first.url}/v1/traces`, makeTraceRequest());
    await first.stop();
    const second = await startService({ dataDir, clock: manualClock(START_MS) });
    t.teardown(() => second.stop());
    t.match(await request(second, 'GET', `${second.adminUrl}/clock`), { now_ms: START_MS });
    await request(second, 'POST', `${second.adminUrl}/clock`, { advance_ms: DAY_MS - 1 });
    await request(second, 'POST', `${second.adminUrl}/clock`, { advance_ms: 1 });
    const closed = await request(second, 'POST', `${second.url}/v1/sessions/conv-1/end`);
    t.match(closed, { already_closed: true });
  },
);

void t.test('a reset does not change the clock', async (t) => {
  const { admin } = await withService(t);
  await admin('POST /clock', { advance_ms: DAY_MS });
  await admin('POST /reset', { to: 'empty' });
  t.match(await admin('GET /clock'), { now_ms: START_MS + DAY_MS });
});

void t.test('the clock cannot pass the year 9999', async (t) => {
  const { admin, send, clock } = await withService(t);
  const end = { now: '9999-12-31T23:59:59.999Z', now_ms: Date.UTC(9999, 11, 31, 23, 59, 59, 999) };
  t.same(await admin('POST /clock', { set_ms: end.now_ms }), end);
  const beyond = await send('POST /__admin/clock', { body: { advance_ms: 1 } });
  assertError(t, beyond, 400, /advance_ms.*9999/);
  clock.advance(DAY_MS);
  t.same(await admin('GET /clock'), end, 'it stops at the end');
  await admin('POST /clock', { set_ms: START_MS });
  t.match(await admin('GET /clock'), { now_ms: START_MS }, 'and can be set back');
});
