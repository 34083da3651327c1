/** Restarts with the same data after the service clock was advanced: the clock returns to system time. */
import t from 'tap';
import type { ProductionSessionPage } from '../../../src/contract/index.ts';
import { startService } from '../../../src/service/index.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { behaviors, startOpenAiServer } from '../../support/models/openai-server.ts';
import { nightOnly } from '../../support/nightly.ts';
import { startServiceProcess } from '../../support/services/service-process.ts';
import {
  assertError,
  createServiceUnderTest,
  greetsEval,
  START_MS,
  withService,
} from '../../support/services/service.ts';
import { makeTraceRequest, makeSpan } from '../../support/traces/otlp.ts';

const DAY_MS = 86_400_000;
const COUNT = 40;
const ids = Array.from({ length: COUNT }, (_, nth) => `c-${nth}`);

void t.test(
  'jobs queued while the clock was two days ahead are scored after kill -9 and a restart',
  nightOnly(),
  async (t) => {
    const server = await startOpenAiServer(t);
    server.behave(behaviors.hang);
    const env = { SANDBOX_KIT_JUDGE_URL: server.baseUrl, SANDBOX_KIT_JUDGE_MODEL: 'small' };
    const args = ['--data', t.testdir({})];
    const first = await startServiceProcess(t, args, { env });
    await first.request('/__admin/seed', { evals: [greetsEval], settings: { evals: ['greets'] } });
    await first.request('/__admin/clock', { advance_ms: 2 * DAY_MS });
    const spans = ids.map((conversationId) => makeSpan({ conversationId }));
    await first.request('/v1/traces', makeTraceRequest(spans));
    for (const id of ids) await first.request(`/v1/sessions/${id}/end`, {});
    await server.waitForRequests(1);
    await first.end('SIGKILL');

    server.behave(behaviors.verdict('pass'));
    const second = await startServiceProcess(t, args, { env });
    await second.request('/__admin/drain', {});
    const path = '/api/prod-evaluations/sessions/';
    t.equal((await second.request<ProductionSessionPage>(path)).total, COUNT);
  },
);

void t.test(
  'a conversation received while the clock was days ahead is idle one day after the restart',
  async (t) => {
    const dataDir = t.testdir();
    const startAgain = async () => {
      const clock = manualClock(START_MS);
      return createServiceUnderTest(t, { service: await startService({ dataDir, clock }), clock });
    };
    const first = await startAgain();
    await first.admin('POST /clock', { advance_ms: 30 * DAY_MS });
    await first.trace(makeSpan());
    await first.service.stop();
    const second = await startAgain();
    t.teardown(() => second.service.stop());
    t.match(await second.admin('GET /clock'), { now_ms: START_MS });
    await second.admin('POST /clock', { advance_ms: DAY_MS - 1 });
    await second.admin('POST /clock', { advance_ms: 1 });
    t.match(await second.end('conv-1'), { already_closed: true });
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
