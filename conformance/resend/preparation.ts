/** What a request of a run depends on: the users, the session, and the connection of earlier requests. */
import type { Exchange } from '../engine/transcript/transcript.ts';
import {
  decodePathSegment,
  isAccepted,
  isRefused,
  RECOVERY,
} from '../engine/transcript/reading.ts';
import { isObject } from '../../src/platform/json.ts';

/** An earlier request to send again first. */
export interface Preparation {
  exchange: Exchange;
  purpose: string;
}

/** Returns the user that a request creates, deletes, or talks as; undefined if it names none. */
export function userIdOf({ endpoint, request, sent }: Exchange): string | undefined {
  if (endpoint === 'delete') return decodePathSegment(request.path.replace(/^\/users\//, ''));
  if (endpoint !== 'create' && endpoint !== 'chat') return undefined;
  const id = isObject(sent) ? sent['user_id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

const sessionIdOf = ({ endpoint, sent }: Exchange): unknown =>
  endpoint === 'chat' && isObject(sent) ? sent['session_id'] : undefined;

/**
 * Returns the requests of a run on whose effects a request depends, in order: those that created or
 * deleted its user, the earlier turns of its session, and those of its probe that were sent before it on
 * the shared connection, even if they were refused.
 */
export function findPreparations(
  exchange: Exchange,
  exchanges: readonly Exchange[],
): Preparation[] {
  const userId = userIdOf(exchange);
  const sessionId = sessionIdOf(exchange);
  return exchanges.flatMap((earlier) => {
    const isEarlier = earlier.id < exchange.id && earlier.endedMs <= exchange.startedMs;
    if (!isEarlier || earlier.probe === RECOVERY) return [];
    const isOnConnection =
      exchange.connection !== undefined &&
      earlier.connection === exchange.connection &&
      earlier.probe === exchange.probe;
    const onConnection = { exchange: earlier, purpose: 'comes first on the connection' };
    if (!isAccepted(earlier)) return isOnConnection && isRefused(earlier) ? [onConnection] : [];
    const isOfUser = userId !== undefined && userIdOf(earlier) === userId;
    if (isOfUser && earlier.endpoint === 'create') {
      return [{ exchange: earlier, purpose: 'creates the user' }];
    }
    if (isOfUser && earlier.endpoint === 'delete') {
      return [{ exchange: earlier, purpose: 'deletes the user, as in the run' }];
    }
    // A request differs from its control in one edit, and doesn't depend on it.
    if (earlier.probe !== exchange.probe || earlier.id === exchange.control) return [];
    if (typeof sessionId === 'string' && sessionIdOf(earlier) === sessionId) {
      return [{ exchange: earlier, purpose: 'is an earlier turn of the session' }];
    }
    return isOnConnection ? [onConnection] : [];
  });
}
