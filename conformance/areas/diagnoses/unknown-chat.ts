import { isObject } from '../../../src/platform/json.ts';
import { isKoaNotFound, KOA_NOT_FOUND } from '../../engine/transcript/default-not-found.ts';
import {
  isAccepted,
  isNotFound,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isUnprefixedStep } from '../chat/unprefixed.ts';
import { conformingResponse, respond } from './conforming-response.ts';
import { describeSeen, nonEmpty, type Diagnosis } from './seen.ts';

/** Recognizes a chat route that is unknown, perhaps because its prefix `/v1` is missing. */
export function findUnknownChat({ run, exchanges }: Transcript): Diagnosis[] {
  const chats = exchanges.filter(({ endpoint }) => endpoint === 'chat');
  const seen = nonEmpty(chats.filter(isNotFound));
  const isFound = (exchange: Exchange): boolean =>
    exchange.intent === 'valid' && !isRateLimited(exchange) && !isNotFound(exchange);
  if (!seen || chats.some(isFound)) return [];
  const unprefixed = exchanges.find(isUnprefixedStep);
  const { status } = seen[0].response ?? {};
  const isServed =
    unprefixed?.response && !isNotFound(unprefixed) && unprefixed.response.status < 500;
  const reply =
    unprefixed && isAccepted(unprefixed) && isObject(unprefixed.json) ? unprefixed.json : undefined;
  return [
    {
      seen,
      ...(isServed
        ? {
            fault: `the path is unknown (${status}), but POST ${unprefixed.request.path} responds with ${unprefixed.response?.status} (exchange ${unprefixed.id})`,
            cure: 'Add the prefix /v1 to the route',
          }
        : {
            fault: `the path is unknown (${status} for ${describeSeen(seen)})`,
            cure: `Serve this route; it is the one that every sandbox needs${seen.every(isKoaNotFound) ? `. ${KOA_NOT_FOUND}` : ''}`,
          }),
      repair: (exchange) =>
        exchange.intent === 'valid' && reply
          ? respond(200, reply)
          : conformingResponse(exchange, run),
    },
  ];
}
