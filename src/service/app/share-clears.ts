import type { AdminOptions } from '../admin/routes.ts';
import type { StateSharing } from '../background/shared-state.ts';

/** The newest clears that replicas remember. */
const CLEARS_MAX = 100;

/** How a process clears what it has in memory. */
export interface Clears {
  /** Clears what this process remembers: of all owners, and the rate limits of one. */
  clearMemory: (ownerId: string) => void;
  clearRequests: () => void;
  /** Clears what all replicas share already. */
  clearShared: (ownerId: string) => Promise<void>;
}

/** Returns functions that clear what all replicas remember, or this process if it works alone. */
export function shareClears(
  sharing: StateSharing | undefined,
  { clearMemory, clearRequests, clearShared }: Clears,
): Pick<AdminOptions, 'forgetTestState' | 'clearRequests'> {
  let seen: { memory: number; requests: number } | undefined;
  sharing?.onChange(({ memoryClears, requestClears }) => {
    const newest = { memory: memoryClears.at(-1)?.number ?? 0, requests: requestClears };
    // The memory of a process that has just started is empty.
    const { memory, requests } = seen ?? newest;
    for (const { number, ownerId } of memoryClears) if (number > memory) clearMemory(ownerId);
    if (requestClears > requests) clearRequests();
    seen = newest;
  });
  return {
    async forgetTestState(ownerId) {
      await clearShared(ownerId);
      if (!sharing) clearMemory(ownerId);
      await sharing?.change((state) => {
        const number = (state.memoryClears.at(-1)?.number ?? 0) + 1;
        state.memoryClears = [...state.memoryClears, { number, ownerId }].slice(-CLEARS_MAX);
      });
    },
    async clearRequests() {
      clearRequests();
      await sharing?.change((state) => {
        state.requestClears += 1;
      });
    },
  };
}
