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
import { createRetentionStore } from './retention.ts';
import { createRunStore } from './runs.ts';
import { deleteOwnerData, insertSeedData } from './seed.ts';
import { createSessionStore } from './sessions.ts';
import { createSimulationStore } from './simulations.ts';
import type { Store } from './store.ts';

/** Creates the parts of a store on the connections to a database. */
export function createStores(
  connections: Connections,
): Omit<
  Store,
  | 'describeFileChange'
  | 'spanPartitions'
  | 'ping'
  | 'countConnections'
  | 'shareValue'
  | 'replicas'
  | 'close'
> {
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
    retention: createRetentionStore(connections),
    deleteOwnerData: (ownerId) =>
      connections.writeAlone(ownerId, (db) => deleteOwnerData(db, ownerId, connections.dialect)),
    insertSeedData: (seedData) => insertSeedData(connections, seedData),
  };
}
