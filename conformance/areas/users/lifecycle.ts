/** Which users exist according to the responses of a run, and the responses that contradict it. */
import { resolvePointer } from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import {
  isAccepted,
  isNotFound,
  isRefused,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isAbsent } from './absence.ts';
import { SHORT_ID } from './request-properties.ts';
import { isRefusedAsDuplicate } from './requests.ts';
import { pathUserId, sentUserId } from './user-id.ts';

/** Returns whether a valid create request was refused because the user exists. */
const isNewRefusedAsDuplicate = (exchange: Exchange): boolean =>
  exchange.endpoint === 'create' &&
  exchange.intent === 'valid' &&
  !isAccepted(exchange) &&
  isRefusedAsDuplicate(exchange);

/**
 * Returns whether the run itself may have created the user of a request before or at the same time. A
 * short id may be somebody else's.
 */
function mayExist(exchange: Exchange, { exchanges }: Transcript): boolean {
  const id = sentUserId(exchange);
  return (
    exchange.properties?.includes(SHORT_ID) === true ||
    exchanges.some(
      (other) =>
        other !== exchange &&
        other.endpoint === 'create' &&
        other.startedMs <= exchange.endedMs &&
        sentUserId(other) === id &&
        !isRefused(other),
    )
  );
}

/** Returns whether a user could be deleted after its creation was refused: it existed before the run. */
function wasLeftOver(exchange: Exchange, { exchanges }: Transcript): boolean {
  const id = sentUserId(exchange);
  const next = exchanges.find(
    (other) =>
      other.id > exchange.id &&
      isAccepted(other) &&
      (other.endpoint === 'create' ? sentUserId(other) : deletedUserId(other)) === id,
  );
  return next?.endpoint === 'delete';
}

const deletedUserId = (exchange: Exchange): string | undefined =>
  exchange.endpoint === 'delete' ? pathUserId(exchange) : undefined;

/** Returns whether a request for a user that can't exist was refused because the user exists. */
export const isFalseDuplicate = (exchange: Exchange, transcript: Transcript): boolean =>
  isNewRefusedAsDuplicate(exchange) &&
  !mayExist(exchange, transcript) &&
  !wasLeftOver(exchange, transcript);

/** Returns the new users that the sandbox took for users from before the run, and deleted. */
export const findSupposedLeftovers = (transcript: Transcript): Exchange[] =>
  transcript.exchanges.filter(
    (exchange) =>
      isNewRefusedAsDuplicate(exchange) &&
      !mayExist(exchange, transcript) &&
      wasLeftOver(exchange, transcript),
  );

/** Returns whether a response confirms a new user. A cached response names another one. */
export const isCreated = (exchange: Exchange): boolean =>
  exchange.endpoint === 'create' &&
  isAccepted(exchange) &&
  [undefined, sentUserId(exchange)].includes(resolvePointer(exchange.json, '/user_id'));

/** The creations of each user, in the order of their exchanges. */
const creationsOf = computeOnce(
  ({ exchanges }: Transcript): ReadonlyMap<unknown, readonly Exchange[]> =>
    Map.groupBy(exchanges.filter(isCreated), sentUserId),
);

/** Returns whether the latest creation of a user ended before another request started. */
export function wasCreatedBefore(userId: string, other: Exchange, transcript: Transcript): boolean {
  const creations = creationsOf(transcript).get(userId) ?? [];
  const latest = creations.findLast(({ id }) => id < other.id);
  return latest !== undefined && latest.endedMs <= other.startedMs;
}

/** The first deletions of users that the run created. */
export interface Deletions {
  deleted: Exchange[];
  /** The sandbox does not know the user. */
  lost: Exchange[];
}

/** Returns whether another request deleted the user of a deletion at the same time. */
const isDeletedMeanwhile = (exchange: Exchange, { exchanges }: Transcript): boolean =>
  exchanges.some(
    (other) =>
      other.endpoint === 'delete' &&
      isAccepted(other) &&
      other.request.path === exchange.request.path &&
      other.startedMs < exchange.endedMs &&
      exchange.startedMs < other.endedMs,
  );

/** Returns how the first deletions of users ended that the run had created. */
export function findDeletions(transcript: Transcript): Deletions {
  const deletions: Deletions = { deleted: [], lost: [] };
  if (isAbsent('delete', transcript)) return deletions;
  const existing = new Set<unknown>();
  for (const exchange of transcript.exchanges) {
    const { endpoint, repeats } = exchange;
    if (isCreated(exchange)) existing.add(sentUserId(exchange));
    if (endpoint !== 'delete' || repeats !== undefined) continue;
    // If two deletions overlap, the one that finds no user may end first.
    if (!isAccepted(exchange) && isDeletedMeanwhile(exchange, transcript)) continue;
    if (!existing.delete(pathUserId(exchange))) continue;
    if (isAccepted(exchange)) deletions.deleted.push(exchange);
    else if (isNotFound(exchange)) deletions.lost.push(exchange);
  }
  return deletions;
}
