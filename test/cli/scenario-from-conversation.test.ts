/** `scenario from-conversation` turns a production conversation into a scenario file. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readYamlFile } from '../../library/input/documents.ts';
import { assertUsageError, assertWidth, run, unwrap } from '../support/commands/command.ts';
import { withTcpServer } from '../support/network/tcp-server.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { makeContainsEval, assertError, withService } from '../support/services/service.ts';
import { makeSpan } from '../support/traces/otlp.ts';

const lookUpEval = {
  id: 'looks',
  name: 'Looks',
  kind: 'tool_called',
  params: { name: 'look_up_order' },
};

void t.test(
  'a closed conversation becomes a scenario file that passes against a sandbox',
  async (t) => {
    const folder = t.testdir({});
    const dataDir = join(folder, 'data');
    const context = await withService(t, { dataDir });
    await context.admin('POST /evals', lookUpEval);
    await context.admin('PUT /settings', { evals: ['looks'] });
    const inputs = ['Where is order A-1001?', 'And when does it arrive?'];
    const startMs = Date.UTC(2026, 10, 20);
    for (const [turn, user] of inputs.entries()) {
      await context.trace(
        makeSpan({ user, agent: 'On its way.', startMs: startMs + turn * 2_000 }),
      );
    }
    await context.end('conv-1');
    await context.drain();

    const { url } = context.service;
    const out = join(folder, 'conv-1.scenario.yaml');
    const from = ['scenario', 'from-conversation', 'conv-1'];
    const created = await run([...from, '--service', url, '--out', out]);
    t.equal(created.code, 0, created.stderr);
    t.match(created.stderr, `Wrote ${out}. `, 'states which file it wrote');
    t.match(
      created.stderr,
      `sandbox-kit simulate URL --scenario ${out}\n`,
      'states what to do next',
    );
    const [scenario] = readYamlFile(out, { option: '--out', name: 'Scenario', problems: [] });
    t.match(scenario?.value, {
      id: 'from-conv-1',
      user: { mode: 'scripted', opening: inputs[0], steps: [{ say: inputs[1] }] },
      evals: [lookUpEval],
    });
    const fromData = await run([...from, '--data', dataDir]);
    t.equal(fromData.stdout, readFileSync(out, 'utf8'), '--data gives the same file');

    const edited = readFileSync(out, 'utf8').replace('from-conv-1', 'edited');
    writeFileSync(out, edited);
    const again = [...from, '--service', url, '--out', out];
    const rejected = await run(again);
    assertUsageError(t, rejected, / \(--out\) exists\. Use --force to overwrite it\.$/m);
    t.equal(readFileSync(out, 'utf8'), edited, 'the file is unchanged');
    t.equal((await run([...again, '--force'])).code, 0);
    t.not(readFileSync(out, 'utf8'), edited);

    const empty = join(folder, 'empty.scenario.yaml');
    const unknown = ['scenario', 'from-conversation', 'none', '--data', dataDir, '--out', empty];
    assertUsageError(t, await run(unknown), /Unknown conversation "none" at /);
    assertUsageError(t, await run(unknown), /Unknown conversation "none" at /);

    const { agent } = await withReferenceAgent(t);
    const ran = await run(['simulate', agent.url, '--scenario', out]);
    t.equal(ran.code, 0, ran.stdout + ran.stderr);
    t.match(ran.stdout, /PASSED {2}1 of 1 scenario passed/);
  },
);

void t.test('what arrived after the close is left out, with a note', async (t) => {
  const { service, trace, end } = await withService(t);
  const startMs = Date.UTC(2026, 10, 20);
  await trace(makeSpan({ user: 'Where is my order?', startMs }));
  await end('conv-1');
  await trace(makeSpan({ user: 'This line was late.', startMs: startMs + 2_000 }));
  const created = await run(['scenario', 'from-conversation', 'conv-1', '--service', service.url]);
  t.equal(created.code, 0, created.stderr);
  t.match(created.stdout, /opening: Where is my order\?/);
  t.notMatch(created.stdout, /This line was late/);
  t.match(
    created.stdout + created.stderr,
    /The scenario omits spans that arrived after the conversation was closed\./,
  );
});

void t.test('a file in place of an id is refused, before a service is asked', async (t) => {
  const file = join(t.testdir({ 'calls.jsonl': '{}' }), 'calls.jsonl');
  assertUsageError(
    t,
    await run(['scenario', 'from-conversation', file]),
    /ID must be the id of a conversation .* got the file \S*calls\.jsonl\. .* upload its transcript/,
  );
});

void t.test('a conversation without evals becomes a scenario that simulate runs', async (t) => {
  const { service, trace } = await withService(t);
  await trace(makeSpan({ user: 'Where is my order?', agent: 'On its way.' }));
  const out = join(t.testdir({}), 'plain.scenario.yaml');
  const from = ['scenario', 'from-conversation', 'conv-1', '--service', service.url];
  const created = await run([...from, '--out', out]);
  t.match(
    unwrap(created.stderr),
    /Note: No eval scored the conversation, so the only eval of the scenario is "Every turn takes at most 5 s"\. Add evals for what the agent must say and do\./,
  );
  // The first line of the file is for editors.
  const [, ...comments] = readFileSync(out, 'utf8').split('id:')[0]?.split('\n') ?? [];
  assertWidth(t, [...created.stderr.split('Wrote').slice(0, 1), ...comments].join('\n'));
  const { agent } = await withReferenceAgent(t, { voice: null });
  const passing = await run(['simulate', agent.url, '--scenario', out]);
  t.equal(passing.code, 0, passing.stdout + passing.stderr);
});

void t.test('an uploaded, an open, and an unknown conversation', async (t) => {
  const context = await withService(t);
  await context.admin('POST /evals', makeContainsEval('says', 'Hello'));
  await context.admin('POST /transcripts', {
    session_id: 'up/1',
    evals: ['says'],
    metadata: { time_of_day: 'evening' },
    turns: [{ user_input: 'Hi', agent_response: 'Hello' }],
  });
  await context.drain();
  await context.admin('DELETE /evals/says');
  const scenarioOf = async (id: string): Promise<unknown> =>
    context.admin(`GET /conversations/${encodeURIComponent(id)}/scenario`);
  t.match(await scenarioOf('up/1'), {
    scenario: { id: 'from-up-1', metadata: { time_of_day: 'evening' }, user: { opening: 'Hi' } },
    notes: [/The eval says .*no longer exists/, /^No eval scored the conversation/],
  });
  await context.trace(makeSpan({ user: 'Still open', agent: 'Yes.' }));
  t.match(await scenarioOf('conv-1'), { scenario: { user: { opening: 'Still open' } } });
  assertError(t, await context.send('GET /__admin/conversations/none/scenario'), 404, /"none"/);

  const storeScenarioOf = (id: string): Promise<unknown> =>
    context.admin(`POST /conversations/${encodeURIComponent(id)}/scenario`, {});
  t.match(await storeScenarioOf('up/1'), { is_new: true, scenario: { id: 'from-up-1' } });
  const edited = { id: 'from-up-1', name: 'Conversation up/1', user: { opening: 'Edited' } };
  await context.admin('POST /scenarios', edited);
  t.same(await storeScenarioOf('up/1'), { is_new: false, notes: [], scenario: edited }, 'kept');
  await context.trace(makeSpan({ conversationId: 'up-1', user: 'Another', agent: 'Yes.' }));
  t.match(await storeScenarioOf('up-1'), { is_new: true, scenario: { id: 'from-up-1-2' } });

  const { url } = context.service;
  for (const [args, message] of [
    [['none', '--service', url], /Unknown conversation "none" at http\S+ Its pages list those/],
    [[], /ID is missing\. It must be the id of a conversation, or of its session\./],
    [['up/1', '--owner', 'x', '--service', url], /Unknown owner "x" \(--owner\) at http/],
    [
      ['none', '--data', '/nowhere'],
      /--data must be a data directory of sandbox-kit serve, got \/nowhere/,
    ],
    [['none', '--data', '/x', '--service', url], /--data and --service can't be combined/],
    [['none', '--out', '/nowhere/x'], /Can't write .* \(--out\): /],
  ] as const) {
    const ran = await run(['scenario', 'from-conversation', ...args]);
    assertUsageError(t, ran, message);
  }
  const other = await run(['scenario', 'from-thin-air', 'x']);
  assertUsageError(t, other, /ACTION must be from-conversation, got "from-thin-air"/);
});

void t.test('a key that is passed must be right, also for a service on loopback', async (t) => {
  const { service, trace } = await withService(t);
  await trace(makeSpan({ user: 'Where is my order?' }));
  const make = (key: string, id = 'conv-1'): ReturnType<typeof run> =>
    run(['scenario', 'from-conversation', id, '--service', service.url], {
      env: { SANDBOX_KIT_SERVICE_API_KEY: key },
    });
  const wrong = await make('not-the-key');
  t.equal(wrong.code, 3);
  t.equal(wrong.stdout, '', 'the conversation is not shown');
  t.match(unwrap(wrong.stderr), /The service refuses the key with 401: .* SANDBOX_KIT_SERVICE/);
  for (const key of [service.apiKey, '']) {
    const made = await make(key);
    t.equal(made.code, 0, made.stderr);
    t.match(made.stdout, /opening: Where is my order\?/);
    assertUsageError(t, await make(key, 'none'), /Unknown conversation "none" at http/);
  }
});

void t.test('a URL that is not that of a service is explained as by doctor', async (t) => {
  const { service } = await withService(t);
  const { agent } = await withReferenceAgent(t, { voice: null });
  const silentPort = await withTcpServer(t, () => undefined);
  const key = { SANDBOX_KIT_SERVICE_API_KEY: service.apiKey };
  for (const [url, message, env] of [
    [
      agent.url,
      /The server at \S+ is an agent, not an evaluation service: .* pass its URL with --service, or read its data directory with --data DIR\.\n$/,
      {},
    ],
    [`${service.url}/v1`, /No service found at \S+ every .* Remove \/v1 from the end/, {}],
    [`${service.url}/v1`, /Remove \/v1 from the end of the URL\./, key],
    ['http://127.0.0.1:1', /Nothing accepts connections at \S+ Start the service, or check/, {}],
    [`http://127.0.0.1:${silentPort}`, /Every request timed out after its connection was/, key],
  ] as const) {
    const ran = await run(['scenario', 'from-conversation', 'conv-1', '--service', url], { env });
    t.equal(ran.code, 3, `${url}: the command line is right`);
    t.equal(ran.stdout, '');
    t.match(unwrap(ran.stderr), message);
    t.notMatch(ran.stderr, '--area', 'no advice for check');
  }
});
