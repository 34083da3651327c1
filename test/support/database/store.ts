import { join } from 'node:path';
import root, { type Test } from 'tap';
import { openFile } from '../../../src/service/store/sqlite/open-file.ts';
import { openSpanWriter } from '../../../src/service/store/open-span-writer.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { SpanWriter } from '../../../src/service/store/span-writer.ts';
import type {
  CloseRequest,
  NewAgentReport,
  NewRecording,
  NewSession,
  NewSpan,
  TraceRequestRows,
  Outcome,
  Store,
  StoreLocation,
  NewDocument,
  NewSimulation,
} from '../../../src/service/store/store.ts';
import type { EvalDefinition } from '../../../src/contract/index.ts';
import { withPostgres } from './postgres.ts';

/** Noon of 2026-11-20, UTC. */
export const NOON_MS = Date.UTC(2026, 10, 20, 12);
export const noonNs = BigInt(NOON_MS) * 1_000_000n;

/** A database that a service can use. */
export type Database = 'SQLite' | 'PostgreSQL';

/** Whether all tests use PostgreSQL; `npm run test:postgres` sets the variable. */
export const isPostgres = process.env.SANDBOX_KIT_TEST_STORE === 'postgres';

/** Whether the tables in PostgreSQL are partitioned by owner; `npm run test:partitions` sets it. */
const isPartitioned = process.env.SANDBOX_KIT_TEST_PARTITIONS === '1';

/**
 * How many replicas a service of a test has, if it has a database; `npm run test:replicas` sets it to 3.
 */
export const replicaCount = isPostgres ? Number(process.env.SANDBOX_KIT_TEST_REPLICAS ?? 1) : 1;

/** The databases of the tests that run on both. */
const testedDatabases: readonly Database[] = isPostgres ? ['PostgreSQL'] : ['SQLite', 'PostgreSQL'];
const databasesOfTests = new WeakMap<Test, Database>();

/**
 * Runs a test with SQLite and with PostgreSQL: `withStore` opens a store in the one or the other. Tests
 * of the store do so in every run, other tests only run with the database that the environment chooses.
 */
export function testStore(
  title: string,
  run: (t: Test, database: Database) => Promise<void>,
  options: { skip?: string } = {},
): void {
  for (const database of testedDatabases) {
    void root.test(`${title} (${database})`, options, (t) => {
      databasesOfTests.set(t, database);
      return run(t, database);
    });
  }
}

/** A store in a temporary file or database, with a span writer and an owner. */
export interface OpenStore {
  location: StoreLocation;
  store: Store;
  sink: SpanWriter;
  ownerId: string;
}

/** Returns a new file or database for a test. */
export async function newStoreLocation(t: Test): Promise<StoreLocation> {
  const database = databasesOfTests.get(t) ?? (isPostgres ? 'PostgreSQL' : 'SQLite');
  if (database === 'PostgreSQL') return createDatabase(t);
  return { file: join(t.testdir(), 'store.db') };
}

/** Returns the option that gives a service a new database, if the tests use PostgreSQL. */
export async function newDatabaseOption(
  t: Test,
  { dataDir }: { dataDir?: string } = {},
): Promise<{ databaseUrl?: string }> {
  if (!isPostgres || dataDir !== undefined) return {};
  return createDatabase(t);
}

async function createDatabase(t: Test): Promise<{ databaseUrl: string }> {
  const { url } = await withPostgres(t, isPartitioned ? 'partitioned' : 'migrated');
  return { databaseUrl: url };
}

/** Opens a store in a new file or database, and closes it after the test. */
export async function withStore(t: Test): Promise<OpenStore> {
  return openTestStore(t, await newStoreLocation(t));
}

/** Opens a store in a SQLite file, for a test of what only SQLite does. */
export async function withFileStore(t: Test): Promise<OpenStore & { file: string }> {
  const file = join(t.testdir(), 'store.db');
  return { file, ...(await openTestStore(t, { file })) };
}

async function openTestStore(t: Test, location: StoreLocation): Promise<OpenStore> {
  const store = await openStore(location);
  const sink = await openSpanWriter(location);
  t.teardown(async () => {
    await sink.close();
    await store.close();
  });
  return { location, store, sink, ownerId: await store.owners.ensure('development') };
}

/**
 * Opens another connection to the file, and closes it after the test. It uses the library of the store
 * because two copies of SQLite in one process ignore each other's locks and corrupt the file.
 */
export function openDatabase(t: Test, file: string): ReturnType<typeof openFile> {
  const db = openFile(file, { busyMs: 5_000 });
  t.teardown(() => {
    db.close();
  });
  return db;
}

/** Returns the first column of the first row. */
export function readValue(db: ReturnType<typeof openFile>, query: string): unknown {
  return db.prepare(query).pluck().get();
}

