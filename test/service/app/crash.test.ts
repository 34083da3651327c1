/**
 * `kill -9` while clients send spans and close conversations. CRASH_SEED sets the random seed, which
 * determines what the clients send and after how many responses the service is killed; a failure prints
 * it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import t, { type Test } from 'tap';
import { randomSeed, seededRandom, type Random } from '../../../src/platform/random.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import type { RunningCommand } from '../../support/commands/command.ts';
import { start } from '../../support/commands/command-process.ts';
import {
  assertScoredOnce,
  drain,
  evals,
  FIRST_ROUND_MS,
  listPage,
  listSessions,
  planConversation,
  ROUND_MS,
  sendConversation,
  summarizeEndCalls,
  type PlannedConversation,
  type ReachedService,
  type Route,
} from '../../support/crashes/crash-clients.ts';
import { atNight } from '../../support/nightly.ts';

const { CRASH_SEED = randomSeed() } = process.env;
const ROUNDS = atNight(100, 2);
// Each client has its own key, because a key allows 120 requests per minute.
const keys = Array.from({ length: 8 }, (_, nth) => `key-of-client-${nth}`);
const RESPONSES_MAX = atNight(300, 120);
const CONVERSATIONS_MAX = 1_000;
const SEED_FILE = JSON.stringify({
  keys: keys.map((key) => ({ key })),
  evals,
  settings: { evals: evals.map(({ id }) => id) },
});

type Running = ReachedService & Pick<RunningCommand, 'end'>;

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

void t.test(
  'after kill -9, no acknowledged data is lost or duplicated',
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

      const items = await listSessions(service, FIRST_ROUND_MS + round * ROUND_MS, ROUND_MS);
      assertScoredOnce(t, planned, items);
      const { queued, repeated } = summarizeEndCalls(planned);
      t.equal(queued, (planned.length - repeated) * evals.length);
      totals.conversations += planned.length;
      totals.interrupted += interrupted.length;
      totals.closedWithoutResponse += repeated;
      t.equal(
        (await listPage(service, { limit: '1' })).total,
        totals.conversations,
        'earlier sessions remain',
      );
    }
    t.equal(await service.end('SIGTERM'), 0);
    t.comment(`${ROUNDS} rounds, longest drain ${Math.round(longestDrainMs)} ms, `, totals);
    t.ok(totals.interrupted > 0, 'some conversations were interrupted');
  },
);
