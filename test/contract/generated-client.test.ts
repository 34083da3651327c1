/** Clients that are generated from the OpenAPI documents talk to the stand-ins. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SeedDocument } from '../../src/contract/index.ts';
import { withAgent } from '../helpers/agent.ts';
import { compile, generateClient, runProgram } from '../helpers/generated-client.ts';
import { makeContainsEval, withService } from '../helpers/service.ts';

const outcome = { eval_name: 'Polite', outcome: 'fail' } as const;

/** Enough sessions for several pages of the client. */
const seed: SeedDocument = {
  simulations: [
    {
      name: 'Nightly',
      agent: 'Shop agent',
      sessions: ['a', 'b', 'c', 'd', 'e'].map((scenario, hour) => ({
        scenario,
        persona: 'calm',
        started_at: `2026-11-20T0${hour}:00:00Z`,
        turns: [{ user_input: 'Hi', agent_response: 'Hello' }],
      })),
    },
  ],
  runs: [
    {
      name: 'Uploads',
      sessions: ['1', '2', '3'].map((id) => ({
        source_session_id: id,
        started_at: '2026-11-20T09:00:00Z',
        outcomes: [outcome],
      })),
    },
  ],
};

void t.test('a generated client sends, closes, and reads all pages of results', async (t) => {
  const directory = await generateClient(t, 'service');
  t.equal(await compile(directory), '', 'the types are correct');
  const { service, admin } = await withService(t, { seed });
  await admin('POST /evals', makeContainsEval('says', 'parcel'));
  await admin('PUT /settings', { evals: ['says'] });
  await admin('POST /faults', { kind: 'rate_limit', retry_after_s: 0, times: 2 });
  const { code, stdout, stderr } = await runProgram([join(directory, 'service-client.ts')], {
    SANDBOX_KIT_SERVICE_URL: service.url,
    SANDBOX_KIT_SERVICE_API_KEY: service.apiKey,
  });
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), {
    closed: { status: 'evaluating', evaluations_queued: 1 },
    traces: ['Your parcel is on its way.', 'Tomorrow.'],
    summary: { total_evaluations: 1, passed_count: 1 },
    production: 4,
    failed: 3,
    simulations: ['e', 'd', 'c', 'b', 'a'],
    unknown: { status: 404, message: /no conversation/ },
  });
});

void t.test('the program of the client also runs without its types', async (t) => {
  const { service } = await withService(t);
  const program = join(import.meta.dirname, '../generated-client/service-client.ts');
  const { code, stdout, stderr } = await runProgram([program], {
    SANDBOX_KIT_SERVICE_URL: service.url,
    SANDBOX_KIT_SERVICE_API_KEY: service.apiKey,
  });
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { closed: { evaluations_queued: 0 }, production: 0 });
});

void t.test('a generated client simulates a user of the agent', async (t) => {
  const directory = await generateClient(t, 'sandbox');
  t.equal(await compile(directory), '', 'the types are correct');
  const { agent } = await withAgent(t, { apiKey: 'the-key' });
  const { code, stdout, stderr } = await runProgram([join(directory, 'sandbox-client.ts')], {
    SANDBOX_KIT_AGENT_URL: agent.url,
    SANDBOX_KIT_API_KEY: 'the-key',
  });
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), {
    health: 'healthy',
    created: 'sim_user_generated',
    repeated: 'user_exists',
    replies: [/A-1001/, /\w/],
    tools: ['look_up_order'],
    deleted: 'deleted',
    unauthorized: { status: 401, code: 'unauthorized' },
  });
});

void t.test('the generated types refuse a wrong request', async (t) => {
  const directory = await generateClient(t, 'service');
  const file = join(directory, 'service-client.ts');
  const correct = readFileSync(file, 'utf8');
  const faults: [from: string, to: string, message: RegExp][] = [
    ['failed_only: true', 'failedOnly: true', /failedOnly/],
    ['query: { agent,', 'query: { run: agent,', /run/],
    ["'/v1/sessions/{conversation_id}/end', { params }", "'/v1/sessions/x/end', {}", /sessions/],
    ['traceId: randomBytes', 'trace_id: randomBytes', /trace_id/],
    ['closed.evaluations_queued', 'closed.queued', /queued/],
  ];
  let text = correct;
  for (const [from, to] of faults) {
    t.ok(text.includes(from), from);
    text = text.replace(from, to);
  }
  writeFileSync(file, text);
  const report = await compile(directory);
  for (const [, to, message] of faults) t.match(report, message, to);
});
