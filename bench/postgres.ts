import { randomBytes } from 'node:crypto';
import { startServerProcess } from '../test/support/database/postgres-server.ts';
import { execute } from '../test/support/database/postgres.ts';

/** A database of a measurement, on a disk. */
export interface BenchDatabase {
  url: string;
  /** The process id of its server; undefined for a server that was running already. */
  serverPid: number | undefined;
  remove: () => Promise<void>;
}

/**
 * Creates a database on a new server, or on the one that `SANDBOX_KIT_TEST_DATABASE_URL` names. A
 * database with the given name may exist already. If this machine has no PostgreSQL, says so and returns
 * undefined.
 */
export async function createDatabase(
  name = `bench_${randomBytes(6).toString('hex')}`,
): Promise<BenchDatabase | undefined> {
  const configured = process.env.SANDBOX_KIT_TEST_DATABASE_URL;
  try {
    const server =
      configured === undefined ? await startServerProcess({ isOnDisk: true }) : undefined;
    const url = new URL(server?.superuserUrl() ?? configured ?? '');
    const found = await execute(url.href, `select from pg_database where datname = '${name}'`);
    if (found.length === 0) {
      await execute(url.href, `create database ${name} template template0 encoding 'UTF8'`);
    }
    const superuserUrl = url.href;
    url.pathname = `/${name}`;
    return {
      url: url.href,
      serverPid: server?.pid(),
      async remove() {
        await execute(superuserUrl, `drop database ${name} with (force)`);
        await server?.remove();
      },
    };
  } catch (error) {
    console.log(`skipped: PostgreSQL. ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
