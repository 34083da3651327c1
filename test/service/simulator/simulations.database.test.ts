/** Simulations in the service: started with `/__admin/simulations`, read like other sessions. */
import t, { type Test } from 'tap';
import { findViolations, type Scenario, type Simulation } from '../../../src/contract/index.ts';
import { startService } from '../../../src/service/index.ts';
import { assertResponse } from '../../support/network/send.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { hang, reply, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import {
  makeContainsEval,
  assertError,
  withService,
  type ServiceUnderTest,
} from '../../support/services/service.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';
import { until } from '../../support/until.ts';

const saysYes = makeContainsEval('says', 'Yes');
const parcel: Scenario = makeScenario({
  id: 'parcel',
  name: 'Late parcel',
  user: {
    opening: 'Where is my order?',
    facts: [{ name: 'order number', value: 'A-1001', asked_by: ['which order'] }],
    steps: [{ when: { contains: 'shipped' }, say: 'Thanks.' }],
  },
  evals: [{ id: 'looks', name: 'Looks', kind: 'tool_called', params: { name: 'look_up_order' } }],
});

async function readSimulation(
  t: Test,
  { send }: ServiceUnderTest,
  id: string,
): Promise<Simulation> {
  const response = await send(`GET /__admin/simulations/${id}`, { key: null });
  assertResponse(t, response, 200, 'Simulation');
  return response.json as Simulation;
}

async function startSimulation(tested: ServiceUnderTest, body: object): Promise<string> {
  const { id } = (await tested.admin('POST /simulations', body)) as { id: string };
  return id;
}

void t.test(
  'a run of inline documents stores its sessions with traces in the results',
  async (t) => {
    const tested = await withService(t);
    const { agent } = await withReferenceAgent(t);
    const id = await startSimulation(tested, {
      agent: { name: 'Shop agent', url: agent.url },
      scenarios: [parcel],
      samples: 3,
      seed: 'nightly',
      name: 'Nightly',
    });
    await tested.drain();
    const simulation = await readSimulation(t, tested, id);
    t.match(simulation, {
      id,
      name: 'Nightly',
      status: 'completed',
      verdict: 'passed',
      seed: 'nightly',
      counts: { sessions: 3, ended: 3, passed: 3, failed: 0, undecided: 0 },
      scenarios: [{ scenario_id: 'parcel', passed: 3, flaky: false, pass_hat_k: [1, 1, 1] }],
    });
    const page = await tested.simulations('?include_traces=true&agent=SHOP');
    t.equal(page.total, 3);
    for (const item of page.items) {
      t.match(item, {
        simulation: 'Nightly',
        agent: 'Shop agent',
        scenario: 'Late parcel',
        persona: 'plain',
        status: 'completed',
        outcome_summary: { total_evaluations: 1, passed_count: 1 },
      });
      t.equal(item.traces?.length, 3);
      t.match(item.traces?.[1], {
        user_input: 'A-1001',
        user_reason: 'is asked for: order number',
      });
    }
    t.same(
      new Set(page.items.map(({ url }) => url)),
      new Set(simulation.sessions.map(({ url }) => url)),
    );
    const [first] = simulation.sessions;
    const verdict = await tested.admin(`GET /sessions/${first?.id}`);
    t.same(findViolations('SessionVerdict', verdict), []);
    const simulated = {
      scenario_id: 'parcel',
      channel: 'chat',
      sample: 1,
      review: { followed_scenario: true },
    };
    t.match(verdict, { end_reason: 'goal_achieved', verdict: 'passed', simulated });
    const html = await tested.send(
      `GET ${new URL(first?.url ?? '').pathname}?sessionId=${first?.id}`,
    );
    t.match(html.text, /look_up_order/, 'the session page shows the tool call');
  },
);

void t.test(
  'a run by ids uses the stored key of the agent, and no response contains it',
  async (t) => {
    const tested = await withService(t);
    const { url, requests } = await withSandboxDouble(t, { chat: reply('Yes') });
    await tested.admin('POST /agents', {
      id: 'shop',
      name: 'Shop',
      url,
      api_key: 'the-sandbox-key',
    });
    await tested.admin('POST /evals', saysYes);
    await tested.admin('POST /personas', { id: 'p', name: 'Impatient' });
    await tested.admin('POST /scenarios', makeScenario({ persona: 'p', evals: ['says'] }));
    const id = await startSimulation(tested, { agent: 'shop', scenarios: ['a'], seed: 's' });
    await tested.drain();
    const simulation = await readSimulation(t, tested, id);
    t.equal(simulation.verdict, 'passed');
    t.equal(simulation.sessions[0]?.persona, 'Impatient');
    const chat = requests.find(({ route }) => route === 'chat');
    t.equal(chat?.headers.authorization, 'Bearer the-sandbox-key');
    const list = await tested.admin('GET /simulations');
    t.match(list, { simulations: [{ id, status: 'completed' }] });
    t.notMatch(JSON.stringify([simulation, list]), /the-sandbox-key/);
  },
);

void t.test(
  'one seed gives the same ids in another service and new ids in the same service',
  async (t) => {
    const { url } = await withSandboxDouble(t);
    const run = { agent: { name: 'A', url }, scenarios: [makeScenario({ samples: 2 })], seed: 'S' };
    const [service, otherService] = [await withService(t), await withService(t)];
    const listSessionIds = async (tested: ServiceUnderTest): Promise<string[]> => {
      const id = await startSimulation(tested, run);
      await tested.drain();
      return (await readSimulation(t, tested, id)).sessions.map((session) => session.id);
    };
    const first = await listSessionIds(service);
    t.same(await listSessionIds(otherService), first);
    const again = await listSessionIds(service);
    t.equal(new Set([...first, ...again]).size, 4);
    t.equal((await service.simulations()).total, 4);
  },
);

