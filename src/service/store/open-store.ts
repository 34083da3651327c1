import { connect } from './sqlite/connect.ts';
import { CHANGED_FILE_HINT, watchFile } from './sqlite/file-identity.ts';
import { createWriteProbe } from './sqlite/write-probe.ts';
import { createStore, type Store, type StoreLocation } from './store.ts';

/**
 * Opens a store, creating its tables if necessary. A file or a database can be open several times, in
 * one process or many.
 * @throws StoreFileError if the file can't be used: it belongs to another program or to a newer
 * version of the kit, or it was emptied, replaced, or damaged.
 * @throws UnsupportedSchemaError if a newer or an unpublished version of the kit wrote the database.
 */
export async function openStore(location: StoreLocation): Promise<Store> {
  if ('databaseUrl' in location) {
    // Only a service on PostgreSQL needs its driver.
    const { openPostgresStore } = await import('./postgres/open-store.ts');
    return openPostgresStore(location.databaseUrl);
  }
  const { file, isTemporary = false } = location;
  const connections = connect({ file, isTemporary });
  const values = new Map<string, string>();
  const describeChange = watchFile(file);
  const probe = createWriteProbe(file);
  return createStore(connections, {
    shareValue(name, value) {
      const shared = values.get(name) ?? value;
      values.set(name, shared);
      return Promise.resolve(shared);
    },
    replicas: undefined,
    spanPartitions: undefined,
    describeFileChange() {
      const change = describeChange();
      return change && `${change} ${CHANGED_FILE_HINT}`;
    },
    ping: () => Promise.resolve(),
    async checkWrites() {
      // A file at the same path may be another one now.
      if (describeChange() === undefined) probe.check();
      return Promise.resolve();
    },
    countConnections: () => undefined,
    close() {
      probe.close();
      return connections.close();
    },
  });
}
