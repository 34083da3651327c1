/** Repeated starts with the same seed data and data directory: nothing is duplicated. */
import t from 'tap';
import type {
  ProductionSessionPage,
  SeedDocument,
  SimulationSessionPage,
  TranscriptUpload,
} from '../../../src/contract/index.ts';
import { startService, type RunningService } from '../../../src/service/index.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { startOpenAiServer } from '../../support/models/openai-server.ts';
import { greetsEval, START_MS } from '../../support/services/service.ts';
import { withStartedService } from '../../support/services/started-service.ts';

type Turns = TranscriptUpload['turns'];
const turns: Turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
const dated = { started_at: '2026-11-19T09:00:00Z' };
const seed = {
  keys: [{ owner: 'guest' }],
  evals: [greetsEval],
  settings: { evals: ['greets'] },
  agents: [{ name: 'Shop', url: 'https://shop.example', voice_url: 'wss://shop.example/voice' }],
  transcripts: [
    { session_id: 'undated', turns },
    { session_id: 'dated', turns, ...dated },
    { session_id: 'of-run', turns, run: 'Mine' },
  ],
  simulations: [
    { name: 'Sim', agent: 'Shop', sessions: [{ scenario: 's', persona: 'p', ...dated }] },
  ],
  runs: [{ name: 'Old', sessions: [{ source_session_id: 'x', ...dated, turns }] }],
} satisfies SeedDocument as SeedDocument;

/** Drains, and returns everything that the seed data created. */
async function readState({ url, apiKey, adminUrl }: RunningService) {
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

void t.test('three starts with the same seed data leave the same state, scored once', async (t) => {
  const dataDir = t.testdir();
  const server = await startOpenAiServer(t);
  const judge = { baseUrl: server.baseUrl, model: 'small' };
  const states = [];
  for (let day = 0; day < 3; day += 1) {
    const clock = manualClock(START_MS + day * 86_400_000);
    const service = await startService({ dataDir, seed, judge, clock });
    states.push(await readState(service));
    await service.stop();
  }
  const [first, second, third] = states.map(({ links, agents, sessions }) => {
    return { links, agents, sessions };
  });
  t.equal(first?.sessions, 5);
  t.match(first?.agents, [{ voice_url: 'wss://shop.example/voice' }]);
  t.same(second, first);
  t.same(third, first);
  t.equal(server.requests.length, 3, 'the judge gets no further requests');
});

void t.test('changed seed data replaces earlier seed data', async (t) => {
  const dataDir = t.testdir();
  const server = await startOpenAiServer(t);
  const options = { dataDir, judge: { baseUrl: server.baseUrl, model: 'small' } };
  const first = await startService({ ...options, seed });
  await readState(first);
  await first.stop();
  const [undated, ...others] = seed.transcripts ?? [];
  const changedTurns: Turns = [{ user_input: 'Hi', agent_response: 'Good morning' }];
  const transcripts = [{ ...undated, session_id: 'undated', turns: changedTurns }, ...others];
  const second = await withStartedService(t, { ...options, seed: { ...seed, transcripts } });
  t.equal((await readState(second)).sessions, 5);
  t.equal(server.requests.length, 4, 'only the changed transcript is scored again');
  t.match(server.requests[3]?.body.messages[1]?.content, /Good morning/);
});

void t.test('a transcript submitted again after a restart replaces the first', async (t) => {
  const options = { dataDir: t.testdir(), clock: manualClock(START_MS) };
  for (let nth = 0; nth < 2; nth += 1) {
    const service = await startService(options);
    const response = await fetch(`${service.adminUrl}/transcripts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: 't-1', turns }),
    });
    t.equal(response.status, 200);
    t.equal((await readState(service)).sessions, 1);
    await service.stop();
  }
});
