/** When traces of an owner were accepted since the service started, or was reset. */
export interface TraceTimes {
  firstMs: number;
  newestMs: number;
}

/** Remembers when traces were accepted: what a problem of earlier requests is compared with. */
export interface AcceptedTraces {
  /** Records that a request stored spans. @param receivedAtMs When the request was received. */
  record(ownerId: string, receivedAtMs: number): void;
  /** Returns undefined if no traces of the owner were accepted. */
  find(ownerId: string): TraceTimes | undefined;
  clear(): void;
}

/** The owners whose traces are remembered. Beyond it, the first one is forgotten. */
const OWNERS_MAX = 1_000;

/** Creates the memory of a service. */
export function createAcceptedTraces(): AcceptedTraces {
  const byOwner = new Map<string, TraceTimes>();
  return {
    record(ownerId, receivedAtMs) {
      const firstMs = byOwner.get(ownerId)?.firstMs ?? receivedAtMs;
      byOwner.set(ownerId, { firstMs, newestMs: receivedAtMs });
      const [first] = byOwner.keys();
      if (byOwner.size > OWNERS_MAX && first !== undefined) byOwner.delete(first);
    },
    find: (ownerId) => byOwner.get(ownerId),
    clear: () => byOwner.clear(),
  };
}