void t.test(
  'an invalid simulation request is rejected with a JSON pointer to the error',
  async (t) => {
    const tested = await withService(t);
    const agent = { name: 'A', url: 'http://127.0.0.1:1' };
    for (const [body, message] of [
      [{ agent }, /\/scenarios must be an array/],
      [{ agent: 'nobody', scenarios: [makeScenario()] }, /\/agent must be the id of an agent/],
      [{ agent, scenarios: ['nothing'] }, /\/scenarios\/0 must be the id of a scenario/],
      [{ agent, scenarios: [makeScenario(), makeScenario()] }, /\/scenarios\/1 repeats "a"/],
      [{ agent, scenarios: [makeScenario({ evals: ['x'] })] }, /\/scenarios\/0\/evals\/0/],
      [{ agent, scenarios: [makeScenario()], channel: 'phone' }, /\/channel must be/],
      [
        { agent: { ...agent, voice_url: 'http://127.0.0.1:1' }, scenarios: [makeScenario()] },
        /\/agent\/voice_url must/,
      ],
      [{ agent, scenarios: [{ id: 'a', name: 'A' }] }, /\/scenarios\/0\/user must be an object/],
      [{ agent, scenarios: [makeScenario({ samples: 1000 })], samples: 0 }, /\/samples/],
    ] as const) {
      assertError(
        t,
        await tested.send('POST /__admin/simulations', { body, key: null }),
        400,
        message,
      );
    }
    assertError(t, await tested.send('GET /__admin/simulations/none'), 404, /no simulation/);
    assertError(t, await tested.send('POST /__admin/simulations/none/cancel'), 404, /running/);
    t.same(await tested.admin('GET /simulations'), { simulations: [] });
  },
);

void t.test('the response warns about everything that is certain to fail', async (t) => {
  const tested = await withService(t);
  const judged = { id: 'j', name: 'J', kind: 'judge', params: { criteria: 'Kind.' } } as const;
  const scenario = makeScenario({ user: { mode: 'llm', goal: 'Be served.' }, evals: [judged] });
  const { url } = await withSandboxDouble(t);
  const body = { agent: { name: 'A', url }, scenarios: [scenario] };
  const { warnings, id } = (await tested.admin('POST /simulations', body)) as {
    warnings: string[];
    id: string;
  };
  t.match(warnings, [/evals\/j: No LLM judge/, /scenarios\/a: No model .*SANDBOX_KIT_USER_URL/]);
  await tested.drain();
  t.match(await readSimulation(t, tested, id), {
    verdict: 'undecided',
    sessions: [{ status: 'failed', end_reason: 'simulator_error', error: /No model/ }],
  });
});

void t.test(
  'a canceled, deleted, or reset run ends immediately and deletes its users',
  async (t) => {
    for (const [route, expected] of [
      ['POST /simulations/ID/cancel', { status: 'canceled', sessions: [{ status: 'canceled' }] }],
      ['DELETE /simulations/ID', { status: 'canceled' }],
      ['POST /reset', undefined],
    ] as const) {
      const tested = await withService(t);
      const double = await withSandboxDouble(t, { chat: hang });
      const id = await startSimulation(tested, {
        agent: { name: 'A', url: double.url },
        scenarios: [makeScenario({ samples: 4 })],
        concurrency: 2,
      });
      await double.waitForRequests('chat', 2);
      const running = await readSimulation(t, tested, id);
      t.match(running, { status: 'running', counts: { ended: 0 } });
      // Other replicas learn a moment later which sessions run.
      await until('two sessions are running', async () => {
        const { sessions } = await readSimulation(t, tested, id);
        return sessions.map(({ status }) => status).join() === 'running,running,pending,pending';
      });
      await tested.admin(
        route.replace('ID', id),
        route.includes('reset') ? { to: 'empty' } : undefined,
      );
      await double.waitForRequests('delete', 2);
      if (expected) t.match(await readSimulation(t, tested, id), expected, route);
      else assertError(t, await tested.send(`GET /__admin/simulations/${id}`), 404);
      await tested.drain();
      t.equal(double.chats().length, 2, 'no other session starts');
    }
  },
);

void t.test('after a restart, sessions that the stop interrupted run again once', async (t) => {
  const dataDir = t.testdir();
  const double = await withSandboxDouble(t, { chat: hang });
  const first = await startService({ dataDir });
  const body = JSON.stringify({
    agent: { name: 'A', url: double.url, api_key: 'the-sandbox-key' },
    scenarios: [makeScenario({ samples: 3 })],
    seed: 'S',
    concurrency: 1,
  });
  const headers = { 'content-type': 'application/json' };
  await fetch(`${first.adminUrl}/simulations`, { method: 'POST', headers, body });
  await double.waitForRequests('chat', 1);
  await first.stop();
  double.setBehavior({});
  const tested = await withService(t, { dataDir });
  await tested.drain();
  const page = await tested.simulations();
  t.equal(page.total, 3);
  t.same(new Set(page.items.map(({ status }) => status)), new Set(['completed']));
  const chats = double.chats().map((chat) => chat.session_id);
  t.equal(chats.length, 4, 'only the interrupted session ran again');
  t.equal(chats[0], chats[1], 'with the same id');
  t.equal(
    double.requests.at(-2)?.headers.authorization,
    'Bearer the-sandbox-key',
    'with the stored key',
  );
});
