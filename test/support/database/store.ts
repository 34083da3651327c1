import { join } from 'node:path';
import root, { type Test } from 'tap';
import { openFile } from '../../../src/service/store/sqlite/open-file.ts';
import { openSpanWriter } from '../../../src/service/store/open-span-writer.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { SpanWriter } from '../../../src/service/store/span-writer.ts';
import type { Store, StoreLocation } from '../../../src/service/store/store.ts';
import { withPostgres } from './postgres.ts';

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
interface OpenStore {
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
