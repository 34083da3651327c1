/** Starts what a long run needs: services, their database, and a reference agent. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import type { Test } from 'tap';
import type { Dialect } from '../../../src/service/store/schema/table.ts';
import { withPostgresServer } from '../database/postgres.ts';
import type { ServiceAddress } from '../services/service-process.ts';
import { copyKit, startMeasured, type MeasuredProcess } from './measured-process.ts';
import { createFileDatabase, createServerDatabase, type SoakDatabase } from './soak-database.ts';

/** A service in a process. */
export interface SoakService extends MeasuredProcess {
  address: ServiceAddress;
}

/** What a long run needs. */
export interface SoakSite {
  /** The service that runs from the beginning to the end. */
  service: SoakService;
  agent: MeasuredProcess & { address: { url: string; voiceUrl?: string } };
  database: SoakDatabase;
  /** The services that accept requests now, the permanent one first. */
  listRunning: () => ServiceAddress[];
  /** Starts a second replica; undefined without a shared database. */
  startReplica: (() => Promise<void>) | undefined;
  /** Ends the second replica. */
  endReplica: (signal: NodeJS.Signals) => Promise<void>;
}

/** The shortest retention. */
const RETENTION = '2d';

/** Starts everything, and stops it after the test. */
export async function startSoakSite(
  t: Test,
  { dialect, preloads }: { dialect: Dialect; preloads: readonly string[] },
): Promise<SoakSite> {
  const folder = mkdtempSync(join(tmpdir(), 'kit-soak-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const program = copyKit(join(folder, 'kit'));
  const data = join(folder, 'data');
  const { database, args, env } =
    dialect === 'sqlite'
      ? {
          database: createFileDatabase(join(data, 'service.db')),
          args: ['--data', data],
          env: {},
        }
      : await startDatabase(t);
  const startService = async (more: readonly string[]): Promise<SoakService> => {
    const command = ['serve', '--port', '0', '--json', '--retention', RETENTION, ...args];
    const started = await startMeasured(t, program, command, { env, preloads: more });
    return { ...started, address: JSON.parse(started.firstLine) as ServiceAddress };
  };
  const service = await startService(preloads);
  const agent = await startMeasured(t, program, ['agent', '--port', '0', '--json']);
  let replica: SoakService | undefined;
  return {
    service,
    agent: { ...agent, address: JSON.parse(agent.firstLine) as { url: string; voiceUrl?: string } },
    database,
    listRunning: () => [service.address, ...(replica ? [replica.address] : [])],
    startReplica:
      dialect === 'sqlite'
        ? undefined
        : async () => {
            replica = await startService([]);
          },
    async endReplica(signal) {
      if (!replica) return;
      const { child } = replica;
      replica = undefined;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}

async function startDatabase(t: Test) {
  const server = await withPostgresServer(t, { isOnDisk: true });
  return {
    database: createServerDatabase(server, server.pid),
    args: [],
    env: { SANDBOX_KIT_DATABASE_URL: server.url },
  };
}
