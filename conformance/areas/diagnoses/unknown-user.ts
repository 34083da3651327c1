import {
  isNotFound,
  isRateLimited,
  isRefused,
  type Exchange,
} from '../../engine/transcript/reading.ts';
import { findOwnMessage } from '../../engine/transcript/own-message.ts';
import { sentUserId } from '../users/user-id.ts';

/** A message about an unknown user, and not about the role `user`. */
const UNKNOWN_USER =
  /\b(unknown|no such) user|\buser[^.]*\b(unknown|not found|not exist|doesn't exist|not known)/i;

/** Returns whether a valid chat request was refused because its user is unknown. */
export function isUnknownInChat(exchange: Exchange): boolean {
  const { endpoint, intent } = exchange;
  if (endpoint !== 'chat' || intent !== 'valid') return false;
  if (typeof sentUserId(exchange) !== 'string') return false;
  const isOwnRefusal = isRefused(exchange) && !isRateLimited(exchange);
  return (
    isNotFound(exchange) || (isOwnRefusal && UNKNOWN_USER.test(findOwnMessage(exchange) ?? ''))
  );
}