/** Returns a new simulation without scenarios. */
export function newSimulation(
  ownerId: string,
  changes: Partial<NewSimulation> = {},
): NewSimulation {
  return {
    ...{ ownerId, name: 'Nightly', seed: 'S', startedAtMs: NOON_MS, secret: 'k', concurrency: 1 },
    ...{ agent: { name: 'Shop', url: 'http://127.0.0.1:1' }, scenarios: [] },
    makeId: (repeat) => `run-${repeat}`,
    ...changes,
  };
}

/** Returns a chat span; its trace id and span id are derived from `id`. */
export function newSpan(id: string, changes: Partial<NewSpan> = {}): NewSpan {
  return {
    conversationId: 'conversation-1',
    traceId: `trace-${id}`,
    spanId: `span-${id}`,
    parentSpanId: undefined,
    operation: 'chat',
    name: 'chat',
    startNs: noonNs,
    endNs: noonNs + 1_000_000_000n,
    failed: false,
    inputMessages: '[]',
    outputMessages: '[]',
    attributes: {},
    ...changes,
  };
}

export function newSpans(
  ownerId: string,
  spans: readonly NewSpan[],
  changes: Partial<TraceRequestRows> = {},
): TraceRequestRows {
  return {
    ownerId,
    receivedAtMs: NOON_MS + 2_000,
    spans,
    tags: [],
    links: [],
    logEntries: [],
    ...changes,
  };
}

export function newEval(id: string, changes: Partial<EvalDefinition> = {}): EvalDefinition {
  return { id, name: `Eval ${id}`, kind: 'max_turns', params: { max: 3 }, ...changes };
}

export function newAgent(id: string, secret: string | undefined): NewDocument {
  const url = `https://${id}.example/agent`;
  const document = { id, name: `Agent ${id}`, url, has_api_key: secret !== undefined };
  return { kind: 'agent', document, secret };
}

/** Returns a request that closes `conversation-1` with two evals. */
export function newCloseRequest(
  ownerId: string,
  changes: Partial<CloseRequest> = {},
): CloseRequest {
  const conversationId = changes.conversationId ?? 'conversation-1';
  return {
    ownerId,
    conversationId,
    atMs: NOON_MS + 60_000,
    runName: (date) => `Live traces ${date}`,
    evals: [newEval('a'), newEval('b')],
    sessionId: `session of ${conversationId}`,
    ...changes,
  };
}

/** Returns the recording of a call of a second. */
export function newRecording(audio: Buffer | undefined = Buffer.from('OggS')): NewRecording {
  const lines = [{ turn: 1, startMs: 0, endMs: 500 }];
  return { audio, summary: { durationMs: 1_000, levelMs: 100, user: [9], agent: [0], lines } };
}

export function newOutcome(evalId: string, outcome: Outcome['outcome'] = 'pass'): Outcome {
  const evalName = `Eval ${evalId}`;
  return {
    ...{ evalId, evalName, category: 'general', type: 'session_level' },
    ...{ outcome, required: true, reasoning: `because of ${evalId}` },
  };
}

/** Returns a completed production session with one passing outcome. */
export function newSession(
  ownerId: string,
  id: string,
  changes: Partial<NewSession> = {},
): NewSession {
  return {
    id,
    ownerId,
    kind: 'production',
    status: 'completed',
    startedAtMs: NOON_MS,
    endedAtMs: NOON_MS + 1_000,
    runName: 'Uploads',
    sourceSessionId: `source of ${id}`,
    ...{ simulation: undefined, agent: undefined, scenario: undefined, persona: undefined },
    ...{ endReason: undefined, turns: [], evals: [] },
    outcomes: [newOutcome('a')],
    ...changes,
  };
}

/** Returns a session of a simulation with a scenario, a persona, and an agent. */
export function newSimulatedSession(
  ownerId: string,
  id: string,
  changes: Partial<NewSession> = {},
): NewSession {
  return newSession(ownerId, id, {
    kind: 'simulation',
    ...{ runName: undefined, sourceSessionId: undefined },
    simulation: { id: 'simulation-1', name: 'Nightly', deleted: false },
    agent: { name: 'Shop', url: 'https://shop.example/agent' },
    ...{ scenario: 'late parcel', persona: 'patient', endReason: 'goal_achieved' },
    ...changes,
  });
}

/** Returns a report of a check about an agent. */
export function newAgentReport(
  agentId: string,
  changes: Partial<NewAgentReport> = {},
): NewAgentReport {
  const summary = {
    ...{ standing: 'pass' as const, verdict: 'Conforming', detail: '9 pass', kitVersion: '0.2.0' },
    ...{ target: `https://${agentId}.example/agent`, endedAt: '2026-11-20T09:30:00Z' },
  };
  return { agentId, kind: 'check', atMs: NOON_MS, summary, report: { of: agentId }, ...changes };
}
