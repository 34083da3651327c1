/** `/ready` and `/metrics`, for load balancers and Prometheus. */
import { get } from 'node:http';
import t from 'tap';
import { startService } from '../../../src/service/index.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { withPostgresServer } from '../../support/database/postgres.ts';
import { behaviors, startOpenAiServer } from '../../support/models/openai-server.ts';
import {
  greetsEval,
  makeContainsEval,
  START_MS,
  withOneReplica,
  withService,
} from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';
import { until } from '../../support/until.ts';

void t.test('/ready says whether the database answers', async (t) => {
  const server = await withPostgresServer(t);
  const { send } = await withService(t, { databaseUrl: server.url });
  const ask = async () => {
    const { status, json, headers } = await send('GET /ready', { key: null });
    return { status, json, retryAfter: headers.get('retry-after') };
  };
  t.same(await ask(), { status: 200, json: { ready: true }, retryAfter: null });
  await server.stop();
  t.match(await ask(), {
    status: 503,
    json: {
      ready: false,
      reason: /^The connection to the database failed\.|is starting or stopping/,
    },
    retryAfter: '2',
  });
  const metrics = await send('GET /metrics', { key: null });
  t.equal(metrics.status, 200, 'metrics are served while the database is unreachable');
  t.match(metrics.text, '\nsandbox_kit_database_up 0\n');
  await server.start();
  await until('the service is ready again', async () => (await ask()).status === 200);
  const { text } = await send('GET /metrics');
  for (const pool of ['main', 'ingest']) {
    for (const state of ['total', 'idle', 'waiting']) {
      const line = `sandbox_kit_database_connections\\{pool="${pool}",state="${state}"\\} \\d+`;
      t.match(text, new RegExp(`\n${line}\n`));
    }
  }
  t.equal(text.match(/# TYPE sandbox_kit_database_connections /g)?.length, 1);
  t.equal((await send('POST /ready')).status, 405);
});

void t.test(
  'a service that stops is not ready, and serves until load balancers know',
  async (t) => {
    const clock = manualClock(START_MS);
    const service = await startService({ drainMs: 2_000, clock });
    const statusOf = (path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        get(service.url + path, { agent: false }, (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode));
        }).on('error', reject);
      });
    t.equal(await statusOf('/ready'), 200);
    const stopped = service.stop();
    t.equal(await statusOf('/ready'), 503);
    t.equal(await statusOf('/__admin/sessions'), 200, 'other requests are served');
    clock.advance(1_999);
    t.equal(await statusOf('/ready'), 503, 'until the time is over');
    clock.advance(1);
    await stopped;
    await t.rejects(statusOf('/ready'), { code: 'ECONNREFUSED' });
  },
);

void t.test('/metrics counts what the service did, without data of an owner', async (t) => {
  const { send, admin, trace, end, drain, service } = await withOneReplica(t);
  await admin('POST /evals', makeContainsEval('private-eval', 'Hello'));
  await admin('PUT /settings', { evals: ['private-eval'] });
  await trace(makeSpan({ conversationId: 'private-conversation' }));
  await end('private-conversation');
  await trace(makeSpan({ conversationId: 'private-idle' }));
  await admin('POST /clock', { advance_ms: 25 * 3_600_000 });
  await drain();
  await send('POST /v1/traces', { key: 'wrong-key-1' });
  const { status, headers, text } = await send('GET /metrics', { key: null });
  t.equal(status, 200);
  t.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  for (const line of [
    'trace_requests_total{status="200"} 2',
    'trace_requests_total{status="401"} 1',
    'spans_total{result="inserted"} 2',
    'conversations_closed_idle_total 1',
    'jobs_queued 0',
    'jobs_oldest_due_age_seconds 0',
    'simulations_running 0',
    'database_up 1',
  ]) {
    t.ok(text.includes(`\nsandbox_kit_${line}\n`), line);
  }
  t.match(text, /\nsandbox_kit_jobs_finished_total\{outcome="(pass|fail)"\} \d+\n/);
  t.match(text, /\nsandbox_kit_event_loop_delay_p99_seconds \d/);
  t.notMatch(text, /private|development/, 'no data of an owner');
  t.notMatch(text, service.apiKey);
  for (const line of text.trimEnd().split('\n')) {
    t.match(
      line,
      /^(# (HELP|TYPE) sandbox_kit_\w+ .+|sandbox_kit_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/,
    );
  }
});

void t.test('/metrics shows how long seeded sessions wait for their evals', async (t) => {
  const server = await startOpenAiServer(t);
  server.behave(behaviors.hang);
  const judge = { baseUrl: server.baseUrl, model: 'small' };
  const { admin, clock, send } = await withOneReplica(t, { judge });
  // More than one service works on concurrently.
  const transcripts = Array.from({ length: 100 }, (_, nth) => ({
    session_id: `waiting-${nth}`,
    turns: [{ user_input: 'Hi', agent_response: 'Hello' }],
  }));
  await admin('POST /seed', { evals: [greetsEval], settings: { evals: ['greets'] }, transcripts });
  clock.advance(7_000);
  const { text } = await send('GET /metrics', { key: null });
  t.match(text, '\nsandbox_kit_jobs_queued 100\n');
  t.match(text, '\nsandbox_kit_jobs_oldest_due_age_seconds 7\n');
});

void t.test('beyond loopback, /metrics needs the first key, and /ready none', async (t) => {
  const keys = [{ key: 'first-key-1' }, { key: 'second-key-2' }];
  const { send } = await withService(t, { host: '0.0.0.0', keys });
  t.equal((await send('GET /metrics', { key: null })).status, 401);
  t.equal((await send('GET /metrics', { key: 'second-key-2' })).status, 401);
  t.equal((await send('GET /metrics', { key: 'first-key-1' })).status, 200);
  t.equal((await send('GET /ready', { key: null })).status, 200);
});
