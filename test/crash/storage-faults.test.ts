/**
 * A disk that fails while a service on SQLite stores spans and scores: a failing sync, writes that fail,
 * a full disk, and writes of which half arrives before the process is killed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { seededRandom, type Random } from '../../src/platform/random.ts';
import {
  drain,
  sendConversation,
  type Exchange,
  type PlannedConversation,
} from '../support/crashes/crash-clients.ts';
import { countRounds, CRASH_SEED } from '../support/crashes/crash-rounds.ts';
import {
  assertComplete,
  createFileSite,
  hasEnded,
  resend,
  runClients,
  type Service,
  type Site,
} from '../support/crashes/crash-sites.ts';
import {
  buildFaultyStorage,
  findBuildProblem,
  type FaultyStorage,
  type StorageFault,
} from '../support/crashes/faulty-storage.ts';
import { makeSpan, makeTraceRequest } from '../support/traces/otlp.ts';
import { until } from '../support/until.ts';

const ROUNDS = countRounds(40, 2);
const CONVERSATIONS = 5;
const PAUSE_MS = 20;
/** A fault ends when it was seen, or when clients had no 503 for this long. */
const UNSEEN_MS_MAX = 3_000;
const FAILING_MS_MAX = 1_500;

/** What fails; when it does is random. */
type FailingDisk = Omit<StorageFault, 'skip'>;

const faults: readonly FailingDisk[] = [
  { operation: 'sync', fault: 'EIO' },
  { operation: 'write', fault: 'torn' },
  { operation: 'write', fault: 'ENOSPC' },
  { operation: 'write', fault: 'EIO' },
  { operation: 'sync', fault: 'torn' },
];

/** Everything that the rounds share. */
interface Setup {
  site: Site;
  storage: FaultyStorage;
  dispatcher: Agent;
}

interface Round {
  number: number;
  chance: Random;
  fault: FailingDisk;
}

/** Sends conversations until all are acknowledged or the service ends; 503 is repeated. */
const send = (
  round: Round,
  service: Service,
  dispatcher: Agent,
  onExchange: (exchange: Exchange) => void,
): Promise<PlannedConversation[]> =>
  runClients(round, service, CONVERSATIONS, async (conversation, { key }) => {
    const route = { url: service.url, dispatcher, key, isDatabaseRemote: true, onExchange };
    while (!hasEnded(service) && !(await sendConversation(conversation, route))) {
      await systemClock.sleep(PAUSE_MS);
    }
  });

/** Lets the disk fail for a while; returns whether the service said so. */
async function failForAWhile(
  { chance, fault }: Round,
  service: Service,
  storage: FaultyStorage,
  countRefused: () => number,
): Promise<boolean> {
  await systemClock.sleep(chance.integer(0, 200));
  storage.fail({ ...fault, skip: chance.integer(0, 20) });
  const refused = countRefused();
  const startedMs = systemClock.monotonicMs();
  const isSeen = (): boolean => hasEnded(service) || countRefused() > refused;
  while (!isSeen() && systemClock.monotonicMs() < startedMs + UNSEEN_MS_MAX) {
    await systemClock.sleep(5);
  }
  if (isSeen()) await systemClock.sleep(chance.integer(0, FAILING_MS_MAX));
  return isSeen();
}

async function runRound(
  t: Test,
  { site, storage, dispatcher }: Setup,
  round: Round,
): Promise<string> {
  const { chance, fault } = round;
  storage.heal();
  const service = await site.start({ env: storage.env });
  if (!service) throw new Error('A service on a healthy disk ended.');
  let refused = 0;
  const wrong: Exchange[] = [];
  const onExchange = (exchange: Exchange): void => {
    if (exchange.status === 503) refused += 1;
    if (exchange.status === 503 && exchange.retryAfter === undefined) wrong.push(exchange);
  };
  const sending = send(round, service, dispatcher, onExchange);
  const isSeen = await failForAWhile(round, service, storage, () => refused);
  const isKilled = chance.fraction() < 0.3;
  if (isKilled) await service.end('SIGKILL');
  storage.heal();
  const planned = await sending;
  t.same(wrong, [], 'each 503 says when to try again');
  if (!hasEnded(service)) {
    await until(
      'the service recovers',
      async () => (await fetch(`${service.url}/ready`)).status === 200,
    );
    await service.end('SIGKILL');
  }
  const next = await site.start({ env: storage.env });
  if (!next) throw new Error('The next service ended.');
  await resend(t, round, next, planned, dispatcher);
  await drain(next);
  await assertComplete(t, round, site, next, planned);
  await next.end('SIGKILL');
  return `${fault.operation} ${fault.fault}: ${isSeen ? 'seen' : 'not seen'}`;
}

function skipUnlessBuildable(): { timeout: number; skip?: string } {
  const problem = findBuildProblem();
  return { timeout: 0, ...(problem !== undefined && { skip: problem }) };
}

/** Returns the storage of the database of a service. */
function createStorage(t: Test): FaultyStorage {
  const folder = mkdtempSync(join(tmpdir(), 'kit-faults-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return buildFaultyStorage(folder, 'service.db');
}

void t.test(
  'what a service acknowledged survives a failing disk',
  skipUnlessBuildable(),
  async (t) => {
    const dispatcher = new Agent();
    t.teardown(() => dispatcher.destroy());
    const setup = { site: createFileSite(t), storage: createStorage(t), dispatcher };
    const chance = seededRandom(CRASH_SEED).fork(t.name);
    t.comment(`CRASH_SEED=${CRASH_SEED}`);
    const counts: Record<string, number> = {};
    // A push has time for two rounds, so it begins with any of the faults.
    const first = chance.integer(0, faults.length - 1);
    for (let number = 0; number < ROUNDS && t.passing(); number += 1) {
      const fault = faults[(first + number) % faults.length];
      if (!fault) throw new Error('No fault.');
      const roundChance = chance.fork(`round ${number}`);
      const outcome = await runRound(t, setup, { number, chance: roundChance, fault });
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    t.comment(`${ROUNDS} rounds: `, counts);
  },
);

void t.test(
  'what failed transactions left in the log is no damage',
  skipUnlessBuildable(),
  async (t) => {
    const storage = createStorage(t);
    const site = createFileSite(t);
    const service = await site.start({ env: storage.env });
    if (!service) throw new Error('A service on a healthy disk ended.');
    const store = async (spanCount: number): Promise<number> => {
      const spans = Array.from({ length: spanCount }, (_, nth) =>
        makeSpan({ conversationId: `c-${spanCount}-${nth}`, user: 'x'.repeat(3_000) }),
      );
      const response = await fetch(`${service.url}/v1/traces`, {
        method: 'POST',
        headers: { 'x-service-api-key': service.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify(makeTraceRequest(spans)),
      });
      return response.status;
    };
    t.equal(await store(2), 200);
    storage.fail({ operation: 'sync', fault: 'EIO', skip: 0 });
    const statuses = [];
    // Each is written over the beginning of the one before.
    for (const spanCount of [60, 40, 20]) statuses.push(await store(spanCount));
    t.same(statuses, [503, 503, 503], 'while no sync succeeds');
    storage.heal();
    t.equal(await store(1), 200, 'when it succeeds again');
    await service.end('SIGKILL');
    const next = await site.start();
    t.ok(next, 'the next service starts');
    const [row] = await site.query('select count(*) as spans from spans');
    t.ok(Number(row?.['spans']) >= 3, 'and has what was acknowledged');
  },
);
