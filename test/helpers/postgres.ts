import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Test } from 'tap';
import { startServerProcess, type ServerOptions, type ServerProcess } from './postgres-server.ts';

/** A database for one test. */
export interface TestDatabase {
  /** The URL for the owner of the database, a role without any other right. */
  url: string;
  /** The URL for a role that may do everything. */
  superuserUrl: string;
  /** The name of the database, and of the role that owns it. */
  name: string;
}

/** A database on a server that no other test uses. */
export interface PostgresServer extends TestDatabase {
  /** Creates another database. */
  createDatabase: () => Promise<TestDatabase>;
  /** Closes all connections, and stops the server. */
  stop: () => Promise<void>;
  /** Starts the server again after `stop` or `kill`, at the same URLs. */
  start: () => Promise<void>;
  restart: () => Promise<void>;
  /** Kills the server with SIGKILL. */
  kill: () => Promise<void>;
}

let sharedServer: Promise<ServerProcess> | undefined;

/**
 * Creates a database on the server that all tests of this process use, and drops it after the test.
 * `SANDBOX_KIT_TEST_DATABASE_URL` names another server (version 15 or later), by the URL of a
 * superuser. The order of texts is that of a dictionary, as in most production databases.
 */
export async function withPostgres(t: Test): Promise<TestDatabase> {
  const configured = process.env.SANDBOX_KIT_TEST_DATABASE_URL;
  if (configured === undefined) sharedServer ??= startServerProcess({});
  const server = await sharedServer;
  const superuserUrl = server?.superuserUrl() ?? configured ?? '';
  const database = await createDatabase(superuserUrl);
  const { name } = database;
  t.teardown(() =>
    execute(superuserUrl, `drop database if exists ${name} with (force)`, `drop role ${name}`),
  );
  return database;
}

/** Starts a server with a database for a test that stops it or changes its settings. */
export async function withPostgresServer(
  t: Test,
  options: ServerOptions = {},
): Promise<PostgresServer> {
  const server = await startServerProcess(options);
  t.teardown(server.remove);
  const { start, stop, kill } = server;
  const create = (): Promise<TestDatabase> => createDatabase(server.superuserUrl());
  return {
    ...(await create()),
    createDatabase: create,
    ...{ start, stop, kill },
    async restart() {
      await stop();
      await start();
    },
  };
}

/** Runs statements one after the other with one connection. Returns the rows of the last one. */
export async function execute(
  url: string,
  ...statements: string[]
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) {
      ({ rows } = await client.query<Record<string, unknown>>(statement));
    }
    return rows;
  } finally {
    await client.end();
  }
}

async function createDatabase(superuserUrl: string): Promise<TestDatabase> {
  const name = `kit_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await execute(
    superuserUrl,
    `create role ${name} login password '${password}'`,
    `create database ${name} owner ${name} template template0 encoding 'UTF8'
       locale_provider icu icu_locale 'en-US' locale 'C'`,
  );
  const forSuperuser = new URL(superuserUrl);
  forSuperuser.pathname = `/${name}`;
  const forOwner = new URL(forSuperuser);
  forOwner.username = name;
  forOwner.password = password;
  return { name, url: forOwner.href, superuserUrl: forSuperuser.href };
}
