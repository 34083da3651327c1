/** Simulations on several replicas: one runs each, and another one continues it after a `kill -9`. */
import t from 'tap';
import type {
  ChatRequest,
  Simulation,
  SimulationSessionPage,
} from '../../../src/contract/index.ts';
import { execute, withPostgres, withPostgresServer } from '../../support/database/postgres.ts';
import { nightOnly } from '../../support/nightly.ts';
import { hang, reply, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { startReplica, withReplicas } from '../../support/services/replicas.ts';
import type { ServiceUnderTest } from '../../support/services/service.ts';
import { makeUserScenario } from '../../support/sessions/scenarios.ts';
import { until } from '../../support/until.ts';

const LINES = ['One', 'Two', 'Three'];
const scenario = makeUserScenario(
  { opening: 'One', steps: [{ say: 'Two' }, { say: 'Three' }] },
  {
    evals: [{ id: 'turns', name: 'Few turns', kind: 'max_turns', params: { max: 5 } }],
    // Sessions that wait must not end on a busy machine.
    limits: { turn_timeout_ms: 600_000, max_duration_ms: 3_600_000 },
  },
);
const newRun = (url: string, samples: number) => ({
  agent: { name: 'A', url },
  scenarios: [scenario],
  samples,
  seed: 'S',
  concurrency: 3,
});

void t.test('one replica runs a simulation; all of them show and drain it', async (t) => {
  const { replicas, proxy } = await withReplicas(t, 3);
  const double = await withSandboxDouble(t, { chat: reply('Yes.') });
  const { id } = (await proxy.admin('POST /simulations', newRun(double.url, 9))) as Simulation;
  for (const replica of replicas) {
    await replica.drain();
    const simulation = (await replica.admin(`GET /simulations/${id}`)) as Simulation;
    t.match(simulation, { status: 'completed', verdict: 'passed', counts: { ended: 9 } });
  }
  t.equal(double.chats().length, 9 * LINES.length, 'no session ran twice');
});

void t.test('any replica shows the running sessions and cancels a simulation', async (t) => {
  const { replicas } = await withReplicas(t, 3);
  const double = await withSandboxDouble(t, {
    // Each session has one turn, and waits for the next one.
    chat(response, request) {
      const { messages } = request.body as ChatRequest;
      (messages.length === 1 ? reply('Yes indeed.') : hang)(response, request);
    },
  });
  const [first] = replicas as [ServiceUnderTest];
  const { id } = (await first.admin('POST /simulations', newRun(double.url, 9))) as Simulation;
  await double.waitForRequests('chat', 6);
  const countRunning = async (replica: ServiceUnderTest): Promise<number> => {
    const { sessions } = (await replica.admin(`GET /simulations/${id}`)) as Simulation;
    return sessions.filter(({ status }) => status === 'running').length;
  };
  for (const replica of replicas) {
    await until('three sessions run', async () => (await countRunning(replica)) === 3);
  }
  for (const replica of replicas) {
    await until('its live page shows the turn of each session', async () => {
      const page = await replica.send(`GET /simulation/${id}`);
      return page.text.split('Yes indeed.').length === 4;
    });
  }
  for (const replica of replicas.toReversed()) {
    const response = await replica.send(`POST /__admin/simulations/${id}/cancel`, { key: null });
    if (replica === replicas[2]) t.equal(response.status, 200, response.text);
  }
  for (const replica of replicas) {
    const simulation = (await replica.admin(`GET /simulations/${id}`)) as Simulation;
    t.match(simulation, { status: 'canceled', counts: { ended: 3 } });
    await replica.drain();
  }
  t.equal(double.chats().length, 6, 'no session started after the cancellation');
});

void t.test('another replica continues the simulation of a killed one', nightOnly(), async (t) => {
  const { url: databaseUrl } = await withPostgres(t, 'migrated');
  const double = await withSandboxDouble(t, { chat: reply('Yes.') });
  const killed = await startReplica(t, databaseUrl);
  const samples = 150;
  const { id } = await killed.request<Simulation>(
    '/__admin/simulations',
    newRun(double.url, samples),
  );
  const other = await startReplica(t, databaseUrl);
  await double.waitForRequests('chat', 12);
  await killed.end('SIGKILL');
  const planned = await other.request<Simulation>(`/__admin/simulations/${id}`);
  t.match(planned, { status: 'running' });
  // Evals that the killed replica was scoring are due again after a minute.
  await other.request('/__admin/clock', { advance_ms: 61_000 });
  await other.request('/__admin/drain', {});
  const simulation = await other.request<Simulation>(`/__admin/simulations/${id}`);
  t.match(simulation, { status: 'completed', verdict: 'passed', seed: 'S' });
  t.match(simulation.counts, { sessions: samples, ended: samples });
  t.same(
    simulation.sessions.map((session) => session.id),
    planned.sessions.map((session) => session.id),
    'the sessions of the same seed',
  );
  const page = await other.request<SimulationSessionPage>(
    '/api/simulations/sessions/?include_traces=true&limit=500',
  );
  t.equal(page.total, samples, 'each session once');
  for (const { traces } of page.items) {
    t.same(
      traces?.map((turn) => turn.user_input),
      LINES,
    );
  }
  const [counts] = await execute(databaseUrl, 'select count(*)::int as outcomes from outcomes');
  t.same(counts, { outcomes: samples });
  const repeated = double.chats().length - samples * LINES.length;
  t.ok(repeated >= 0 && repeated <= 3 * LINES.length, `${repeated} requests were repeated`);
});

void t.test('a simulation continues when its stopped database is back', nightOnly(), async (t) => {
  const server = await withPostgresServer(t);
  const { replicas } = await withReplicas(t, 2, { databaseUrl: server.url });
  const [first] = replicas as [ServiceUnderTest];
  const samples = 60;
  for (const [nth, interrupt] of [server.stop, server.kill].entries()) {
    const double = await withSandboxDouble(t, { chat: reply('Yes.') });
    const run = newRun(double.url, samples);
    const { id } = (await first.admin('POST /simulations', run)) as Simulation;
    await double.waitForRequests('chat', 12);
    await interrupt();
    t.equal((await first.send(`GET /__admin/simulations/${id}`)).status, 503);
    await server.start();
    for (const replica of replicas) {
      await until('it is drained', async () => {
        return (await replica.send('POST /__admin/drain')).status === 200;
      });
      const simulation = (await replica.admin(`GET /simulations/${id}`)) as Simulation;
      t.match(simulation, {
        status: 'completed',
        verdict: 'passed',
        counts: { sessions: samples, ended: samples },
      });
    }
    const { json } = await first.send('GET /api/simulations/sessions/?limit=500');
    const page = json as SimulationSessionPage;
    t.equal(page.total, samples * (nth + 1), 'each session once');
    const [counts] = await execute(server.url, 'select count(*)::int as outcomes from outcomes');
    t.same(counts, { outcomes: samples * (nth + 1) }, 'nothing is scored twice');
    const chats = double.chats().length;
    t.ok(chats >= samples * LINES.length, `${chats - samples * LINES.length} were repeated`);
  }
});

void t.test(
  'a replica that lost its lease does not end the simulation of another one',
  async (t) => {
    const { replicas, databaseUrl } = await withReplicas(t, 1);
    const [paused] = replicas as [ServiceUnderTest];
    const late = Promise.withResolvers<undefined>();
    const double = await withSandboxDouble(t, {
      chat: (response, request) => void late.promise.then(() => reply('Yes.')(response, request)),
    });
    const { id } = (await paused.admin('POST /simulations', newRun(double.url, 1))) as Simulation;
    await double.waitForRequests('chat', 1);
    // As after a pause of the process: another replica has the lease, and runs the session.
    await execute(
      databaseUrl,
      `update simulation_leases set token = 'other', ends_at = clock_timestamp() + interval '3 s'`,
    );
    late.resolve(undefined);
    await double.waitForRequests('chat', LINES.length);
    await paused.drain();
    const simulation = (await paused.admin(`GET /simulations/${id}`)) as Simulation;
    t.match(simulation, { status: 'completed', verdict: 'passed', counts: { ended: 1 } });
  },
);
