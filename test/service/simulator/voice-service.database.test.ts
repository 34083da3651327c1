/** Voice simulations in the service: they are stored, shown, and repeated after a crash. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Simulation, SimulationSessionPage } from '../../../src/contract/index.ts';
import { withVoiceDouble, type CallHandler } from '../../support/calls/voice-double.ts';
import { nightOnly } from '../../support/nightly.ts';
import { withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { startServiceProcess } from '../../support/services/service-process.ts';
import { makeContainsEval, withService } from '../../support/services/service.ts';
import { makeScenario } from '../../support/sessions/scenarios.ts';

/** Replies to one line, and waits for the caller to hang up. */
const replyOnce: CallHandler = async (call) => {
  await call.connect();
  await call.waitForEndOfSpeech();
  call.update('Yes.');
  await call.speak();
};

void t.test('a voice run is stored and shown like a chat run', async (t) => {
  const context = await withService(t);
  const [chats, calls] = [await withSandboxDouble(t), await withVoiceDouble(t, replyOnce)];
  await context.admin('POST /evals', makeContainsEval('says', 'Yes'));
  const voiceUrl = `${calls.url.replace('http', 'ws')}/calls`;
  await context.admin('POST /agents', {
    id: 'shop',
    name: 'Shop',
    url: chats.url,
    voice_url: voiceUrl,
  });
  const looks = { id: 'l', name: 'Looks', kind: 'tool_called', params: { name: 'look' } } as const;
  const { id } = (await context.admin('POST /simulations', {
    agent: 'shop',
    seed: 's',
    channel: 'voice',
    scenarios: [makeScenario({ evals: ['says', looks] })],
  })) as { id: string };
  await context.drain();
  const simulation = (await context.admin(`GET /simulations/${id}`)) as Simulation;
  t.match(simulation, {
    status: 'completed',
    verdict: 'passed',
    agent: { voice_url: voiceUrl },
    sessions: [{ channel: 'voice', end_reason: 'goal_achieved', status: 'completed' }],
  });
  t.same(chats.chats(), [], 'no chat request is sent');
  const { user_id: userId, session_id: sessionId } = calls.messages[0] as Record<string, string>;
  t.equal(sessionId, simulation.sessions[0]?.id);
  t.match(userId, /^sim_user_/);
  t.equal(chats.requests.at(-1)?.path, `/users/${userId}`, 'the user is deleted');
  const { items } = await context.simulations('?include_traces=true');
  t.match(items, [{ traces: [{ user_input: 'Hello', agent_response: 'Yes.' }] }]);
  t.equal(items[0]?.outcome_summary.total_evaluations, 1, 'the eval of tool calls is skipped');
  const page = await (await fetch(String(items[0]?.url))).text();
  t.match(page, /<dt>Channel<\/dt>\s*<dd>voice<\/dd>/);
  t.match(page, /Looks: skipped, because this sandbox does not report its tool calls by voice\./);
});

void t.test('an agent that never replies fails the evals that its silence breaks', async (t) => {
  const context = await withService(t);
  const { url } = await withVoiceDouble(t, (call) => call.connect());
  const responds = {
    id: 'responds',
    name: 'Responds',
    kind: 'responds_within_ms',
    params: { ms: 500 },
  } as const;
  const limits = { turn_timeout_ms: 1_500 };
  const { id } = (await context.admin('POST /simulations', {
    agent: { name: 'Silent', url },
    seed: 's',
    scenarios: [makeScenario({ channel: 'voice', limits, evals: [responds] })],
  })) as { id: string };
  await context.drain();
  t.match(await context.admin(`GET /simulations/${id}`), {
    verdict: 'failed',
    sessions: [{ end_reason: 'timeout', verdict: 'failed' }],
  });
});

void t.test(
  'after kill -9 during a call, the restarted service runs the session once',
  nightOnly(),
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'kit-simulate-voice-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const inCall = Promise.withResolvers<undefined>();
    const double = await withVoiceDouble(t, async (call) => {
      await call.connect();
      await call.waitForEndOfSpeech();
      inCall.resolve(undefined);
      call.update('Yes.');
      await call.speak();
    });
    const first = await startServiceProcess(t, ['--data', folder]);
    const agent = { name: 'A', url: double.url };
    const evals = [{ id: 'e', name: 'E', kind: 'max_turns', params: { max: 5 } }];
    const scenarios = [{ ...makeScenario({ channel: 'voice' }), evals }];
    await first.request('/__admin/simulations', { agent, scenarios, seed: 'S' });
    await inCall.promise;
    await first.end('SIGKILL');
    const second = await startServiceProcess(t, ['--data', folder]);
    await second.request('/__admin/drain', {});
    const results = '/api/simulations/sessions/?include_traces=true';
    const page = await second.request<SimulationSessionPage>(results);
    t.match(page, { total: 1, items: [{ traces: [{ agent_response: 'Yes.' }] }] });
    t.equal(page.items[0]?.traces?.length, 1);
    const starts = double.messages.filter(({ type }) => type === 'start_call');
    t.equal(starts.length, 2, 'two calls');
    t.equal(new Set(starts.map((message) => message['session_id'])).size, 1, 'the same session');
    t.equal(await second.end('SIGTERM'), 0);
  },
);
