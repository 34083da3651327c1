import {
  isAccepted,
  isKeyRefused,
  isRateLimited,
  isRefused,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';

/** Recognizes a server that reads the body of a refused request as the next request on the connection. */
export function findUnreadRefusals({ run, exchanges }: Transcript): Diagnosis[] {
  const isSpoiled = (exchange: Exchange): boolean => {
    if (exchange.connection === undefined || exchange.intent !== 'valid') return false;
    if (!isRefused(exchange) || isKeyRefused(exchange) || isRateLimited(exchange)) return false;
    const before = exchanges.findLast(
      ({ id, connection }) => id < exchange.id && connection === exchange.connection,
    );
    return before !== undefined && isRefused(before) && hasTwin(exchange);
  };
  // The same kind of request succeeds on a separate connection.
  const hasTwin = ({ endpoint }: Exchange): boolean =>
    exchanges.some(
      (other) =>
        other.endpoint === endpoint &&
        other.intent === 'valid' &&
        other.connection === undefined &&
        isAccepted(other),
    );
  const seen = nonEmpty(exchanges.filter(isSpoiled));
  if (!seen) return [];
  const example = findExample(seen);
  return [
    {
      seen,
      fault: `a valid request gets ${example.response?.status} with ${quoteBody(example)} after a refused one on its connection (${describeSeen(seen)})`,
      cure: 'Read the body of every request, even if you refuse its key first, or close the connection',
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}
