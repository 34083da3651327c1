/**
 * `kill -9` while clients send and close. The seed that a failure prints brings back what the clients
 * do and after how many answers the service dies. CRASH_ROUNDS sets the number of rounds,
 * CRASH_SEED the seed.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import t, { type Test } from 'tap';
import type { ProductionSession, ProductionSessionPage } from '../../../src/contract/index.ts';
import { randomSeed, seededRandom, type Random } from '../../../src/platform/random.ts';
import { isoTime, systemClock } from '../../../src/platform/clock.ts';
import { start, type Started } from '../../helpers/command.ts';
import {
  sendConversation,
  planConversation,
  type PlannedConversation,
  type Route,
} from '../../helpers/crash-clients.ts';

const { CRASH_ROUNDS = '10', CRASH_SEED = randomSeed() } = process.env;
const ROUNDS = Number(CRASH_ROUNDS);
// Each client has a key of its own, since 120 requests a minute go with one.
const keys = Array.from({ length: 8 }, (_, nth) => `key-of-client-${nth}`);
const ANSWERS_MAX = 300;
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

interface Running extends Pick<Started, 'end'> {
  url: string;
  apiKey: string;
  adminUrl: string;
}

async function serve(t: Test, folder: string): Promise<Running> {
  const files = ['--data', join(folder, 'data'), '--seed-file', join(folder, 'seed.json')];
  const { firstLine, end } = await start(t, ['serve', '--port', '0', '--json', ...files]);
  return { ...(JSON.parse(firstLine) as Omit<Running, 'end'>), end };
}

/** Has all clients talk until the service is killed; what they had in mind. */
async function talkUntilKilled(
  service: Running,
  round: number,
  { chance, dispatcher }: { chance: Random; dispatcher: Agent },
): Promise<PlannedConversation[]> {
  const planned: PlannedConversation[] = [];
  const answersBefore = chance.integer(1, ANSWERS_MAX);
  let answers = 0;
  let killed: Promise<number | null> | undefined;
  const onAnswer = (): void => {
    answers += 1;
    if (answers === answersBefore) killed = service.end('SIGKILL');
  };
  const talk = async (key: string, client: number): Promise<void> => {
    const own = chance.fork(`client ${client}`);
    const route: Route = { url: service.url, dispatcher, key };
    for (let nth = 0; planned.length < CONVERSATIONS_MAX; nth += 1) {
      const startMs = FIRST_ROUND_MS + round * ROUND_MS + own.integer(0, ROUND_MS / 2);
      const conversation = planConversation(own, `r${round}-c${client}-${nth}`, startMs);
      planned.push(conversation);
      if (!(await sendConversation(conversation, route, onAnswer))) return;
    }
  };
  await Promise.all(keys.map(talk));
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

async function sessionsOf(service: Running, round: number): Promise<ProductionSession[]> {
  const beganMs = FIRST_ROUND_MS + round * ROUND_MS;
  const page = await get(service, {
    started_after: isoTime(beganMs),
    started_before: isoTime(beganMs + ROUND_MS - 1),
    include_traces: 'true',
    limit: '500',
  });
  if (page.items.length !== page.total) throw new Error('more sessions in a round than on a page');
  return page.items;
}

/** Waits until all is scored, longer than any scoring takes and shorter than a lease of the dead. */
async function drain({ adminUrl }: Running): Promise<void> {
  using deadline = systemClock.deadline(30_000);
  const { signal } = deadline;
  const response = await fetch(`${adminUrl}/drain`, { method: 'POST', signal });
  if (response.status !== 200) throw new Error(await response.text());
}

/** Asserts that every session is there once, with its turns, and each of its outcomes once. */
function areScoredOnce(t: Test, planned: PlannedConversation[], items: ProductionSession[]): void {
  const byId = new Map(items.map((item) => [item.source_session_id, item]));
  t.equal(items.length, planned.length, 'each conversation once');
  const names = evals
    .map(({ name }) => name)
    .sort()
    .join();
  const wrong = planned.filter(({ conversationId, userLines }) => {
    const item = byId.get(conversationId);
    const told = item?.traces?.map((turn) => turn.user_input).join();
    const scored = item?.eval_outcomes
      .map((outcome) => outcome.eval_name)
      .sort()
      .join();
    const { total_evaluations: total, passed_count: passed } = item?.outcome_summary ?? {};
    const passes = userLines.length <= 2 ? 2 : 1;
    const isRight = item?.status === 'completed' && total === evals.length && passed === passes;
    return !isRight || told !== userLines.join() || scored !== names;
  });
  t.same(
    wrong.map((one) => [one.conversationId, one.userLines, byId.get(one.conversationId)]),
    [],
    'each has its turns and its outcomes, each once',
  );
}

/** Of what was answered, the closings add up: evals were queued at most once for each. */
function closingsOf(planned: readonly PlannedConversation[]): { queued: number; repeated: number } {
  const closings = planned.map(({ close }) => close.response as Record<string, unknown>);
  const repeated = closings.filter((closing) => closing['already_closed'] === true).length;
  const queued = closings.reduce((sum, one) => sum + Number(one['evaluations_queued']), 0);
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
    // Not `t.testdir`: a second run of this test would empty the folder under a long first one.
    const folder = mkdtempSync(join(tmpdir(), 'kit-crash-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'seed.json'), SEED_FILE);
    let service = await serve(t, folder);
    const { apiKey } = service;
    const found = { conversations: 0, cut: 0, closedUnheard: 0 };
    let longestDrainMs = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const own = chance.fork(`round ${round}`);
      const planned = await talkUntilKilled(service, round, { chance: own, dispatcher });
      const cut = planned.filter(({ close }) => !close.acknowledged);
      service = await serve(t, folder);
      t.equal(service.apiKey, apiKey, 'the development key is the same');

      const { url } = service;
      const resent = cut.map((one, nth) =>
        sendConversation(one, { url, dispatcher, key: keys[nth % keys.length] ?? '' }),
      );
      t.same(new Set(await Promise.all(resent)), new Set(cut.length > 0 ? [true] : []), 'resent');
      const beganMs = systemClock.monotonicMs();
      await drain(service);
      longestDrainMs = Math.max(longestDrainMs, systemClock.monotonicMs() - beganMs);

      areScoredOnce(t, planned, await sessionsOf(service, round));
      const { queued, repeated } = closingsOf(planned);
      t.equal(queued, (planned.length - repeated) * evals.length);
      found.conversations += planned.length;
      found.cut += cut.length;
      found.closedUnheard += repeated;
      t.equal((await get(service, { limit: '1' })).total, found.conversations, 'earlier ones stay');
    }
    t.equal(await service.end('SIGTERM'), 0);
    t.comment(`${ROUNDS} rounds, longest drain ${Math.round(longestDrainMs)} ms, `, found);
    t.ok(found.cut > 0, 'some were cut off');
  },
);
