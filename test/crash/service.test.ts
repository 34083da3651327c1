/**
 * `kill -9` of a service at named points of its transactions, while clients send spans and close
 * conversations: on SQLite and on PostgreSQL, alone and as one of three replicas.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { Agent } from 'undici';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import {
  start,
  type ProcessOptions,
  type RunningProcess,
} from '../support/commands/command-process.ts';
import {
  assertStoredOnce,
  listViolations,
  watchChanges,
  type Query,
} from '../support/crashes/crash-audit.ts';
import {
  assertScoredOnce,
  drain,
  evals,
  FIRST_ROUND_MS,
  listSessions,
  planConversation,
  ROUND_MS,
  sendConversation,
  type PlannedConversation,
  type ReachedService,
} from '../support/crashes/crash-clients.ts';
import { servicePoints } from '../support/crashes/crash-points.ts';
import { countRounds, runRounds, type CrashRound } from '../support/crashes/crash-rounds.ts';
import { execute, withPostgres } from '../support/database/postgres.ts';

const ROUNDS = countRounds(66, 6);
const CLIENTS = 4;
const CONVERSATIONS_PER_CLIENT = 10;
const PAUSE_MS = 20;
/** How long a client repeats its requests when the others must have taken over. */
const REPEAT_MS_MAX = 60_000;

// A key allows 120 requests per minute, so rounds take turns with them.
const KEY_SETS = 60;
const keyOf = (round: number, client: number): string => `client-${client}-${round % KEY_SETS}`;
const SEED = {
  keys: Array.from({ length: KEY_SETS * CLIENTS }, (_, nth) => ({
    key: keyOf(nth % KEY_SETS, Math.floor(nth / KEY_SETS)),
  })),
  evals,
  settings: { evals: evals.map(({ id }) => id) },
};

type Service = ReachedService & RunningProcess;

/** Where services run. */
interface Site {
  /** Starts a service; undefined if it ended before it listened. */
  start: (options?: ProcessOptions) => Promise<Service | undefined>;
  query: Query;
  /** Lets the leases of killed processes end. */
  endLeases: () => Promise<void>;
  /** Returns what is wrong with the database itself. */
  findDamage: () => Promise<unknown[]>;
}

async function startService(
  t: Test,
  args: readonly string[],
  options: ProcessOptions,
): Promise<Service | undefined> {
  const running = await start(t, ['serve', '--port', '0', '--json', ...args], options);
  if (running.firstLine.startsWith('{')) {
    return { ...running, ...(JSON.parse(running.firstLine) as ReachedService) };
  }
  if (running.child.signalCode !== 'SIGKILL') throw new Error(running.firstLine);
  return undefined;
}

function createFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'kit-crash-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'seed.json'), JSON.stringify(SEED));
  return folder;
}

function createFileSite(t: Test): Site {
  const folder = createFolder(t);
  const args = ['--data', join(folder, 'data'), '--seed-file', join(folder, 'seed.json')];
  const query: Query = (statement) => {
    const db = new Sqlite(join(folder, 'data/service.db'), { readonly: true });
    try {
      return Promise.resolve(db.prepare<[], Record<string, unknown>>(statement).all());
    } finally {
      db.close();
    }
  };
  return {
    start: (options = {}) => startService(t, args, options),
    query,
    // The next process releases the jobs of the one before.
    endLeases: () => Promise.resolve(),
    async findDamage() {
      const [checked] = await query('pragma integrity_check');
      const problems = checked?.['integrity_check'] === 'ok' ? [] : [checked];
      return [...problems, ...(await query('pragma foreign_key_check'))];
    },
  };
}

async function createDatabaseSite(t: Test): Promise<Site> {
  const { url } = await withPostgres(t, 'migrated');
  await watchChanges(url);
  const args = ['--seed', 'shared', '--seed-file', join(createFolder(t), 'seed.json')];
  return {
    start: (options = {}) =>
      startService(t, args, {
        ...options,
        env: { ...options.env, SANDBOX_KIT_DATABASE_URL: url },
      }),
    query: (statement) => execute(url, statement),
    async endLeases() {
      await execute(url, `update jobs set due_at_ms = 0 where state = 'taken'`);
    },
    findDamage: () => listViolations(url),
  };
}

