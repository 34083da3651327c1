/**
 * `kill -9` of replicas and of their database while clients send spans and close conversations.
 * CRASH_ROUNDS sets the number of rounds. CRASH_SEED sets the random seed, which determines what the
 * clients send, what is killed, and after how many responses; a failure prints it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { randomSeed, seededRandom, type Random } from '../../src/platform/random.ts';
import { start, type RunningCommand } from '../helpers/command.ts';
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
} from '../helpers/crash-clients.ts';
import { withPostgresServer, type PostgresServer } from '../helpers/postgres.ts';

const { CRASH_ROUNDS = '4', CRASH_SEED = randomSeed() } = process.env;
const ROUNDS = Number(CRASH_ROUNDS);
const REPLICAS = 3;
const CLIENTS = 8;
const RESPONSES_MAX = 150;
const CONVERSATIONS_MAX = 500;
/** Longer than the lease of a job. */
const LEASE_ENDS_MS = 61_000;
const RESEND_MS_MAX = 60_000;

// Each client has a new key in each round, because a key allows 120 requests per minute.
const keyOf = (round: number, client: number): string => `key-of-client-${round}-${client}`;

type Replica = ReachedService & Pick<RunningCommand, 'end'>;

/** What is killed in a round. */
type Victim = 'replica' | 'all but one replica' | 'database';
const victims: readonly Victim[] = ['replica', 'all but one replica', 'database'];

interface Cluster {
  replicas: Replica[];
  database: PostgresServer;
  startReplica: () => Promise<Replica>;
}

async function startCluster(t: Test, folder: string): Promise<Cluster> {
  const database = await withPostgresServer(t);
  const seedFile = join(folder, 'seed.json');
  const keys = Array.from({ length: ROUNDS }, (_, round) =>
    Array.from({ length: CLIENTS }, (__, client) => ({ key: keyOf(round, client) })),
  ).flat();
  const settings = { evals: evals.map(({ id }) => id) };
  writeFileSync(seedFile, JSON.stringify({ keys, evals, settings }));
  const startReplica = async (): Promise<Replica> => {
    const options = ['--port', '0', '--json', '--database', database.url, '--seed-file', seedFile];
    const { firstLine, end } = await start(t, ['serve', ...options]);
    return { ...(JSON.parse(firstLine) as ReachedService), end };
  };
  const first = await startReplica();
  const others = await Promise.all(Array.from({ length: REPLICAS - 1 }, startReplica));
  return { replicas: [first, ...others], database, startReplica };
}

/** Kills what a round is about. Returns a function that starts it again. */
async function kill(
  cluster: Cluster,
  victim: Victim,
  chance: Random,
): Promise<() => Promise<void>> {
  const { replicas, database, startReplica } = cluster;
  if (victim === 'database') {
    await database.kill();
    return database.start;
  }
  const kept = chance.integer(0, REPLICAS - 1);
  const killed = replicas.filter((_, nth) => (nth === kept) === (victim === 'replica'));
  await Promise.all(killed.map(({ end }) => end('SIGKILL')));
  return async () => {
    const started = await Promise.all(killed.map(startReplica));
    cluster.replicas = [...replicas.filter((each) => !killed.includes(each)), ...started];
  };
}

interface Round {
  number: number;
  chance: Random;
  dispatcher: Agent;
}

/** Lets all clients send, each request to another replica, and kills while they do. */
async function sendAndKill(
  cluster: Cluster,
  victim: Victim,
  { number, chance, dispatcher }: Round,
): Promise<{ planned: PlannedConversation[]; restart: () => Promise<void> }> {
  const planned: PlannedConversation[] = [];
  const responsesBeforeKill = chance.integer(1, RESPONSES_MAX);
  let responses = 0;
  let killing: Promise<() => Promise<void>> | undefined;
  const onAcknowledged = (): void => {
    responses += 1;
    if (responses === responsesBeforeKill) killing = kill(cluster, victim, chance.fork('victim'));
  };
  const { replicas } = cluster;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const clientChance = chance.fork(`client ${client}`);
      for (let nth = 0; planned.length < CONVERSATIONS_MAX; nth += 1) {
        const startMs = FIRST_ROUND_MS + number * ROUND_MS + clientChance.integer(0, ROUND_MS / 2);
        const id = `r${number}-c${client}-${nth}`;
        const conversation = planConversation(clientChance, id, startMs);
        planned.push(conversation);
        const { url = '' } = replicas[clientChance.integer(0, REPLICAS - 1)] ?? {};
        const route = { url, dispatcher, key: keyOf(number, client), isDatabaseRemote: true };
        if (!(await sendConversation(conversation, route, onAcknowledged))) return;
      }
    }),
  );
  return { planned, restart: (await killing) ?? (() => Promise.resolve()) };
}

