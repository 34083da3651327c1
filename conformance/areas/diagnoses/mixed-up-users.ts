import { crashesOf } from '../../engine/transcript/crashes.ts';
import {
  isAccepted,
  isNotFound,
  toPrintable,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { findDeletions, findSupposedLeftovers, isFalseDuplicate } from '../users/lifecycle.ts';
import { pathUserId, sentUserId } from '../users/user-id.ts';
import { findOwnMessage } from '../../engine/transcript/own-message.ts';
import { conformingResponse, isDuplicate } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';

/**
 * Recognizes a sandbox that does not know a user that it created, or knows one that was never created:
 * several processes with users of their own, or ids that are not compared whole.
 */
export function findMixedUpUsers(transcript: Transcript): Diagnosis[] {
  // A crash explains lost users.
  if (crashesOf(transcript).length > 0) return [];
  const { lost, deleted } = findDeletions(transcript);
  const supposed = findSupposedLeftovers(transcript);
  const duplicates = transcript.exchanges.filter((exchange) =>
    isFalseDuplicate(exchange, transcript),
  );
  const chats = findContradictingChats(transcript);
  const isForgetful = deleted.length > 0 || duplicates.length > 0 || chats.length > 0;
  const unknown = isForgetful ? [...lost, ...chats] : [];
  if (supposed.length > 0 && lost.length > 0) {
    return diagnose(transcript, [...duplicates, ...supposed, ...lost], {
      describe: (seen) =>
        `the new user ${idOf(supposed, sentUserId)} is refused because it exists, and ${idOf(lost, pathUserId)} is unknown afterwards (${seen})`,
      cure: 'Compare whole ids, with upper and lower case: two ids are taken for the same user',
    });
  }
  const twice = transcript.exchanges.filter(
    (exchange) => isDuplicate(exchange) && isAccepted(exchange),
  );
  if (unknown.length > 0) {
    return diagnose(transcript, [...unknown, ...duplicates, ...twice], {
      describe: (seen, quote) =>
        `the sandbox knows a user in one request and not in the next: ${quote} (${seen})`,
      cure: 'State per process? If several processes or instances run, keep users where all of them see them, for example in a database',
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
  return diagnose(transcript, duplicates, {
    describe: (seen, quote) => `new users are refused because they exist: ${quote} (${seen})`,
    cure: 'Respond with user_exists only if this id exists: compare whole ids, and send another error if no more users fit',
  });
}

/** Returns the user of the first of some exchanges. */
const idOf = (exchanges: readonly Exchange[], of: (exchange: Exchange) => unknown): string =>
  toPrintable(String(exchanges.slice(0, 1).map(of)), 70);

/** Returns the deletions of users that were created, if each one says that the user is unknown. */
function findForgottenUsers({ exchanges }: Transcript): Exchange[] {
  const deletions = exchanges.filter(
    ({ endpoint, intent }) => endpoint === 'delete' && intent === 'valid',
  );
  // A missing route says that it is missing.
  const isForgotten = (exchange: Exchange): boolean =>
    isNotFound(exchange) && /\buser\b(?!s\/)/i.test(findOwnMessage(exchange) ?? '');
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

/** Returns the chats that were refused with 404 although another one with the same user succeeded. */
function findContradictingChats({ exchanges }: Transcript): Transcript['exchanges'] {
  const chats = exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'chat' &&
      exchange.intent === 'valid' &&
      typeof sentUserId(exchange) === 'string',
  );
  const served = new Set(chats.filter(isAccepted).map(sentUserId));
  return chats.filter((exchange) => isNotFound(exchange) && served.has(sentUserId(exchange)));
}
