/** The other requests that a finding is about, such as the one with whose session a reply was mixed up. */
import { isAccepted, isNotFound, type Exchange } from '../engine/transcript/reading.ts';
import { userIdOf } from './preparation.ts';

/** The most deletions of other users that are sent again before a request to a lost user. */
const DELETIONS_MAX = 4;

/**
 * Returns the deletions that may have removed the user of a request that the sandbox calls unknown:
 * those of other users, after it was created.
 */
export function findSuspectedDeletions(
  exchange: Exchange,
  exchanges: readonly Exchange[],
): Exchange[] {
  const userId = userIdOf(exchange);
  if (userId === undefined || exchange.endpoint === 'create' || !isNotFound(exchange)) return [];
  const ofUser = exchanges.findLast(
    (other) =>
      other.id < exchange.id &&
      isAccepted(other) &&
      other.endpoint !== 'chat' &&
      userIdOf(other) === userId,
  );
  if (ofUser?.endpoint !== 'create') return [];
  return exchanges
    .filter(
      (other) =>
        other.endpoint === 'delete' &&
        isAccepted(other) &&
        userIdOf(other) !== userId &&
        other.startedMs >= ofUser.endedMs &&
        other.endedMs <= exchange.startedMs,
    )
    .slice(0, DELETIONS_MAX);
}

/**
 * Sends exchanges in the recorded relation: those that overlapped at the same moment, the others one
 * after another. Returns the new exchanges in the same order.
 */
export async function sendTogether(
  group: readonly Exchange[],
  send: (exchange: Exchange) => Promise<Exchange>,
): Promise<Exchange[]> {
  const sent = new Map<Exchange, Promise<Exchange>>();
  const inOrder = group.toSorted((a, b) => a.startedMs - b.startedMs || a.id - b.id);
  for (const exchange of inOrder) {
    const before = inOrder.filter(({ endedMs }) => endedMs <= exchange.startedMs);
    await Promise.all(before.map(async (other) => sent.get(other)));
    sent.set(exchange, send(exchange));
  }
  return Promise.all(group.map(async (exchange) => (await sent.get(exchange)) ?? exchange));
}
