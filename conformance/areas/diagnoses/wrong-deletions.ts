import { resolvePointer } from '../../../src/contract/index.ts';
import {
  describeOutcome,
  isAccepted,
  toPrintable,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { countCommonStart } from '../../engine/checks/common-start.ts';
import { findDeletions, isCreated, wasCreatedBefore } from '../users/lifecycle.ts';
import { findDeletedLater } from '../users/processes.ts';
import { AT_ONCE, LEFT_OVER, isDuplicate } from '../users/requests.ts';
import { pathUserId, sentUserId } from '../users/user-id.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';
import { isUnknownInChat } from './unknown-user.ts';

/**
 * Recognizes a sandbox that deletes users other than the one in the path: it ignores the id, deletes all
 * users, or compares only the beginning of the id. A user is gone that no request deleted, and it
 * never comes back, as it would if another process knew it.
 */
export function findWrongDeletions(transcript: Transcript): Diagnosis[] {
  const { run, exchanges } = transcript;
  if (comesBack(transcript)) return [];
  const { lost } = findDeletions(transcript);
  const unknown = exchanges.filter((exchange) => isUnknownInChat(exchange));
  const [seen, find] =
    lost.length > 0 ? [nonEmpty(lost), findRemoval] : [nonEmpty(unknown), findRemovalByChat];
  const found = seen && find(seen, transcript);
  if (!seen || !found) return [];
  const { stray, culprit, cure } = found;
  const example = findExample(seen);
  const gone = `${describeOutcome(example)} with ${quoteBody(example)} (${describeSeen(seen)})`;
  return [
    {
      seen,
      consequences: exchanges.filter(
        (exchange) =>
          (isDuplicate(exchange) && isAccepted(exchange)) ||
          isUnknownInChat(exchange) ||
          namesAnotherUser(exchange),
      ),
      fault: stray
        ? `an id without a user is deleted with ${describeOutcome(stray)} (exchange ${stray.id} "${stray.step}"), and a user that exists is gone: ${gone}`
        : `the deletion of ${toPrintable(pathUserId(culprit), 70)} (exchange ${culprit.id}) also deletes other users: ${gone}`,
      cure,
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

/** What removed the users that are gone. */
interface Removal {
  /** The deletion of another user, which removed the one of the example. */
  culprit: Exchange;
  /** A deletion that succeeded although its own user did not exist. */
  stray?: Exchange;
  cure: string;
}

const CURE = 'Delete only the user whose id is in the path, and keep all others';

type Lost = NonNullable<ReturnType<typeof nonEmpty>>;

function findRemoval(lost: Lost, transcript: Transcript): Removal | undefined {
  const deletions = transcript.exchanges.filter(isDeletion);
  const accepted = deletions.filter(isAccepted);
  const example = findExample(lost);
  const findCulprit = (others: readonly Exchange[]): Exchange | undefined => {
    const culprits = lost.map((exchange) => findEarlierDeletion(exchange, others, transcript));
    return culprits.includes(undefined) ? undefined : culprits[lost.indexOf(example)];
  };
  const culprit = findCulprit(accepted);
  const isSimilar = lost.every((exchange) => {
    const other = findEarlierDeletion(exchange, accepted, transcript);
    return other !== undefined && countCommon(other, exchange) >= ALIKE_LENGTH;
  });
  if (culprit && isSimilar) {
    const cure = 'Compare whole ids: delete only the user whose id equals the one in the path';
    return { culprit, cure };
  }
  // A deletion that is refused may remove users as well.
  for (const others of [accepted, deletions]) {
    const emptying = findCulprit(others);
    if (emptying && areAllRemoved(lost, others, transcript)) {
      return { culprit: emptying, cure: CURE };
    }
  }
  const stray = accepted.find((exchange) => isOfNobody(exchange, transcript));
  return culprit && stray && { culprit, stray, cure: CURE };
}

/** Returns what removed users that only chat requests miss, because every deletion succeeds. */
function findRemovalByChat(unknown: Lost, transcript: Transcript): Removal | undefined {
  const accepted = transcript.exchanges.filter(
    (exchange) => isDeletion(exchange) && isAccepted(exchange),
  );
  const culpritOf = (exchange: Exchange): Exchange | undefined =>
    findEarlierDeletion(exchange, accepted, transcript);
  const survives = transcript.exchanges.some(
    (exchange) =>
      exchange.endpoint === 'chat' &&
      isAccepted(exchange) &&
      accepted.some((other) => survivesDeletion(exchange, other, transcript)),
  );
  const culprit = culpritOf(findExample(unknown));
  return culprit && unknown.every(culpritOf) && !survives ? { culprit, cure: CURE } : undefined;
}

const isDeletion = ({ endpoint }: Exchange): boolean => endpoint === 'delete';

/** Returns the deletion of another user after the creation of a user that is gone: that of the most similar id. */
function findEarlierDeletion(
  lost: Exchange,
  deletions: readonly Exchange[],
  transcript: Transcript,
): Exchange | undefined {
  const userId = userOf(lost);
  const others = deletions.filter(
    (other) =>
      other.startedMs <= lost.endedMs &&
      pathUserId(other) !== userId &&
      wasCreatedBefore(userId, other, transcript),
  );
  return others.toSorted((one, other) => countCommon(other, lost) - countCommon(one, lost))[0];
}

/** Returns whether a user that was unknown is known later, although no request created it again. */
const comesBack = (transcript: Transcript): boolean =>
  transcript.exchanges.some(
    (exchange) =>
      findDeletedLater(exchange, transcript) !== undefined ||
      (isUnknownInChat(exchange) && isFoundLater(exchange, transcript)),
  );

const isFoundLater = (exchange: Exchange, { exchanges }: Transcript): boolean =>
  exchanges.some(
    (other) =>
      other.endpoint === 'chat' &&
      other.startedMs >= exchange.endedMs &&
      isAccepted(other) &&
      sentUserId(other) === sentUserId(exchange),
  );

/** Returns whether a deletion succeeded although the user was never created, or was deleted before. */
function isOfNobody(deletion: Exchange, { exchanges }: Transcript): boolean {
  if ([AT_ONCE, LEFT_OVER].includes(deletion.step)) return false;
  const userId = pathUserId(deletion);
  const earlier = exchanges.findLast(
    (other) =>
      other.id < deletion.id &&
      ((isCreated(other) && sentUserId(other) === userId) ||
        (isDeletion(other) && isAccepted(other) && pathUserId(other) === userId)),
  );
  return earlier === undefined || isDeletion(earlier);
}

/**
 * Returns whether no user survived one of these deletions of other users. A user that was created last
 * is gone, too, so the store does not just keep the latest users.
 */
function areAllRemoved(
  lost: readonly Exchange[],
  deletions: readonly Exchange[],
  transcript: Transcript,
): boolean {
  const { deleted } = findDeletions(transcript);
  const newest = transcript.exchanges.findLast(isCreated);
  const isNewestLost = lost.some(
    (exchange) => newest && pathUserId(exchange) === sentUserId(newest),
  );
  const survives = deleted.some((exchange) =>
    deletions.some((other) => survivesDeletion(exchange, other, transcript)),
  );
  return deleted.length > 0 && isNewestLost && !survives;
}

/** Returns whether a request shows that its user existed after the deletion of another user. */
const survivesDeletion = (
  exchange: Exchange,
  deletion: Exchange,
  transcript: Transcript,
): boolean =>
  deletion.endedMs < exchange.startedMs &&
  pathUserId(deletion) !== userOf(exchange) &&
  wasCreatedBefore(userOf(exchange), deletion, transcript);

const userOf = (exchange: Exchange): string =>
  isDeletion(exchange) ? pathUserId(exchange) : String(sentUserId(exchange));

const namesAnotherUser = (exchange: Exchange): boolean => {
  const named = resolvePointer(exchange.json, '/user_id');
  return (
    isDeletion(exchange) &&
    isAccepted(exchange) &&
    named !== undefined &&
    named !== pathUserId(exchange)
  );
};

/** All ids of a run begin with the same 9 characters, and 3 more are hardly the same by chance. */
const ALIKE_LENGTH = 12;

const countCommon = (one: Exchange, other: Exchange): number =>
  countCommonStart(userOf(one), userOf(other));
