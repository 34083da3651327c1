import type { OwnerStore } from './store/store.ts';

/** An owner store that remembers the ids of all owners that came by since the start. */
export interface OwnersMet extends OwnerStore {
  ids: () => Iterable<string>;
}

/**
 * Remembers the owners that a process has met. Who opens a session page on this machine names no
 * owner, and the store lists none.
 */
export function ownersMet(owners: OwnerStore): OwnersMet {
  const met = new Set<string>();
  return {
    ...owners,
    ids: () => met,
    async ensure(name) {
      const id = await owners.ensure(name);
      met.add(id);
      return id;
    },
    async byKey(keyDigest) {
      const found = await owners.byKey(keyDigest);
      if (found) met.add(found.ownerId);
      return found;
    },
  };
}
