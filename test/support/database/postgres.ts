import { createHash, randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Test } from 'tap';
import { migrate } from '../../../src/service/store/postgres/migrate.ts';
import { migratePartitioned } from './partitions.ts';
import { startServerProcess, type ServerOptions, type ServerProcess } from './postgres-server.ts';
import { ROOT } from '../repository.ts';

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
  /** The process id of the server. */
  pid: () => number;
}

/** What a new database contains: nothing, or the tables of the service, in partitions by owner or not. */
type Schema = 'empty' | 'migrated' | 'partitioned';

/** The variable that names the server of the tests, by the URL of a superuser. */
const URL_VARIABLE = 'SANDBOX_KIT_TEST_DATABASE_URL';

/** Enough for the services of all tests that run concurrently. */
const SHARED_SETTINGS = { max_connections: '500' };

let sharedServer: Promise<ServerProcess> | undefined;

/**
 * Runs something with the variable that names a server for all tests, such as a process that runs
 * tests. The server ends with the run, or with this process. A server that the environment already
 * names is used instead.
 */
export async function withDatabaseServer<Result>(
  run: (environment: Record<typeof URL_VARIABLE, string>) => Promise<Result>,
): Promise<Result> {
  const configured = process.env[URL_VARIABLE];
  if (configured !== undefined) return run({ [URL_VARIABLE]: configured });
  const server = await startServerProcess({ settings: SHARED_SETTINGS });
  try {
    return await run({ [URL_VARIABLE]: server.superuserUrl() });
  } finally {
    await server.remove();
  }
}

/**
 * Creates a database on the server that all tests use, and drops it after the test. The server is the
 * one of `withDatabaseServer`, or else one that ends with this process. `SANDBOX_KIT_TEST_DATABASE_URL`
 * names another server (version 15 or later), by the URL of a superuser. The order of texts is that of
 * a dictionary, as in most production databases.
 */
export async function withPostgres(t: Test, schema: Schema = 'empty'): Promise<TestDatabase> {
  const configured = process.env[URL_VARIABLE];
  if (configured === undefined) {
    sharedServer ??= startServerProcess({ settings: SHARED_SETTINGS });
  }
  const server = await sharedServer;
  const superuserUrl = server?.superuserUrl() ?? configured ?? '';
  const database = await createDatabase(superuserUrl, schema);
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
  const { start, stop, kill, pid } = server;
  const create = (): Promise<TestDatabase> => createDatabase(server.superuserUrl(), 'empty');
  return {
    ...(await create()),
    createDatabase: create,
    start,
    stop,
    kill,
    pid,
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

/** The order of texts in all databases. */
const LOCALE = `encoding 'UTF8' locale_provider icu icu_locale 'en-US' locale 'C'`;

async function createDatabase(superuserUrl: string, schema: Schema): Promise<TestDatabase> {
  const template = schema === 'empty' ? undefined : await ensureTemplate(superuserUrl, schema);
  const name = `kit_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await execute(
    superuserUrl,
    `create role ${name} login password '${password}'`,
    `create database ${name} owner ${name} strategy file_copy
       ${template === undefined ? `template template0 ${LOCALE}` : `template ${template.name}`}`,
  );
  const forSuperuser = changeDatabase(superuserUrl, name);
  if (template) await execute(forSuperuser, `reassign owned by ${template.owner} to ${name}`);
  return { name, url: changeRole(forSuperuser, name, password), superuserUrl: forSuperuser };
}

/** A database that new ones are copied from. */
interface Template {
  name: string;
  /** The role that owns its tables. */
  owner: string;
}

/** The templates that this process has found or made, by their server and name. */
const templates = new Map<string, Promise<Template>>();

function ensureTemplate(superuserUrl: string, schema: Exclude<Schema, 'empty'>): Promise<Template> {
  const name = `kit_template_${schema}_${digestSchema()}`;
  const key = `${superuserUrl} ${name}`;
  const known = templates.get(key) ?? makeTemplate(superuserUrl, name, schema);
  templates.set(key, known);
  return known;
}

/** Makes a template, unless another process has made it. */
async function makeTemplate(
  superuserUrl: string,
  name: string,
  schema: Exclude<Schema, 'empty'>,
): Promise<Template> {
  const owner = `${name}_owner`;
  const making = `${name}_making`;
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    // Until this connection ends, other processes wait here.
    await client.query(`select pg_advisory_lock(hashtext('${name}'))`);
    const found = await client.query(`select from pg_database where datname = '${name}'`);
    if (found.rowCount !== 0) return { name, owner };
    const password = randomBytes(12).toString('hex');
    // A process that was killed may have left them.
    await client.query(`drop database if exists ${making} with (force)`);
    await client.query(`drop role if exists ${owner}`);
    await client.query(`create role ${owner} login password '${password}'`);
    await client.query(`create database ${making} owner ${owner} template template0 ${LOCALE}`);
    const url = changeRole(changeDatabase(superuserUrl, making), owner, password);
    await (schema === 'partitioned' ? migratePartitioned(url) : migrate(url));
    // Or else the first copy would also get the template from its owner.
    await client.query(`alter database ${making} owner to current_user`);
    await client.query(`alter database ${making} rename to ${name}`);
    return { name, owner };
  } finally {
    await client.end();
  }
}

/** Returns a digest of the sources on which the tables depend, because a server may outlive them. */
function digestSchema(): string {
  const store = join(ROOT, 'src/service/store');
  const hash = createHash('sha256').update(
    readFileSync(join(import.meta.dirname, 'partitions.ts')),
  );
  for (const file of globSync('**/*.ts', { cwd: store }).sort()) {
    hash.update(readFileSync(join(store, file)));
  }
  return hash.digest('hex').slice(0, 12);
}

function changeDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

function changeRole(url: string, name: string, password: string): string {
  const changed = new URL(url);
  changed.username = name;
  changed.password = password;
  return changed.href;
}
