/** Where services run that crash, what clients send to them, and what must be stored afterwards. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Agent } from 'undici';
import type { Random } from '../../../src/platform/random.ts';
import { start, type ProcessOptions, type RunningProcess } from '../commands/command-process.ts';
import { execute, withPostgres } from '../database/postgres.ts';
import { runSql } from '../database/run-sql.ts';
import { assertStoredOnce, listViolations, watchChanges, type Query } from './crash-audit.ts';
import {
  assertScoredOnce,
  evals,
  FIRST_ROUND_MS,
  listSessions,
  planConversation,
  ROUND_MS,
  sendConversation,
  type PlannedConversation,
  type ReachedService,
} from './crash-clients.ts';
import type { CrashRound } from './crash-rounds.ts';

/** Clients that send at the same time. */
const CLIENTS = 4;

// A key allows 120 requests per minute, so rounds take turns with them.
const KEY_SETS = 60;
/** Returns the key that a client uses in a round. */
const keyOf = (round: number, client: number): string => `client-${client}-${round % KEY_SETS}`;
const SEED = {
  keys: Array.from({ length: KEY_SETS * CLIENTS }, (_, nth) => ({
    key: keyOf(nth % KEY_SETS, Math.floor(nth / KEY_SETS)),
  })),
  evals,
  settings: { evals: evals.map(({ id }) => id) },
};

/** A service in a process. */
export type Service = ReachedService & RunningProcess;

export const hasEnded = ({ child }: Service): boolean =>
  child.exitCode !== null || child.signalCode !== null;

/** Where services run. */
export interface Site {
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

/** Services on a file of SQLite. */
export function createFileSite(t: Test): Site {
  const folder = createFolder(t);
  const args = ['--data', join(folder, 'data'), '--seed-file', join(folder, 'seed.json')];
  const file = join(folder, 'data/service.db');
  const query: Query = (statement) => runSql({ file, readonly: true }, statement);
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

/** Services on a PostgreSQL database. */
export async function createDatabaseSite(t: Test): Promise<Site> {
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

/**
 * Lets each client of a round send conversations, one after the other, until it has sent them all or the
 * service has ended. Returns all that were begun.
 */
export async function runClients(
  { number, chance }: Pick<CrashRound, 'number' | 'chance'>,
  service: Service,
  conversationsPerClient: number,
  sendOne: (
    conversation: PlannedConversation,
    client: { key: string; chance: Random },
  ) => Promise<void>,
): Promise<PlannedConversation[]> {
  const planned: PlannedConversation[] = [];
  const runClient = async (client: number): Promise<void> => {
    const clientChance = chance.fork(`client ${client}`);
    for (let nth = 0; nth < conversationsPerClient && !hasEnded(service); nth += 1) {
      const startMs = FIRST_ROUND_MS + number * ROUND_MS + clientChance.integer(0, ROUND_MS / 2);
      const conversation = planConversation(clientChance, `r${number}-c${client}-${nth}`, startMs);
      planned.push(conversation);
      await sendOne(conversation, { key: keyOf(number, client), chance: clientChance });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => runClient(client)));
  return planned;
}

/** Sends what the conversations of a round lack, to a service that must acknowledge all of it. */
export async function resend(
  t: Test,
  { number }: Pick<CrashRound, 'number'>,
  { url }: Service,
  planned: readonly PlannedConversation[],
  dispatcher: Agent,
): Promise<void> {
  for (const [nth, conversation] of planned.entries()) {
    const key = keyOf(number, nth % CLIENTS);
    t.ok(await sendConversation(conversation, { url, dispatcher, key }), 'resent');
  }
}

/** Asserts that everything that was sent is stored and scored once. */
export async function assertComplete(
  t: Test,
  { number }: Pick<CrashRound, 'number'>,
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
