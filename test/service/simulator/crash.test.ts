/**
 * `kill -9` of the service while simulated users talk. CRASH_SEED is the random seed of the times; a
 * failure prints it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Simulation, SimulationSessionPage } from '../../../src/contract/index.ts';
import { randomSeed, seededRandom } from '../../../src/platform/random.ts';
import { atNight } from '../../support/nightly.ts';
import { reply, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { startServiceProcess } from '../../support/services/service-process.ts';
import { makeUserScenario } from '../../support/sessions/scenarios.ts';

const { CRASH_SEED = randomSeed() } = process.env;
/** How often the service is killed. */
const ROUNDS = atNight(30, 1);
const evals = [
  { id: 'turns', name: 'Few turns', kind: 'max_turns', params: { max: 5 } },
  { id: 'says', name: 'Says yes', kind: 'contains', params: { text: 'yes' } },
] as const;
const scenario = makeUserScenario(
  { opening: 'One', steps: [{ say: 'Two' }, { say: 'Three' }] },
  { evals: [...evals] },
);
/** Enough that sessions are left for the last round, which waits for up to 40 requests. */
const SESSIONS_COUNT = Math.max(30, ROUNDS * 14);

void t.test('every session is stored once, however often the service is killed', async (t) => {
  t.comment(`CRASH_SEED=${CRASH_SEED}`);
  const chance = seededRandom(CRASH_SEED);
  const folder = mkdtempSync(join(tmpdir(), 'kit-simulate-crash-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const double = await withSandboxDouble(t, { chat: reply('Yes.') });
  const agent = { name: 'A', url: double.url };
  const run = { agent, scenarios: [scenario], samples: SESSIONS_COUNT, seed: 'S', concurrency: 3 };
  let service = await startServiceProcess(t, ['--data', folder]);
  const { id } = await service.request<Simulation>('/__admin/simulations', run);
  for (let round = 0; round < ROUNDS; round += 1) {
    await double.waitForRequests('chat', double.chats().length + chance.integer(5, 40));
    await service.end('SIGKILL');
    service = await startServiceProcess(t, ['--data', folder]);
  }
  await service.request('/__admin/drain', {});
  const simulation = await service.request<Simulation>(`/__admin/simulations/${id}`);
  t.match(simulation, { status: 'completed', verdict: 'passed' });
  t.match(simulation.counts, { sessions: SESSIONS_COUNT, ended: SESSIONS_COUNT });
  const results = '/api/simulations/sessions/?include_traces=true&limit=500';
  const page = await service.request<SimulationSessionPage>(results);
  t.equal(page.total, SESSIONS_COUNT, 'each session once');
  t.equal(new Set(page.items.map((item) => item.url)).size, SESSIONS_COUNT);
  for (const item of page.items) {
    const lines = item.traces?.map((turn) => turn.user_input);
    t.same(lines, ['One', 'Two', 'Three'], 'each turn once');
    t.equal(item.outcome_summary.passed_count, evals.length, 'each outcome once');
  }
  const repeated = double.chats().length - 3 * SESSIONS_COUNT;
  t.ok(repeated >= 0 && repeated <= ROUNDS * 3 * 3, `${repeated} requests of interrupted sessions`);
  t.equal(await service.end('SIGTERM'), 0);
});
