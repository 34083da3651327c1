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

/** How to open a store; its file is to be kept unless it says otherwise. */
export type StoreOptions = Pick<StoreFile, 'file'> & Partial<StoreFile>;

/**
 * Opens the store in a SQLite file, which is made, with its tables, if there is none. Several may be
 * open on one file, in one process or many. Throws when the file is another program's or a newer
 * kit's.
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
    insertSeedData: (planting) => insertSeedData(connections.write, planting),
    close: () => connections.close(),
  });
}