/** Lets clients send to a victim and to other replicas until the victim is killed, or all is sent. */
async function sendUntilKilled(
  { number, chance }: CrashRound,
  victim: Service,
  others: readonly Service[],
  dispatcher: Agent,
): Promise<PlannedConversation[]> {
  const planned: PlannedConversation[] = [];
  const hasEnded = (): boolean =>
    victim.child.exitCode !== null || victim.child.signalCode !== null;
  const runClient = async (client: number): Promise<void> => {
    const clientChance = chance.fork(`client ${client}`);
    for (let nth = 0; nth < CONVERSATIONS_PER_CLIENT && !hasEnded(); nth += 1) {
      const startMs = FIRST_ROUND_MS + number * ROUND_MS + clientChance.integer(0, ROUND_MS / 2);
      const id = `r${number}-c${client}-${nth}`;
      const conversation = planConversation(clientChance, id, startMs);
      planned.push(conversation);
      const giveUpAtMs = systemClock.monotonicMs() + REPEAT_MS_MAX;
      for (;;) {
        const services = hasEnded() ? others : [victim, ...others];
        const service = services[clientChance.integer(0, services.length - 1)];
        // The caller sends the rest to the next process.
        if (!service) return;
        const key = keyOf(number, client);
        if (await sendConversation(conversation, { url: service.url, dispatcher, key })) break;
        if (systemClock.monotonicMs() > giveUpAtMs) throw new Error('Nothing is acknowledged.');
        await systemClock.sleep(PAUSE_MS);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => runClient(client)));
  return planned;
}

/** Asserts that everything that was sent is stored and scored once. */
async function assertComplete(
  t: Test,
  { number }: CrashRound,
  site: Site,
  service: Service,
  planned: PlannedConversation[],
): Promise<void> {
  const items = await listSessions(service, FIRST_ROUND_MS + number * ROUND_MS, ROUND_MS);
  assertScoredOnce(t, planned, items);
  const expected = { prefix: `r${number}-`, evalCount: evals.length };
  await assertStoredOnce(t, site.query, planned, expected);
  t.same(await site.findDamage(), [], 'the database is intact');
}

async function runServiceRounds(t: Test, site: Site, replicas: number, rounds: number) {
  const dispatcher = new Agent();
  t.teardown(() => dispatcher.destroy());
  const started = await Promise.all(Array.from({ length: replicas - 1 }, () => site.start()));
  const others = started.filter((service) => service !== undefined);
  let acknowledged = 0;
  await runRounds(t, rounds, servicePoints, async (round) => {
    const victim = await site.start(round.options);
    const planned = victim ? await sendUntilKilled(round, victim, others, dispatcher) : [];
    const wasKilled = !victim || victim.child.signalCode === 'SIGKILL';
    round.record(wasKilled);
    await victim?.end('SIGKILL');
    const service = others[0] ?? (await site.start());
    if (!service) throw new Error('A service that has no crash point ended.');
    for (const [nth, conversation] of planned.entries()) {
      const all = [...conversation.traces, conversation.close];
      acknowledged += all.filter((request) => request.acknowledged).length;
      const key = keyOf(round.number, nth % CLIENTS);
      t.ok(await sendConversation(conversation, { url: service.url, dispatcher, key }), 'resent');
    }
    await site.endLeases();
    await drain(service);
    await assertComplete(t, round, site, service, planned);
    if (replicas === 1) await service.end('SIGKILL');
    for (const { child } of others) {
      t.same([child.exitCode, child.signalCode], [null, null], 'only the victim ended');
    }
  });
  t.comment(`${acknowledged} requests were acknowledged before a kill; none was lost or doubled.`);
}

const perSite = Math.ceil(ROUNDS / 3);

void t.test('one process on SQLite, killed at its points', { timeout: 0 }, (t) =>
  runServiceRounds(t, createFileSite(t), 1, perSite),
);

void t.test('one process on PostgreSQL, killed at its points', { timeout: 0 }, async (t) => {
  await runServiceRounds(t, await createDatabaseSite(t), 1, perSite);
});

void t.test('one of three replicas, killed at its points', { timeout: 0 }, async (t) => {
  await runServiceRounds(t, await createDatabaseSite(t), 3, perSite);
});
