/**
 * `kill -9` while clients send spans and close conversations. CRASH_ROUNDS sets the number of rounds.
 * CRASH_SEED sets the random seed, which determines what the clients send and after how many responses
 * the service is killed; a failure prints it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import t, { type Test } from 'tap';
import type { ProductionSession, ProductionSessionPage } from '../../../src/contract/index.ts';
import { randomSeed, seededRandom, type Random } from '../../../src/platform/random.ts';
import { isoTime, systemClock } from '../../../src/platform/clock.ts';
import { start, type RunningCommand } from '../../helpers/command.ts';
import {
  sendConversation,
  planConversation,
  type PlannedConversation,
  type Route,
} from '../../helpers/crash-clients.ts';

const { CRASH_ROUNDS = '10', CRASH_SEED = randomSeed() } = process.env;
const ROUNDS = Number(CRASH_ROUNDS);
// Each client has its own key, because a key allows 120 requests per minute.
const keys = Array.from({ length: 8 }, (_, nth) => `key-of-client-${nth}`);
const RESPONSES_MAX = 300;
const CONVERSATIONS_MAX = 1_000;
const FIRST_ROUND_MS = Date.UTC(2026, 10, 20);
const ROUND_MS = 60_000;

const evals = [
  { id: 'turns', name: 'Few turns', kind: 'max_turns', params: { max: 2 } },
  { id: 'says', name: 'On its way', kind: 'contains', params: { text: 'on its way' } },
  { id: 'tool', name: 'Looks it up', kind: 'tool_called', params: { name: 'find_order' } },
];
const SEED_FILE = JSON.stringify({
  keys: keys.map((key) => ({ key })),
  evals,
  settings: { evals: evals.map(({ id }) => id) },
});

interface Running extends Pick<RunningCommand, 'end'> {
  url: string;
  apiKey: string;
  adminUrl: string;
}

async function serve(t: Test, folder: string): Promise<Running> {
  const files = ['--data', join(folder, 'data'), '--seed-file', join(folder, 'seed.json')];
  const { firstLine, end } = await start(t, ['serve', '--port', '0', '--json', ...files]);
  return { ...(JSON.parse(firstLine) as Omit<Running, 'end'>), end };
}

/** Lets all clients send until the service is killed, and returns the conversations that they planned. */
async function sendUntilKilled(
  service: Running,
  round: number,
  { chance, dispatcher }: { chance: Random; dispatcher: Agent },
): Promise<PlannedConversation[]> {
  const planned: PlannedConversation[] = [];
  const responsesBeforeKill = chance.integer(1, RESPONSES_MAX);
  let responses = 0;
  let killed: Promise<number | null> | undefined;
  const onAcknowledged = (): void => {
    responses += 1;
    if (responses === responsesBeforeKill) killed = service.end('SIGKILL');
  };
  const runClient = async (key: string, client: number): Promise<void> => {
    const clientChance = chance.fork(`client ${client}`);
    const route: Route = { url: service.url, dispatcher, key };
    for (let nth = 0; planned.length < CONVERSATIONS_MAX; nth += 1) {
      const startMs = FIRST_ROUND_MS + round * ROUND_MS + clientChance.integer(0, ROUND_MS / 2);
      const conversation = planConversation(clientChance, `r${round}-c${client}-${nth}`, startMs);
      planned.push(conversation);
      if (!(await sendConversation(conversation, route, onAcknowledged))) return;
    }
  };
  await Promise.all(keys.map(runClient));
  await killed;
  return planned;
}

async function get(
  service: Running,
  query: Record<string, string>,
): Promise<ProductionSessionPage> {
  const search = new URLSearchParams(query).toString();
  const response = await fetch(`${service.url}/api/prod-evaluations/sessions/?${search}`, {
    headers: { 'x-service-api-key': service.apiKey },
  });
  return (await response.json()) as ProductionSessionPage;
}

async function listSessions(service: Running, round: number): Promise<ProductionSession[]> {
  const beganMs = FIRST_ROUND_MS + round * ROUND_MS;
  const page = await get(service, {
    started_after: isoTime(beganMs),
    started_before: isoTime(beganMs + ROUND_MS - 1),
    include_traces: 'true',
    limit: '500',
  });
  if (page.items.length !== page.total)
    throw new Error('The round has more sessions than fit on a page.');
  return page.items;
}

