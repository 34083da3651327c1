import type { Test } from 'tap';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import type { ServiceSetup } from '../../../src/service/app/options.ts';
import { withPostgres } from '../database/postgres.ts';
import { withServices } from './round-robin.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';
import { createServiceUnderTest, START_MS, type ServiceUnderTest } from './service.ts';

/** Replicas of one service in this process, each with its own connections to one database. */
export interface Replicas {
  databaseUrl: string;
  /** Sends each request to the next replica. */
  proxy: ServiceUnderTest;
  replicas: ServiceUnderTest[];
}

/** Starts replicas, by default on a new database, and stops them after the test. */
export async function withReplicas(
  t: Test,
  count: number,
  options: Partial<ServiceSetup> = {},
): Promise<Replicas> {
  const databaseUrl = options.databaseUrl ?? (await withPostgres(t, 'migrated')).url;
  const clock = manualClock(START_MS);
  const settings = { clock, randomSeed: 'test', ...options, databaseUrl };
  const { services, url } = await withServices(t, count, settings);
  const replicas = services.map((service) => createServiceUnderTest(t, { service, clock }));
  const [first] = replicas;
  if (!first) throw new Error('At least one replica is required.');
  return { databaseUrl, replicas, proxy: createServiceUnderTest(t, { ...first, url }) };
}

/** Starts a replica as a process, and kills it after the test. */
export const startReplica = (
  t: Test,
  databaseUrl: string,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Promise<ServiceProcess> =>
  startServiceProcess(t, ['--seed', 'shared', ...args], {
    env: { SANDBOX_KIT_DATABASE_URL: databaseUrl, ...env },
  });
