/** A production conversation becomes a scenario file, which says and expects the same again. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startAgent } from '../../reference-agent/index.ts';
import { readYamlFile } from '../../src/cli/input/documents.ts';
import { run } from '../helpers/command.ts';
import { aSpan } from '../helpers/otlp.ts';
import { anEval, isRefusal, withService } from '../helpers/service.ts';

t.setTimeout(60_000);

const looks = {
  id: 'looks',
  name: 'Looks',
  kind: 'tool_called',
  params: { name: 'look_up_order' },
};

void t.test('traces, a close, a file, and a run of it against a sandbox', async (t) => {
  const folder = t.testdir({});
  const dataDir = join(folder, 'data');
  const bench = await withService(t, { dataDir });
  await bench.admin('POST /evals', looks);
  await bench.admin('PUT /settings', { evals: ['looks'] });
  const said = ['Where is order A-1001?', 'And when does it arrive?'];
  const startMs = Date.UTC(2026, 10, 20);
  for (const [turn, user] of said.entries()) {
    await bench.trace(aSpan({ user, agent: 'On its way.', startMs: startMs + turn * 2_000 }));
  }
  await bench.end('conv-1');
  await bench.drain();

  const { url } = bench.service;
  const out = join(folder, 'conv-1.scenario.yaml');
  const from = ['scenario', 'from-conversation', 'conv-1'];
  const made = await run([...from, '--service', url, '--out', out]);
  t.equal(made.code, 0, made.stderr);
  t.match(made.stderr, `Wrote ${out}. `, 'it says what was written');
  t.match(made.stderr, `sandbox-kit simulate URL --scenario ${out}\n`, 'and what to do next');
  const [scenario] = readYamlFile(out, '--out', 'Scenario');
  t.match(scenario?.value, {
    id: 'from-conv-1',
    user: { mode: 'scripted', opening: said[0], steps: [{ say: said[1] }] },
    evals: [looks],
  });
  const kept = await run([...from, '--data', dataDir]);
  t.equal(kept.stdout, readFileSync(out, 'utf8'), 'the same from the data folder');

  const before = readFileSync(out, 'utf8').replace('from-conv-1', 'edited');
  writeFileSync(out, before);
  const again = [...from, '--service', url, '--out', out];
  const refused = await run(again);
  t.match(refused, { code: 2, stderr: / is there already: --force writes over it\.$/m });
  t.equal(readFileSync(out, 'utf8'), before, 'nothing is lost');
  t.equal((await run([...again, '--force'])).code, 0);
  t.not(readFileSync(out, 'utf8'), before);

  const empty = join(folder, 'empty.scenario.yaml');
  const nobody = ['scenario', 'from-conversation', 'none', '--data', dataDir, '--out', empty];
  for (const attempt of ['once', 'again']) {
    t.match(await run(nobody), { code: 2, stderr: /there is no conversation/ }, attempt);
  }

  const agent = await startAgent();
  t.teardown(() => agent.stop());
  const ran = await run(['simulate', agent.url, '--scenario', out]);
  t.equal(ran.code, 0, ran.stdout + ran.stderr);
  t.match(ran.stdout, /PASSED {2}1 of 1 scenario passed/);
});

void t.test('an upload, an unscored one, and what is not there', async (t) => {
  const bench = await withService(t);
  await bench.admin('POST /evals', anEval('says', 'Hello'));
  await bench.admin('POST /transcripts', {
    session_id: 'up/1',
    evals: ['says'],
    metadata: { time_of_day: 'evening' },
    turns: [{ user_input: 'Hi', agent_response: 'Hello' }],
  });
  await bench.drain();
  await bench.admin('DELETE /evals/says');
  const scenarioOf = async (id: string): Promise<unknown> =>
    bench.admin(`GET /conversations/${encodeURIComponent(id)}/scenario`);
  t.match(await scenarioOf('up/1'), {
    scenario: { id: 'from-up-1', metadata: { time_of_day: 'evening' }, user: { opening: 'Hi' } },
    notes: [/The eval says .*no longer exists/, /no evals yet/],
  });
  await bench.trace(aSpan({ user: 'Still open', agent: 'Yes.' }));
  t.match(await scenarioOf('conv-1'), { scenario: { user: { opening: 'Still open' } } });
  isRefusal(t, await bench.send('GET /__admin/conversations/none/scenario'), 404, /"none"/);

  const { url } = bench.service;
  for (const [args, says] of [
    [['none', '--service', url], /Unknown conversation "none" at http/],
    [
      ['none', '--service', 'http://127.0.0.1:1'],
      /Can't read the conversation from .* \(--service\)\. Is sandbox-kit serve running/,
    ],
    [
      ['none', '--data', '/nowhere'],
      /--data must be a data directory of sandbox-kit serve, got \/nowhere/,
    ],
    [['none', '--data', '/x', '--service', url], /--data and --service can't be combined/],
    [['none', '--out', '/nowhere/x'], /Can't write .* \(--out\): /],
  ] as const) {
    const ran = await run(['scenario', 'from-conversation', ...args]);
    t.match(ran, { code: 2, stderr: says });
  }
  const other = await run(['scenario', 'from-thin-air', 'x']);
  t.match(other, { code: 2, stderr: /ACTION must be from-conversation, got "from-thin-air"/ });
});
