import { resolvePointer } from '../../../src/contract/index.ts';
import {
  describeOutcome,
  isAccepted,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { findDeletedLater, PROCESSES_HINT } from '../users/processes.ts';
import { sentUserId } from '../users/user-id.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';

/** Recognizes users that only some requests find, as if each process had its own. */
export function findUsersPerProcess(transcript: Transcript): Diagnosis[] {
  const { run, exchanges } = transcript;
  const seen = nonEmpty(
    exchanges.filter(
      (exchange) =>
        isLostInChat(exchange, transcript) || findDeletedLater(exchange, transcript) !== undefined,
    ),
  );
  if (!seen) return [];
  const example = findExample(seen);
  return [
    {
      seen,
      fault: `only some requests find a user that exists: ${describeOutcome(example)} with ${quoteBody(example)} (${describeSeen(seen)})`,
      cure: PROCESSES_HINT.replace(/\.$/, ''),
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

const chatUser = ({ sent }: Exchange): unknown => resolvePointer(sent, '/user_id');

/**
 * Returns whether a chat request was refused because its user is unknown, although the user was created
 * before and other chat requests that name it succeed.
 */
function isLostInChat(exchange: Exchange, { exchanges }: Transcript): boolean {
  const { endpoint, intent, id, response } = exchange;
  const status = response?.status ?? 0;
  const userId = chatUser(exchange);
  const isRefused = status >= 400 && status < 500 && !isRateLimited(exchange);
  if (endpoint !== 'chat' || intent !== 'valid' || !isRefused || typeof userId !== 'string') {
    return false;
  }
  if (!/user/i.test(quoteBody(exchange))) return false;
  const isCreated = exchanges.some(
    (other) =>
      other.id < id &&
      other.endpoint === 'create' &&
      isAccepted(other) &&
      sentUserId(other) === userId,
  );
  return (
    isCreated &&
    exchanges.some(
      (other) => other.endpoint === 'chat' && isAccepted(other) && chatUser(other) === userId,
    )
  );
}
