import { connect, type StoreFile } from './connect.ts';
import { conversationStore } from './conversations.ts';
import { documentStore } from './documents.ts';
import { evalStore } from './evals.ts';
import { ingestLogStore } from './ingest-log.ts';
import { jobStore } from './jobs.ts';
import { ownerStore } from './owners.ts';
import { deleteOwnerData, insertSeedData } from './seed.ts';
import { sessionStore } from './sessions.ts';
import { simulationStore } from './simulations.ts';
import type { Store } from './store.ts';

/** Options for opening a store. The file is permanent unless `isTemporary` is set. */
export type StoreOptions = Pick<StoreFile, 'file'> & Partial<StoreFile>;

/**
 * Opens the store in a SQLite file, creating the file and its tables if necessary. A file can be open
 * several times, in one process or many.
 * @throws ForeignFileError if the file belongs to another program or to a newer version of the kit.
 */
export async function openStore({ file, isTemporary = false }: StoreOptions): Promise<Store> {
  const connections = connect({ file, isTemporary });
  return Promise.resolve({
    owners: ownerStore(connections),
    conversations: conversationStore(connections),
    sessions: sessionStore(connections),
    simulations: simulationStore(connections),
    evals: evalStore(connections),
    documents: documentStore(connections),
    jobs: jobStore(connections),
    ingestLog: ingestLogStore(connections),
    deleteOwnerData: (ownerId) => connections.write((db) => deleteOwnerData(db, ownerId)),
    insertSeedData: (seedData) => insertSeedData(connections.write, seedData),
    close: () => connections.close(),
  });
}
