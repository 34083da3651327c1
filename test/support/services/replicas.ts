import type { Test } from 'tap';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import type { ServiceSetup } from '../../../src/service/app/options.ts';
import { start, type RunningProcess } from '../commands/command-process.ts';
import { withPostgres } from '../database/postgres.ts';
import { withServices } from './round-robin.ts';
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

/** A replica in a separate process. */
export interface ReplicaProcess extends RunningProcess {
  url: string;
  apiKey: string;
  adminUrl: string;
  /** Sends a JSON request to `/__admin`, or to another path, and returns the body. */
  request: <Body>(path: string, body?: unknown) => Promise<Body>;
}

/** Starts a replica as a process, and kills it after the test. */
export async function startReplica(
  t: Test,
  databaseUrl: string,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Promise<ReplicaProcess> {
  const command = ['serve', '--port', '0', '--json', '--seed', 'shared', ...args];
  const started = await start(t, command, {
    env: { SANDBOX_KIT_DATABASE_URL: databaseUrl, ...env },
  });
  if (!started.firstLine.startsWith('{')) throw new Error(`A replica ${started.firstLine}`);
  const { url, apiKey, adminUrl } = JSON.parse(started.firstLine) as Record<string, string>;
  const address = { url: url ?? '', apiKey: apiKey ?? '', adminUrl: adminUrl ?? '' };
  return {
    ...started,
    ...address,
    async request<Body>(path: string, body?: unknown) {
      const headers = { 'x-service-api-key': address.apiKey, 'content-type': 'application/json' };
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(address.url + path, { headers, ...init });
      if (response.status !== 200) throw new Error(await response.text());
      return (await response.json()) as Body;
    },
  };
}
