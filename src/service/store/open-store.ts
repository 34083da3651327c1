import { createAgentReportStore } from './agent-reports.ts';
import type { Connections } from './connections.ts';
import { createConversationStore } from './conversations.ts';
import { createDocumentStore } from './documents.ts';
import { createEvalStore } from './evals.ts';
import { createIngestLogStore } from './ingest-log.ts';
import { createJobStore } from './jobs.ts';
import { createOverviewStore } from './overview.ts';
import { createOwnerStore } from './owners.ts';
import { createRecordingStore } from './recordings.ts';
import { createRunStore } from './runs.ts';
import { deleteOwnerData, insertSeedData } from './seed.ts';
import { createSessionStore } from './sessions.ts';
import { createSimulationStore } from './simulations.ts';
import { connect, type StoreFile } from './sqlite/connect.ts';
import { watchFile } from './sqlite/file-identity.ts';
import type { Store } from './store.ts';

/** Options for opening a store. The file is permanent unless `isTemporary` is set. */
export type StoreOptions = Pick<StoreFile, 'file'> & Partial<StoreFile>;

/**
 * Opens the store in a SQLite file, creating the file and its tables if necessary. A file can be open
 * several times, in one process or many.
 * @throws StoreFileError if the file can't be used: it belongs to another program or to a newer
 * version of the kit, or it was emptied, replaced, or damaged.
 */
export async function openStore({ file, isTemporary = false }: StoreOptions): Promise<Store> {
  const connections = connect({ file, isTemporary });
  return Promise.resolve({
    ...createStores(connections),
    describeFileChange: watchFile(file),
    close: () => connections.close(),
  });
}

/** Creates the parts of a store on the connections to a database. */
export function createStores(
  connections: Connections,
): Omit<Store, 'describeFileChange' | 'close'> {
  return {
    owners: createOwnerStore(connections),
    conversations: createConversationStore(connections),
    sessions: createSessionStore(connections),
    simulations: createSimulationStore(connections),
    evals: createEvalStore(connections),
    documents: createDocumentStore(connections),
    agentReports: createAgentReportStore(connections),
    jobs: createJobStore(connections),
    ingestLog: createIngestLogStore(connections),
    overview: createOverviewStore(connections),
    recordings: createRecordingStore(connections),
    runs: createRunStore(connections),
    deleteOwnerData: (ownerId) =>
      connections.writeAlone(ownerId, (db) => deleteOwnerData(db, ownerId)),
    insertSeedData: (seedData) => insertSeedData(connections, seedData),
  };
}