/** Waits until everything is scored: longer than scoring takes, but shorter than the leases of the killed process. */
async function drain({ adminUrl }: Running): Promise<void> {
  using deadline = systemClock.deadline(30_000);
  const { signal } = deadline;
  const response = await fetch(`${adminUrl}/drain`, { method: 'POST', signal });
  if (response.status !== 200) throw new Error(await response.text());
}

/** Asserts that every session is listed once, with its turns and with each of its outcomes once. */
function assertScoredOnce(
  t: Test,
  planned: PlannedConversation[],
  items: ProductionSession[],
): void {
  const byId = new Map(items.map((item) => [item.source_session_id, item]));
  t.equal(items.length, planned.length, 'one session per conversation');
  const names = evals
    .map(({ name }) => name)
    .sort()
    .join();
  const wrong = planned.filter(({ conversationId, userLines }) => {
    const item = byId.get(conversationId);
    const lines = item?.traces?.map((turn) => turn.user_input).join();
    const evalNames = item?.eval_outcomes
      .map((outcome) => outcome.eval_name)
      .sort()
      .join();
    const { total_evaluations: total, passed_count: passed } = item?.outcome_summary ?? {};
    const expectedPasses = userLines.length <= 2 ? 2 : 1;
    const isComplete =
      item?.status === 'completed' && total === evals.length && passed === expectedPasses;
    return !isComplete || lines !== userLines.join() || evalNames !== names;
  });
  t.same(
    wrong.map(({ conversationId: id, userLines }) => [id, userLines, byId.get(id)]),
    [],
    'every session has its turns and each outcome once',
  );
}

/** Sums up the responses to the end calls: how many evals were queued, and how many calls were repeated. */
function summarizeEndCalls(planned: readonly PlannedConversation[]): {
  queued: number;
  repeated: number;
} {
  const endings = planned.map(({ close }) => close.response as Record<string, unknown>);
  const repeated = endings.filter((ending) => ending['already_closed'] === true).length;
  const queued = endings.reduce((sum, ending) => sum + Number(ending['evaluations_queued']), 0);
  return { queued, repeated };
}

void t.test(
  'After kill -9, no acknowledged data is lost or duplicated',
  { timeout: 0 },
  async (t) => {
    t.comment(`CRASH_SEED=${CRASH_SEED}`);
    const chance = seededRandom(CRASH_SEED);
    const dispatcher = new Agent();
    t.teardown(() => dispatcher.destroy());
    // Not `t.testdir`: a second concurrent run of this test would delete the directory of the first.
    const folder = mkdtempSync(join(tmpdir(), 'kit-crash-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'seed.json'), SEED_FILE);
    let service = await serve(t, folder);
    const { apiKey } = service;
    const totals = { conversations: 0, interrupted: 0, closedWithoutResponse: 0 };
    let longestDrainMs = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const roundChance = chance.fork(`round ${round}`);
      const planned = await sendUntilKilled(service, round, { chance: roundChance, dispatcher });
      const interrupted = planned.filter(({ close }) => !close.acknowledged);
      service = await serve(t, folder);
      t.equal(service.apiKey, apiKey, 'the development key is the same');

      const { url } = service;
      const resent = interrupted.map((conversation, nth) =>
        sendConversation(conversation, { url, dispatcher, key: keys[nth % keys.length] ?? '' }),
      );
      t.same(
        new Set(await Promise.all(resent)),
        new Set(interrupted.length > 0 ? [true] : []),
        'resent',
      );
      const beganMs = systemClock.monotonicMs();
      await drain(service);
      longestDrainMs = Math.max(longestDrainMs, systemClock.monotonicMs() - beganMs);

      assertScoredOnce(t, planned, await listSessions(service, round));
      const { queued, repeated } = summarizeEndCalls(planned);
      t.equal(queued, (planned.length - repeated) * evals.length);
      totals.conversations += planned.length;
      totals.interrupted += interrupted.length;
      totals.closedWithoutResponse += repeated;
      t.equal(
        (await get(service, { limit: '1' })).total,
        totals.conversations,
        'earlier sessions remain',
      );
    }
    t.equal(await service.end('SIGTERM'), 0);
    t.comment(`${ROUNDS} rounds, longest drain ${Math.round(longestDrainMs)} ms, `, totals);
    t.ok(totals.interrupted > 0, 'some conversations were interrupted');
  },
);
