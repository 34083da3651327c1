/**
 * Programs whose types are generated from the OpenAPI documents talk to the stand-ins.
 * `test/package/contracts.test.ts` generates the types.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import type { SeedDocument } from '../../src/contract/index.ts';
import { ROOT } from '../support/repository.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { makeContainsEval, withService } from '../support/services/service.ts';

/**
 * Runs the program of an area in `test/generated-client/`, which needs its types only to be compiled.
 * The result of a program that hangs has the code 1.
 */
async function runClient(
  area: 'service' | 'sandbox',
  env: Record<string, string>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const program = join(ROOT, 'test/generated-client', `${area}-client.ts`);
  const options = { env: { PATH, HOME, ...env }, cwd: ROOT, timeout: 300_000 };
  return new Promise((resolve) => {
    execFile(process.execPath, [program], options, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : Number(error !== null);
      resolve({ code, stdout, stderr });
    });
  });
}

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

void t.test('a client of the service sends, closes, and reads all pages of results', async (t) => {
  const { service, admin } = await withService(t, { seed });
  await admin('POST /evals', makeContainsEval('says', 'parcel'));
  await admin('PUT /settings', { evals: ['says'] });
  await admin('POST /faults', { kind: 'rate_limit', retry_after_s: 0, times: 2 });
  const { code, stdout, stderr } = await runClient('service', {
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

void t.test('a client of a sandbox simulates a user of the agent', async (t) => {
  const { agent } = await withReferenceAgent(t, { apiKey: 'the-key' });
  const { code, stdout, stderr } = await runClient('sandbox', {
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
