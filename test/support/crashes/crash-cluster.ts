/** Replicas and their database, which are killed or disturbed while clients use them. */
import type { Test } from 'tap';
import type { Random } from '../../../src/platform/random.ts';
import {
  withDatabaseProxy,
  type CommitFate,
  type DatabaseProxy,
} from '../database/database-proxy.ts';
import { execute, withPostgresServer, type PostgresServer } from '../database/postgres.ts';
import { startReplica } from '../services/replicas.ts';
import type { ServiceProcess } from '../services/service-process.ts';
import { until } from '../until.ts';

/** Several replicas on a new database. */
export interface Cluster {
  /** Those that run, and those that were killed until another one replaces them. */
  replicas: ServiceProcess[];
  /** The URLs of all replicas that were killed. Only they may refuse connections. */
  killedUrls: Set<string>;
  /** What all replicas that were killed wrote to stderr. */
  earlierLogs: string[];
  database: PostgresServer;
  /** Between the replicas and the database. */
  proxy: DatabaseProxy;
  startReplica: () => Promise<ServiceProcess>;
}

/** Starts a cluster, and stops it after the test. */
export async function startCluster(
  t: Test,
  count: number,
  options: Parameters<typeof startReplica>[2],
): Promise<Cluster> {
  const database = await withPostgresServer(t);
  const url = new URL(database.url);
  const proxy = await withDatabaseProxy(t, Number(url.port));
  url.port = String(proxy.port);
  const start = () => startReplica(t, url.href, options);
  // The first one creates the tables.
  const replicas = [await start()];
  replicas.push(...(await Promise.all(Array.from({ length: count - 1 }, start))));
  const others = { killedUrls: new Set<string>(), earlierLogs: [] };
  return { replicas, ...others, database, proxy, startReplica: start };
}

/** Kills or disturbs something. Returns a function that repairs it. */
type Disturb = (cluster: Cluster, chance: Random) => Promise<() => Promise<void>>;

/** What can be killed or disturbed. */
export const disturbances: Readonly<Record<string, Disturb>> = {
  'a replica': (cluster, chance) => {
    const nth = chance.integer(0, cluster.replicas.length - 1);
    return killReplicas(cluster, cluster.replicas.slice(nth, nth + 1));
  },
  'the database': (cluster) => killDatabase(cluster),
  'all but one replica': (cluster, chance) => {
    const kept = chance.integer(0, cluster.replicas.length - 1);
    return killReplicas(cluster, cluster.replicas.toSpliced(kept, 1));
  },
  // PostgreSQL then ends all other connections, and recovers from its log.
  'a process of the database': async ({ database }, chance) => {
    const rows = await execute(
      database.superuserUrl,
      `select pid from pg_stat_activity where usename = '${database.name}' order by pid`,
    );
    const pid = rows[chance.integer(0, rows.length - 1)]?.['pid'];
    process.kill(Number(pid), 'SIGKILL');
    return () => Promise.resolve();
  },
  'the database and all replicas': async (cluster) => {
    const [startDatabase, startReplicas] = await Promise.all([
      killDatabase(cluster),
      killReplicas(cluster, cluster.replicas),
    ]);
    return async () => {
      await startDatabase();
      await startReplicas();
    };
  },
  // The replicas can't know whether such a transaction took effect.
  'connections during commits': ({ proxy }, chance) => {
    const fates: readonly CommitFate[] = ['passed', 'cut before', 'cut after'];
    proxy.setCommitFate(() => fates[chance.integer(0, fates.length - 1)] ?? 'passed');
    return Promise.resolve(() => {
      proxy.setCommitFate(() => 'passed');
      return Promise.resolve();
    });
  },
  'the speed of the network': ({ proxy }, chance) => {
    proxy.setDelay(chance.integer(20, 150));
    return Promise.resolve(() => {
      proxy.setDelay(0);
      return Promise.resolve();
    });
  },
};

async function killDatabase({ database }: Cluster): Promise<() => Promise<void>> {
  await database.kill();
  return database.start;
}

async function killReplicas(
  cluster: Cluster,
  killed: readonly ServiceProcess[],
): Promise<() => Promise<void>> {
  for (const { url } of killed) cluster.killedUrls.add(url);
  await Promise.all(killed.map(({ end }) => end('SIGKILL')));
  return async () => {
    const started = await Promise.all(killed.map(cluster.startReplica));
    cluster.earlierLogs.push(...killed.map(({ stderrSoFar }) => stderrSoFar()));
    cluster.replicas = [...cluster.replicas.filter((each) => !killed.includes(each)), ...started];
  };
}

/** Waits until all replicas say that they are ready. */
export async function waitUntilReady({ replicas }: Cluster): Promise<void> {
  await Promise.all(
    replicas.map(({ url }) =>
      until('a replica is ready', async () => (await fetch(`${url}/ready`)).status === 200),
    ),
  );
}

/** Returns how often each event of level `error` occurs in the logs of all replicas. */
export function countErrors({ replicas, earlierLogs }: Cluster): Record<string, number> {
  const counts: Record<string, number> = {};
  const logs = [...earlierLogs, ...replicas.map(({ stderrSoFar }) => stderrSoFar())];
  for (const line of logs.flatMap((log) => log.split('\n'))) {
    if (line === '') continue;
    const event = readError(line);
    if (event !== undefined) counts[event] = (counts[event] ?? 0) + 1;
  }
  return counts;
}

const ERROR_LEVEL = 50;

/** Returns the event of a line; the line itself if it is not of the log, as after a crash. */
function readError(line: string): string | undefined {
  try {
    const { level, msg } = JSON.parse(line) as { level: number; msg: string };
    return level >= ERROR_LEVEL ? msg : undefined;
  } catch {
    return line;
  }
}
