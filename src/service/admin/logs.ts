import type { FastifyInstance } from 'fastify';
import { formatEntry, type RequestJournal } from '../../http-kit/journal.ts';
import { isoTime } from '../../platform/clock.ts';
import type { Store } from '../store/store.ts';
import type { IngestLogLine } from './controls.ts';
import type { RequestOwners } from './request-owners.ts';

/** The sources of the lists of requests and of their problems. */
export interface LogOptions {
  owners: RequestOwners;
  store: Pick<Store, 'ingestLog'>;
  journal: RequestJournal;
  /** Clears the recorded requests. */
  clearRequests: () => Promise<void>;
}

const INGEST_LOG_ENTRIES_MAX = 1000;

/** Returns the newest entries of an owner's ingest log. */
export async function listIngestLog(
  { store }: Pick<LogOptions, 'store'>,
  ownerId: string,
): Promise<IngestLogLine[]> {
  const entries = await store.ingestLog.list(ownerId, INGEST_LOG_ENTRIES_MAX);
  return entries.map(({ atMs, ...entry }) => ({ at: isoTime(atMs), ...entry }));
}

/** `/ingest-log` and `/requests`: which requests arrived, and problems with their content. */
export function addLogRoutes(
  app: FastifyInstance,
  { store, owners, journal, clearRequests }: LogOptions,
): void {
  app.get('/ingest-log', async (request) => ({
    entries: await listIngestLog({ store }, await owners.find(request)),
  }));
  app.get('/requests', () => ({
    total: journal.totals().requests,
    requests: journal.entries().map(formatEntry),
  }));
  app.delete('/requests', async () => {
    await clearRequests();
    return { cleared: true };
  });
}
