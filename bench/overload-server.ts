/** The servers that `overload.ts` measures. Each runs in a separate process, pinned to one processor. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startAgent } from '../reference-agent/index.ts';
import { startService } from '../src/service/index.ts';
import { pin, SERVER_CPU, startBusyPrograms } from './machine.ts';
import { post } from './post.ts';
import { createDatabase } from './postgres.ts';
import { readMemoryBytes } from './processes.ts';
import { createSeed } from './result-data.ts';
import { addKeys } from './trace-requests.ts';

/** The interfaces that can be measured. */
export const interfaces = ['agent', 'ingest', 'ingest-postgres', 'results', 'pages'] as const;
export type Interface = (typeof interfaces)[number];

/** A running server. */
export interface Server {
  url: string;
  /** Returns the largest memory that the process has used, in bytes; NaN if it is unknown. */
  readPeakBytes: () => number;
  stop: () => Promise<void>;
}

const SESSIONS = 10_000;

/** Programs that share the processor of the agent: the load generator can't offer more than it holds. */
const AGENT_RIVALS = 5;

/** Starts the server of an interface. Returns undefined if the machine lacks its database. */
export async function startServer(name: Interface, dataDir: string): Promise<Server | undefined> {
  const database = name === 'ingest-postgres' ? await createDatabase() : undefined;
  if (name === 'ingest-postgres' && !database) return undefined;
  if (database?.serverPid !== undefined) pin(database.serverPid, SERVER_CPU);
  const location = database ? { databaseUrl: database.url } : { dataDir };
  const child = fork(import.meta.filename, ['serve', name, JSON.stringify(location)]);
  const [{ url, adminUrl }] = (await once(child, 'message')) as [
    { url: string; adminUrl?: string },
  ];
  pin(child.pid, SERVER_CPU);
  if (adminUrl !== undefined) {
    await addKeys(adminUrl);
    const hasSessions = name === 'results' || name === 'pages';
    if (hasSessions) await post(`${adminUrl}/seed`, createSeed(0, SESSIONS));
  }
  const rivals = startBusyPrograms(name === 'agent' ? AGENT_RIVALS : 0, SERVER_CPU);
  return {
    url,
    readPeakBytes: () => readMemoryBytes(child.pid, 'VmHWM'),
    async stop() {
      for (const rival of rivals) rival.kill();
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
      await database?.remove();
    },
  };
}

if (process.argv[2] === 'serve') {
  const [, , , name, location = '{}'] = process.argv;
  const server =
    name === 'agent'
      ? await startAgent()
      : await startService(JSON.parse(location) as { dataDir: string });
  process.on('disconnect', () => void server.stop());
  process.send?.({
    url: server.url,
    ...('adminUrl' in server && { adminUrl: server.adminUrl }),
  });
}
