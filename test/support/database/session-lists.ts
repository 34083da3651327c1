import type { SessionFilter, Store } from '../../../src/service/store/store.ts';

/** Returns a filter (default: all production sessions of an owner). */
export function filterOf(ownerId: string, changes: Partial<SessionFilter> = {}): SessionFilter {
  return { ownerId, kind: 'production', failedOnly: false, skip: 0, limit: 50, ...changes };
}

/** Returns the ids of the only page. Throws if the total shows that there are more. */
export async function idsOf(store: Store, filter: SessionFilter): Promise<string[]> {
  const { sessions, total } = await store.sessions.listPage(filter);
  if (total !== sessions.length)
    throw new Error(`The page has ${sessions.length} of ${total} sessions.`);
  return sessions.map(({ id }) => id);
}
