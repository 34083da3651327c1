import { isNotFound, isRateLimited, type Exchange } from '../../engine/transcript/reading.ts';
import { findOwnMessage } from '../../engine/transcript/own-message.ts';
import { sentUserId } from '../users/user-id.ts';

/** A message about an unknown user, and not about the role `user`. */
const UNKNOWN_USER =
  /\b(unknown|no such) user|\buser[^.]*\b(unknown|not found|not exist|doesn't exist|not known)/i;

/** Returns whether a valid chat request was refused because its user is unknown. */
export function isUnknownInChat(exchange: Exchange): boolean {
  const { endpoint, intent, response } = exchange;
  if (endpoint !== 'chat' || intent !== 'valid') return false;
  if (typeof sentUserId(exchange) !== 'string') return false;
  const status = response?.status ?? 0;
  const isRefused = status >= 400 && status < 500 && !isRateLimited(exchange);
  return isNotFound(exchange) || (isRefused && UNKNOWN_USER.test(findOwnMessage(exchange) ?? ''));
}
