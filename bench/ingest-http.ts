import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { systemClock } from '../src/platform/clock.ts';
import { startService } from '../src/service/index.ts';
import { execute } from '../test/support/database/postgres.ts';
import { encodeProtobuf } from '../test/support/traces/otlp-wire.ts';
import {
  readChildCpuMicros,
  readCpuMicros,
  readServerCpuMicros,
  reportCpuTime,
} from './cpu-time.ts';
import { addKeys, createTraceRequest, HTTP_SPANS_PER_REQUEST, takeKey } from './trace-requests.ts';

/** The encoding of requests. */
export type Encoding = 'json' | 'protobuf';

const CONNECTIONS = 48;

/** A running service that accepts traces. */
interface Replica {
  url: string;
  adminUrl: string;
  process: ChildProcess;
}

/** The place where the services store spans. */
type HttpTarget = { dataDir: string } | { databaseUrl: string; serverPid?: number };

/** The cost of accepting spans over HTTP. CPU times are in microseconds per span. */
export interface HttpResult {
  spansPerSecond: number;
  generatorCpu: number;
  /** The sum of all replicas. */
  replicasCpu: number;
  /** The processes of PostgreSQL; NaN for SQLite. */
  databaseCpu: number;
  /** Written to the write-ahead log of PostgreSQL. */
  walBytes: number;
  walSyncs: number;
  /** The cores that all of them used on average. */
  cores: number;
}

/**
 * Sends traces to replicas for a time. Each is a separate process, and this process is the load
 * generator.
 */
export async function measureHttp(
  target: HttpTarget,
  { replicas: count, seconds, encoding }: { replicas: number; seconds: number; encoding: Encoding },
): Promise<HttpResult> {
  const replicas: Replica[] = [];
  try {
    for (let nth = 0; nth < count; nth += 1) replicas.push(await startReplica(target));
    await addKeys(replicas[0]?.adminUrl ?? '');
    await send(replicas, 2, encoding);
    const before = await readUsage(replicas, target);
    const startedMs = systemClock.monotonicMs();
    const spans = await send(replicas, seconds, encoding);
    const elapsedS = (systemClock.monotonicMs() - startedMs) / 1_000;
    const after = await readUsage(replicas, target);
    const perSpan = (name: keyof Usage): number => (after[name] - before[name]) / spans;
    const [generatorCpu, replicasCpu] = [perSpan('generatorCpu'), perSpan('replicasCpu')];
    const databaseCpu = perSpan('databaseCpu');
    const totalCpu = generatorCpu + replicasCpu + (databaseCpu || 0);
    return {
      spansPerSecond: spans / elapsedS,
      generatorCpu,
      replicasCpu,
      databaseCpu,
      walBytes: perSpan('walBytes'),
      walSyncs: perSpan('walSyncs'),
      cores: (totalCpu * spans) / elapsedS / 1e6,
    };
  } finally {
    for (const replica of replicas) {
      const exited = once(replica.process, 'exit');
      replica.process.disconnect();
      await exited;
    }
  }
}

async function startReplica(target: HttpTarget): Promise<Replica> {
  const child = fork(import.meta.filename, [
    'serve',
    JSON.stringify({ ...target, serverPid: undefined }),
  ]);
  const [urls] = (await once(child, 'message')) as [{ url: string; adminUrl: string }];
  return { ...urls, process: child };
}

/** Sends requests with several connections, and returns the number of accepted spans. */
async function send(
  replicas: readonly Replica[],
  seconds: number,
  encoding: Encoding,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const endMs = systemClock.monotonicMs() + seconds * 1_000;
  let spans = 0;
  const sendUntilEnd = async (nth: number): Promise<void> => {
    const url = `${replicas[nth % replicas.length]?.url ?? ''}/v1/traces`;
    while (systemClock.monotonicMs() < endMs) {
      const key = takeKey();
      const request = createTraceRequest();
      const body = encoding === 'json' ? JSON.stringify(request) : encodeProtobuf(request);
      await sendTraces(agent, { url, key, encoding, body });
      spans += HTTP_SPANS_PER_REQUEST;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, nth) => sendUntilEnd(nth)));
  agent.destroy();
  return spans;
}

async function sendTraces(
  agent: Agent,
  {
    url,
    key,
    encoding,
    body,
  }: { url: string; key: string; encoding: Encoding; body: string | Buffer },
): Promise<void> {
  const sent = request(url, {
    method: 'POST',
    agent,
    headers: {
      'content-type': `application/${encoding === 'json' ? 'json' : 'x-protobuf'}`,
      'content-length': Buffer.byteLength(body),
      'x-service-api-key': key,
    },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const text = await readText(response);
  if (response.statusCode !== 200) {
    throw new Error(`POST ${url} responded with ${response.statusCode}: ${text}`);
  }
}

interface Usage {
  generatorCpu: number;
  replicasCpu: number;
  databaseCpu: number;
  walBytes: number;
  walSyncs: number;
}

async function readUsage(replicas: readonly Replica[], target: HttpTarget): Promise<Usage> {
  let replicasCpu = 0;
  for (const { process: child } of replicas) {
    replicasCpu += await readChildCpuMicros(child);
  }
  const database = 'databaseUrl' in target ? await readDatabaseUsage(target) : undefined;
  return {
    generatorCpu: readCpuMicros(),
    replicasCpu,
    databaseCpu: database?.cpu ?? NaN,
    walBytes: database?.walBytes ?? NaN,
    walSyncs: database?.walSyncs ?? NaN,
  };
}

async function readDatabaseUsage({
  databaseUrl,
  serverPid = NaN,
}: {
  databaseUrl: string;
  serverPid?: number;
}): Promise<{ cpu: number; walBytes: number; walSyncs: number }> {
  const [row] = await execute(
    databaseUrl,
    'select wal_bytes::float8, wal_sync::float8 from pg_stat_wal',
  );
  return {
    cpu: readServerCpuMicros(serverPid),
    walBytes: Number(row?.['wal_bytes']),
    walSyncs: Number(row?.['wal_sync']),
  };
}

if (process.argv[2] === 'serve') {
  const target = JSON.parse(process.argv[3] ?? '{}') as { dataDir: string };
  const service = await startService(target);
  reportCpuTime();
  process.on('disconnect', () => void service.stop());
  process.send?.({ url: service.url, adminUrl: service.adminUrl });
}
