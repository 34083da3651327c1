import { crashesOf } from '../../engine/transcript/crashes.ts';
import {
  isAccepted,
  isNotFound,
  toPrintable,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import {
  findDeletions,
  findSupposedLeftovers,
  isFalseDuplicate,
  wasCreatedBefore,
} from '../users/lifecycle.ts';
import { findDeletedLater, PROCESSES_HINT } from '../users/processes.ts';
import { countAlike, pathUserId, sentUserId } from '../users/user-id.ts';
import { findOwnMessage } from '../../engine/transcript/own-message.ts';
import { isDuplicate } from '../users/requests.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';
import { isUnknownInChat } from './unknown-user.ts';
import { findWrongDeletions } from './wrong-deletions.ts';

/**
 * Recognizes a sandbox that does not know a user that it created, or knows one that was never created:
 * each process stores its own users, or only a part of the id is compared.
 */
export function findMixedUpUsers(transcript: Transcript): Diagnosis[] {
  // A crash explains lost users.
  if (crashesOf(transcript).length > 0) return [];
  const { lost, deleted } = findDeletions(transcript);
  const supposed = findSupposedLeftovers(transcript);
  const duplicates = transcript.exchanges.filter((exchange) =>
    isFalseDuplicate(exchange, transcript),
  );
  const contradictions = transcript.exchanges.filter(
    (exchange) =>
      isLostInChat(exchange, transcript) || findDeletedLater(exchange, transcript) !== undefined,
  );
  const isForgetful = deleted.length > 0 || duplicates.length > 0 || contradictions.length > 0;
  const unknown = isForgetful ? [...new Set([...lost, ...contradictions])] : [];
  if (supposed.length > 0 && lost.length > 0) {
    const [refused, forgotten] = findSimilarIds(supposed.map(sentUserId), lost.map(pathUserId));
    return diagnose(transcript, [...duplicates, ...supposed, ...lost], {
      describe: (seen) =>
        `the new user ${refused} is refused because it exists, and ${refused === forgotten ? 'it' : forgotten} is unknown afterward (${seen})`,
      cure: 'Compare whole ids as texts, with their case: two ids are treated as the same user',
    });
  }
  const wrongDeletions = findWrongDeletions(transcript);
  if (wrongDeletions.length > 0) return wrongDeletions;
  const twice = transcript.exchanges.filter(
    (exchange) => isDuplicate(exchange) && isAccepted(exchange),
  );
  const refusedChats = transcript.exchanges.filter(
    (exchange) =>
      isUnknownInChat(exchange) &&
      wasCreatedBefore(String(sentUserId(exchange)), exchange, transcript),
  );
  if (unknown.length > 0) {
    const shown = new Set([...unknown, ...refusedChats, ...duplicates, ...twice]);
    return diagnose(transcript, [...shown], {
      describe: (seen, quote) =>
        `the sandbox knows a user in one request and not in the next: ${quote} (${seen})`,
      cure: PROCESSES_HINT.replace(/\.$/, ''),
    });
  }
  const forgotten = findForgottenUsers(transcript);
  if (twice.length > 0 && forgotten.length > 0) {
    return diagnose(transcript, [...twice, ...forgotten], {
      describe: (seen) =>
        `the sandbox forgets users: it creates the same user twice, and deletions get ${quoteOutcome(forgotten)} (${seen})`,
      cure: 'State per request or per process? Keep users where all requests see them, for example in a database',
    });
  }
  if (refusedChats.length > 0) {
    return diagnose(transcript, refusedChats, {
      describe: (seen, quote) => `users that were created are unknown: ${quote} (${seen})`,
      cure: 'Look users up where POST /users stores them',
    });
  }
  return diagnose(transcript, duplicates, {
    describe: (seen, quote) => `new users are refused because they exist: ${quote} (${seen})`,
    cure: 'Respond with user_exists only if this id exists: compare whole ids, and send another error if no more users fit',
  });
}

/** Returns two different ids, one of each list: those that begin alike for longest. */
function findSimilarIds(left: readonly unknown[], right: readonly string[]): [string, string] {
  const pairs = left.flatMap((first) =>
    right.map((second): [string, string] => [String(first), second]),
  );
  const lengthAlike = ([first, second]: [string, string]): number =>
    first === second ? -1 : countAlike(first, second);
  const best = pairs.reduce((one, other) => (lengthAlike(other) > lengthAlike(one) ? other : one));
  return [toPrintable(best[0], 70), toPrintable(best[1], 70)];
}

/** Returns the deletions of users that were created, if each one says that the user is unknown. */
function findForgottenUsers({ exchanges }: Transcript): Exchange[] {
  const deletions = exchanges.filter(
    ({ endpoint, intent }) => endpoint === 'delete' && intent === 'valid',
  );
  const isForgotten = (exchange: Exchange): boolean => {
    const message = findOwnMessage(exchange) ?? '';
    const isAboutUser = /\buser\b/i.test(message) || message.includes(pathUserId(exchange));
    // A missing route says that its path is missing.
    return isNotFound(exchange) && isAboutUser && !message.includes('users/');
  };
  return deletions.every(isForgotten) ? deletions : [];
}

const quoteOutcome = (exchanges: readonly Exchange[]): string =>
  exchanges
    .slice(0, 1)
    .map((exchange) => `${exchange.response?.status} with ${quoteBody(exchange)}`)
    .join('');

interface Texts {
  describe: (seen: string, quote: string) => string;
  cure: string;
}

function diagnose(
  { run }: Transcript,
  exchanges: Transcript['exchanges'],
  { describe, cure }: Texts,
): Diagnosis[] {
  const seen = nonEmpty(exchanges);
  if (!seen) return [];
  const example = findExample(seen);
  return [
    {
      seen,
      fault: describe(describeSeen(seen), quoteOutcome([example])),
      cure,
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

/**
 * Returns whether a chat request was refused because its user is unknown, although other chat requests
 * with this user succeed.
 */
function isLostInChat(exchange: Exchange, { exchanges }: Transcript): boolean {
  const userId = sentUserId(exchange);
  return (
    isUnknownInChat(exchange) &&
    exchanges.some(
      (other) => other.endpoint === 'chat' && isAccepted(other) && sentUserId(other) === userId,
    )
  );
}
