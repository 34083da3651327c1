/**
 * A replica whose process is paused for longer than its leases last, as on a machine that sleeps. Another
 * one takes over. When the paused one continues, it must not write what it was about to write.
 */
import t from 'tap';
import type {
  ProductionSessionPage,
  Simulation,
  SimulationSessionPage,
} from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { listViolations, watchChanges } from '../support/crashes/crash-audit.ts';
import { execute, withPostgres } from '../support/database/postgres.ts';
import {
  behaviors,
  createPendingBehavior,
  startOpenAiServer,
} from '../support/models/openai-server.ts';
import { reply, withSandboxDouble } from '../support/sandboxes/sandbox-double.ts';
import { startReplica } from '../support/services/replicas.ts';
import { makeUserScenario } from '../support/sessions/scenarios.ts';
import { makeSpan, makeTraceRequest } from '../support/traces/otlp.ts';
import { until } from '../support/until.ts';

/** The lease of a job lasts 60 s. */
const PAUSE_MS = 70_000;
const CONVERSATIONS = 3;
const SAMPLES = 4;
const LINES = ['One', 'Two'];
const scenario = makeUserScenario(
  { opening: 'One', steps: [{ say: 'Two' }] },
  { evals: [{ id: 'turns', name: 'Few turns', kind: 'max_turns', params: { max: 5 } }] },
);

void t.test('a replica that continues after a long pause writes nothing late', async (t) => {
  const { url: databaseUrl } = await withPostgres(t, 'migrated');
  const [slowJudge, judge] = [await startOpenAiServer(t), await startOpenAiServer(t)];
  const late = createPendingBehavior();
  slowJudge.behave(late.behave);
  judge.behave(behaviors.verdict('pass'));
  const lateReplies = Promise.withResolvers<undefined>();
  let chats = 0;
  const sandbox = await withSandboxDouble(t, {
    // The first sessions wait for their replies; they belong to the paused replica.
    chat(response, request) {
      chats += 1;
      const ready = chats <= 2 ? lateReplies.promise : Promise.resolve();
      void ready.then(() => reply('Yes.')(response, request));
    },
  });
  const optionsOf = (baseUrl: string) => ({
    args: ['--log-level', 'info'],
    env: { SANDBOX_KIT_JUDGE_URL: baseUrl, SANDBOX_KIT_JUDGE_MODEL: 'm' },
  });
  const paused = await startReplica(t, databaseUrl, optionsOf(slowJudge.baseUrl));
  await watchChanges(databaseUrl);
  await paused.request('/__admin/seed', {
    evals: [{ id: 'j', name: 'J', kind: 'judge', params: { criteria: 'The agent greets.' } }],
    settings: { evals: ['j'] },
  });
  for (let nth = 0; nth < CONVERSATIONS; nth += 1) {
    const spans = [makeSpan({ conversationId: `c-${nth}` })];
    await paused.request('/v1/traces', makeTraceRequest(spans));
    await paused.request(`/v1/sessions/c-${nth}/end`, {});
  }
  await slowJudge.waitForRequests(CONVERSATIONS);
  const { id } = await paused.request<Simulation>('/__admin/simulations', {
    agent: { name: 'A', url: sandbox.url },
    scenarios: [scenario],
    seed: 'S',
    samples: SAMPLES,
    concurrency: 2,
  });
  await sandbox.waitForRequests('chat', 2);
  const other = await startReplica(t, databaseUrl, optionsOf(judge.baseUrl));

  const pausedAtMs = systemClock.monotonicMs();
  process.kill(paused.child.pid ?? 0, 'SIGSTOP');
  // An exporter gives up after 10 s, and sends the same spans to another replica.
  const retried = makeTraceRequest([makeSpan({ conversationId: 'retried' })]);
  const given = fetch(`${paused.url}/v1/traces`, {
    method: 'POST',
    headers: { 'x-service-api-key': paused.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(retried),
    signal: AbortSignal.timeout(10_000),
  });
  await t.rejects(given, { name: 'TimeoutError' });
  await other.request('/v1/traces', retried);
  await other.request('/v1/sessions/retried/end', {});
  await other.request('/__admin/drain', {});
  const drainedMs = systemClock.monotonicMs() - pausedAtMs;
  await systemClock.sleep(Math.max(0, PAUSE_MS - drainedMs));
  process.kill(paused.child.pid ?? 0, 'SIGCONT');
  const continuedAtMs = systemClock.monotonicMs();
  late.release(behaviors.verdict('fail'));
  lateReplies.resolve(undefined);
  await until('the paused replica is ready', async () => {
    return (await fetch(`${paused.url}/ready`)).status === 200;
  });
  const readyMs = systemClock.monotonicMs() - continuedAtMs;
  await until('it has noticed that another one took its simulation', () =>
    paused.stderrSoFar().includes('simulation_lease_lost'),
  );
  await until('it has noticed that another one took its jobs', () => {
    const overtaken = paused.stderrSoFar().match(/job_overtaken/g) ?? [];
    return overtaken.length >= CONVERSATIONS;
  });
  await paused.request('/__admin/drain', {});

  for (const replica of [paused, other]) {
    const { items, total } = await replica.request<ProductionSessionPage>(
      '/api/prod-evaluations/sessions/?include_traces=true',
    );
    t.equal(total, CONVERSATIONS + 1);
    for (const { outcome_summary: summary, traces } of items) {
      t.match(summary, { total_evaluations: 1, passed_count: 1 }, 'its late verdict is discarded');
      t.equal(traces?.length, 1);
    }
    const simulation = await replica.request<Simulation>(`/__admin/simulations/${id}`);
    t.match(simulation, { status: 'completed', verdict: 'passed', counts: { ended: SAMPLES } });
    const page = await replica.request<SimulationSessionPage>(
      '/api/simulations/sessions/?include_traces=true',
    );
    t.equal(page.total, SAMPLES, 'each simulated session once');
    for (const { traces } of page.items) {
      t.same(
        traces?.map((turn) => turn.user_input),
        LINES,
      );
    }
  }
  const [counts] = await execute(
    databaseUrl,
    `select (select count(*)::int from jobs where attempts > 1) as taken_twice,
       (select count(*)::int from outcomes) as outcomes, (select count(*)::int from spans) as spans`,
  );
  t.same(counts, {
    taken_twice: CONVERSATIONS,
    outcomes: CONVERSATIONS + 1 + SAMPLES,
    spans: CONVERSATIONS + 1,
  });
  t.same(await listViolations(databaseUrl), []);
  t.equal(await paused.end('SIGTERM'), 0);
  t.comment(
    `The other replica had done everything after ${Math.round(drainedMs)} ms; the paused one was ` +
      `ready ${Math.round(readyMs)} ms after it continued.`,
  );
});
