/** Replicas and their database, which are killed and started again while clients use them. */
import type { Test } from 'tap';
import type { Random } from '../../src/platform/random.ts';
import { execute, withPostgresServer, type PostgresServer } from './postgres.ts';
import { startReplica, type ReplicaProcess } from './replicas.ts';
import { until } from './until.ts';

/** Several replicas on a database of their own. */
export interface Cluster {
  /** Those that run, and those that were killed until another one replaces them. */
  replicas: ReplicaProcess[];
  /** The URLs of all replicas that were killed. Only they may refuse connections. */
  killedUrls: Set<string>;
  /** What all replicas that were killed wrote to stderr. */
  earlierLogs: string[];
  database: PostgresServer;
  startReplica: () => Promise<ReplicaProcess>;
}

/** Starts a cluster, and stops it after the test. */
export async function startCluster(
  t: Test,
  count: number,
  options: Parameters<typeof startReplica>[2],
): Promise<Cluster> {
  const database = await withPostgresServer(t);
  const start = () => startReplica(t, database.url, options);
  // The first one creates the tables.
  const replicas = [await start()];
  replicas.push(...(await Promise.all(Array.from({ length: count - 1 }, start))));
  const startedReplica = { database, startReplica: start };
  return { replicas, killedUrls: new Set(), earlierLogs: [], ...startedReplica };
}

/** Kills something with SIGKILL. Returns a function that starts it again, if that is necessary. */
export type Kill = (cluster: Cluster, chance: Random) => Promise<() => Promise<void>>;

/** What can be killed. */
export const kills: Readonly<Record<string, Kill>> = {
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
};

async function killDatabase({ database }: Cluster): Promise<() => Promise<void>> {
  await database.kill();
  return database.start;
}

async function killReplicas(
  cluster: Cluster,
  killed: readonly ReplicaProcess[],
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