/** Sends a conversation to the replicas in turn until it is acknowledged, as an exporter does. */
async function resend(
  cluster: Cluster,
  conversation: PlannedConversation,
  { dispatcher, key }: { dispatcher: Agent; key: string },
): Promise<boolean> {
  const giveUpAtMs = systemClock.monotonicMs() + RESEND_MS_MAX;
  for (let attempt = 0; systemClock.monotonicMs() < giveUpAtMs; attempt += 1) {
    const { url = '' } = cluster.replicas[attempt % REPLICAS] ?? {};
    const route = { url, dispatcher, key, isDatabaseRemote: true };
    if (await sendConversation(conversation, route)) return true;
    await systemClock.sleep(200);
  }
  return false;
}

/** Ends the leases of killed replicas: the clock of all replicas is moved past them. */
async function endLeases({ adminUrl }: ReachedService): Promise<void> {
  const response = await fetch(`${adminUrl}/clock`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ advance_ms: LEASE_ENDS_MS }),
  });
  if (response.status !== 200) throw new Error(await response.text());
}

void t.test(
  'After kill -9 of replicas and the database, nothing acknowledged is lost or duplicated',
  { timeout: 0 },
  async (t) => {
    t.comment(`CRASH_SEED=${CRASH_SEED}`);
    const chance = seededRandom(CRASH_SEED);
    const dispatcher = new Agent();
    t.teardown(() => dispatcher.destroy());
    const folder = mkdtempSync(join(tmpdir(), 'kit-crash-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const cluster = await startCluster(t, folder);
    const totals = { conversations: 0, interrupted: 0, replica: 0, others: 0, database: 0 };
    for (let number = 0; number < ROUNDS; number += 1) {
      const round = { number, chance: chance.fork(`round ${number}`), dispatcher };
      const victim = victims[number % victims.length] ?? 'replica';
      const { planned, restart } = await sendAndKill(cluster, victim, round);
      await restart();
      const interrupted = planned.filter(({ close }) => !close.acknowledged);
      const resent = await Promise.all(
        interrupted.map((conversation, nth) =>
          resend(cluster, conversation, { dispatcher, key: keyOf(number, nth % CLIENTS) }),
        ),
      );
      t.notOk(resent.includes(false), `round ${number}, ${victim}: everything is acknowledged`);
      const [service] = cluster.replicas;
      if (!service) throw new Error('There is no replica.');
      await endLeases(service);
      await drain(service);
      const items = await listSessions(service, number);
      assertScoredOnce(t, planned, items);
      const runs = new Set(items.map((item) => item.evaluation_id));
      t.equal(runs.size, Math.min(1, items.length), 'the day has one run');
      const { queued, repeated } = summarizeEndCalls(planned);
      t.equal(queued, (planned.length - repeated) * evals.length);
      totals.conversations += planned.length;
      totals.interrupted += interrupted.length;
      totals[victim === 'replica' || victim === 'database' ? victim : 'others'] += 1;
      const { total } = await listPage(service, { limit: '1' });
      t.equal(total, totals.conversations, 'earlier sessions remain');
    }
    await Promise.all(cluster.replicas.map(({ end }) => end('SIGTERM')));
    t.comment(`${ROUNDS} rounds`, totals);
    t.ok(totals.interrupted > 0, 'some conversations were interrupted');
  },
);
