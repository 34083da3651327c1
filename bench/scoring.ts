/**
 * Measures how many sessions per second the job runner scores with evals that need no model, on SQLite
 * and PostgreSQL, against scoring the same sessions in memory: what reading sessions, building their
 * turns, and writing outcomes adds. Usage: `node bench/scoring.ts [ROUNDS]` (default: 5; half a minute).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EvalDefinition } from '../src/contract/index.ts';
import { systemClock } from '../src/platform/clock.ts';
import { silentLog } from '../src/platform/log.ts';
import { scoreSession } from '../src/service/scoring/eval-kinds.ts';
import { startJobRunner } from '../src/service/scoring/job-runner.ts';
import {
  findScoredSession,
  holdScorable,
  readScoredSessions,
} from '../src/service/sessions/transcripts.ts';
import type { ScoredSession } from '../src/service/sessions/scored-session.ts';
import { openSpanWriter } from '../src/service/store/open-span-writer.ts';
import { openStore } from '../src/service/store/open-store.ts';
import type { Store, StoreLocation } from '../src/service/store/store.ts';
import { execute } from '../test/support/database/postgres.ts';
import { newSpan } from '../test/support/database/rows.ts';
import { measureCosts } from './cpu-time.ts';
import { describeMachine, median } from './machine.ts';
import { createDatabase } from './postgres.ts';

const SESSIONS_PER_ROUND = 1_000;
const TURNS = 5;

const evals: EvalDefinition[] = [
  { id: 'status', name: 'States the status', kind: 'contains', params: { text: 'on its way' } },
  { id: 'brief', name: 'Brief', kind: 'max_turns', params: { max: TURNS } },
  { id: 'quick', name: 'Quick', kind: 'max_latency', params: { ms: 5_000 } },
];

const atMs = Date.UTC(2026, 10, 20, 12);
const textOf = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });

/** Stores closed conversations of five turns each, whose evals are queued, and returns their sessions. */
async function fill(store: Store, location: StoreLocation, round: number): Promise<string[]> {
  const ownerId = await store.owners.ensure('bench');
  const writer = await openSpanWriter(location);
  const ids = Array.from({ length: SESSIONS_PER_ROUND }, (_, nth) => `c-${round}-${nth}`);
  for (const conversationId of ids) {
    const history: unknown[] = [];
    const spans = Array.from({ length: TURNS }, (_, nth) => {
      history.push(textOf('user', `Question ${nth}: where is my order A-${1000 + nth}?`));
      const reply = textOf('assistant', `Order A-${1000 + nth} is on its way. `.repeat(8));
      const inputMessages = JSON.stringify(history);
      history.push(reply);
      const startNs = BigInt(atMs + nth * 1_000) * 1_000_000n;
      return newSpan(`${conversationId}-${nth}`, {
        conversationId,
        startNs,
        endNs: startNs + 800_000_000n,
        inputMessages,
        outputMessages: JSON.stringify([reply]),
      });
    });
    const rows = { ownerId, receivedAtMs: atMs, spans, tags: [], links: [], logEntries: [] };
    const [result] = await writer.insert([rows]);
    if (result instanceof Error) throw result;
    await store.conversations.close({
      ownerId,
      conversationId,
      atMs,
      runName: (date) => `Production ${date}`,
      evals,
      sessionId: `session-${conversationId}`,
    });
  }
  await writer.close();
  return ids.map((id) => `session-${id}`);
}

/** The cost of scoring. CPU times are in microseconds per session. */
interface Cost {
  perSecond: number;
  cpu: number;
  /** NaN without a database server. */
  databaseCpu: number;
}

async function measure(run: () => Promise<unknown>, serverPid?: number): Promise<Cost> {
  const { elapsedS, cpuMicros, databaseCpuMicros } = await measureCosts(run, serverPid);
  return {
    perSecond: SESSIONS_PER_ROUND / elapsedS,
    cpu: cpuMicros / SESSIONS_PER_ROUND,
    databaseCpu: databaseCpuMicros / SESSIONS_PER_ROUND,
  };
}

async function scoreInMemory(sessions: readonly ScoredSession[]): Promise<void> {
  for (const session of sessions) {
    for (const definition of evals) {
      await scoreSession(definition, session, undefined, new AbortController().signal);
    }
  }
}

async function run(name: string, location: StoreLocation, serverPid?: number): Promise<void> {
  const store = await openStore(location);
  const ownerId = await store.owners.ensure('bench');
  const costs: { runner: Cost; reads: Cost; memory: Cost }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const sessionIds = await fill(store, location, round);
    // The server does it once a minute; without statistics, it plans badly.
    if ('databaseUrl' in location) await execute(location.databaseUrl, 'analyze');
    const sessions: ScoredSession[] = [];
    const reads = await measure(async () => {
      for (const id of sessionIds) {
        const session = await findScoredSession(store, ownerId, id);
        if (session) sessions.push(session);
      }
    }, serverPid);
    const memory = await measure(() => scoreInMemory(sessions));
    const runner = await measure(async () => {
      const jobRunner = startJobRunner({
        store,
        judge: undefined,
        clock: systemClock,
        log: silentLog,
        readSession: (owner, id) => findScoredSession(store, owner, id),
        readSessions: (owner, ids) => readScoredSessions(store, owner, ids),
        holdMemory: (owner, id) => holdScorable(store, owner, id),
        worker: `bench-${round}`,
      });
      await jobRunner.drain();
      await jobRunner.stop();
    }, serverPid);
    costs.push({ runner, reads, memory });
  }
  for (const part of ['runner', 'reads', 'memory'] as const) {
    const medianOf = (field: keyof Cost): string => {
      const value = median(costs.map((each) => each[part][field]));
      return Number.isNaN(value) ? '' : value.toFixed(0);
    };
    const values = [medianOf('perSecond'), medianOf('cpu'), medianOf('databaseCpu')];
    console.log([`${name} ${part}`, ...values].map((text) => text.padStart(18)).join(''));
  }
  await store.close();
}

const [rounds = 5] = process.argv.slice(2).map(Number);
console.log(describeMachine());
console.log(
  `${evals.length} evals per session of ${TURNS} turns: sessions/s, CPU in us per session of the process, of the database`,
);
const directory = mkdtempSync(join(tmpdir(), 'bench-scoring-'));
await run('sqlite', { file: join(directory, 'scoring.db') });
rmSync(directory, { recursive: true });
const database = await createDatabase();
if (database) {
  await run('postgres', { databaseUrl: database.url }, database.serverPid);
  await database.remove();
}
