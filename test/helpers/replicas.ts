import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { manualClock } from '../../src/platform/clock.ts';
import type { ServiceSetup } from '../../src/service/app/options.ts';
import { startService } from '../../src/service/index.ts';
import { start, type RunningCommand } from './command.ts';
import { withPostgres } from './postgres.ts';
import { createBench, START_MS, type Bench } from './service.ts';

/** Replicas of one service in this process, each with its own connections to one database. */
export interface Replicas {
  databaseUrl: string;
  /** Sends each request to the next replica. */
  proxy: Bench;
  replicas: Bench[];
}

/** Starts replicas, by default on a new database, and stops them after the test. */
export async function withReplicas(
  t: Test,
  count: number,
  options: Partial<ServiceSetup> = {},
): Promise<Replicas> {
  const databaseUrl = options.databaseUrl ?? (await withPostgres(t)).url;
  const clock = manualClock(START_MS);
  const replicas: Bench[] = [];
  const url = await withRoundRobinProxy(t, () => replicas.map(({ service }) => service.url));
  const settings = { clock, randomSeed: 'test', appUrl: url, ...options, databaseUrl };
  for (let nth = 0; nth < count; nth += 1) {
    const service = await startService(settings);
    t.teardown(() => service.stop());
    replicas.push(createBench(t, { service, clock }));
  }
  const [first] = replicas;
  if (!first) throw new Error('At least one replica is required.');
  return { databaseUrl, replicas, proxy: createBench(t, { ...first, url }) };
}

/** Starts a proxy that sends each request to the next of these URLs, and returns its URL. */
export async function withRoundRobinProxy(t: Test, targets: () => string[]): Promise<string> {
  let count = 0;
  const server = createServer((request, response) => {
    const urls = targets();
    const target = urls[count++ % urls.length] ?? '';
    const { method, headers } = request;
    const forwarded = sendRequest(target + (request.url ?? ''), { method, headers }, (from) => {
      response.writeHead(from.statusCode ?? 502, from.statusMessage, from.rawHeaders);
      from.pipe(response);
      from.once('error', () => response.destroy());
    });
    forwarded.once('error', () => response.destroy());
    response.once('close', () => forwarded.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A replica in a separate process. */
export interface ReplicaProcess extends RunningCommand {
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
