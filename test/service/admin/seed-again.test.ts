/** One seed file and one data folder, start after start: nothing is there twice. */
import t from 'tap';
import type {
  ProductionSessionPage,
  SeedDocument,
  SimulationSessionPage,
  TranscriptUpload,
} from '../../../src/contract/index.ts';
import { startService, type RunningService } from '../../../src/service/index.ts';
import { manualClock } from '../../../src/platform/clock.ts';
import { startOpenAiServer } from '../../helpers/openai-server.ts';
import { START_MS } from '../../helpers/service.ts';

type Turns = TranscriptUpload['turns'];
const turns: Turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
const started = { started_at: '2026-11-19T09:00:00Z' };
const seed = {
  keys: [{ owner: 'guest' }],
  evals: [{ id: 'greets', name: 'Greets', kind: 'judge', params: { criteria: 'It greets.' } }],
  settings: { evals: ['greets'] },
  agents: [{ name: 'Shop', url: 'https://shop.example' }],
  transcripts: [
    { session_id: 'undated', turns },
    { session_id: 'dated', turns, ...started },
    { session_id: 'of-run', turns, run: 'Mine' },
  ],
  simulations: [
    { name: 'Sim', agent: 'Shop', sessions: [{ scenario: 's', persona: 'p', ...started }] },
  ],
  runs: [{ name: 'Old', sessions: [{ source_session_id: 'x', ...started, turns }] }],
} satisfies SeedDocument as SeedDocument;

/** Everything that the service holds of the seed, once all is scored. */
async function heldBy({ url, apiKey, adminUrl }: RunningService) {
  const get = async (address: string, method = 'GET'): Promise<unknown> => {
    const response = await fetch(address, { method, headers: { 'x-service-api-key': apiKey } });
    if (response.status !== 200) throw new Error(await response.text());
    return await response.json();
  };
  await get(`${adminUrl}/drain`, 'POST');
  const results = await get(`${url}/api/prod-evaluations/sessions/`);
  const { items: production } = results as ProductionSessionPage;
  const simulated = await get(`${url}/api/simulations/sessions/`);
  const { items: simulations } = simulated as SimulationSessionPage;
  const { agents } = (await get(`${adminUrl}/agents`)) as { agents: unknown[] };
  const { sessions } = (await get(`${adminUrl}/sessions`)) as { sessions: unknown[] };
  const links = [...production, ...simulations].map((item) => (item.url ?? '').replace(url, ''));
  return { links, agents, sessions: sessions.length, production };
}

void t.test('Three starts with the same seed data leave the same state, scored once', async (t) => {
  const dataDir = t.testdir();
  const server = await startOpenAiServer(t);
  const judge = { baseUrl: server.baseUrl, model: 'small' };
  const held = [];
  for (let day = 0; day < 3; day += 1) {
    const clock = manualClock(START_MS + day * 86_400_000);
    const service = await startService({ dataDir, seed, judge, clock });
    held.push(await heldBy(service));
    await service.stop();
  }
  const [first, second, third] = held.map(({ links, agents, sessions }) => {
    return { links, agents, sessions };
  });
  t.equal(first?.sessions, 5);
  t.same(second, first);
  t.same(third, first);
  t.equal(server.requests.length, 3, 'and the judge is not asked again');
});

void t.test('Changed seed data replaces earlier seed data', async (t) => {
  const dataDir = t.testdir();
  const server = await startOpenAiServer(t);
  const options = { dataDir, judge: { baseUrl: server.baseUrl, model: 'small' } };
  const first = await startService({ ...options, seed });
  await heldBy(first);
  await first.stop();
  const [undated, ...others] = seed.transcripts ?? [];
  const said: Turns = [{ user_input: 'Hi', agent_response: 'Good morning' }];
  const transcripts = [{ ...undated, session_id: 'undated', turns: said }, ...others];
  const second = await startService({ ...options, seed: { ...seed, transcripts } });
  t.teardown(() => second.stop());
  t.equal((await heldBy(second)).sessions, 5);
  t.equal(server.requests.length, 4, 'only what has changed is scored again');
  t.match(server.requests[3]?.body.messages[1]?.content, /Good morning/);
});

void t.test('A transcript submitted again after a restart replaces the first', async (t) => {
  const options = { dataDir: t.testdir(), clock: manualClock(START_MS) };
  for (let nth = 0; nth < 2; nth += 1) {
    const service = await startService(options);
    const response = await fetch(`${service.adminUrl}/transcripts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: 't-1', turns }),
    });
    t.equal(response.status, 200);
    t.equal((await heldBy(service)).sessions, 1);
    await service.stop();
  }
});
