import { isInterrupted, isShorterBody } from '../../engine/transcript/failure-messages.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from './seen.ts';

/** Recognizes responses whose status arrives and whose body never ends, or is not what HTTP allows. */
export function findUnreadableBodies({ run, exchanges }: Transcript): Diagnosis[] {
  const seen = nonEmpty(exchanges.filter(isUnreadable));
  if (!seen) return [];
  const { status, message } = findExample(seen).failure ?? {};
  return [
    {
      seen,
      fault: `the body of a ${status} can't be read to its end: ${message} (${describeSeen(seen)})`,
      cure: 'Let the HTTP library write the body: in a chunked one, each chunk starts with its size in hexadecimal digits, and a chunk of size 0 is the end',
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

/** Returns whether the body was cut off by a deadline or by the HTTP parser, and not by a closed connection. */
function isUnreadable(exchange: Exchange): boolean {
  const { endpoint, failure } = exchange;
  if (endpoint === 'voice' || failure?.status === undefined) return false;
  if (isShorterBody(exchange) || isInterrupted(exchange)) return false;
  // The message of a wrong encoding names its header.
  if (failure.message.includes('Content-Encoding')) return false;
  return (
    ['timeout', 'protocol', 'malformed'].includes(failure.kind) ||
    failure.message.includes('HTTP/1.1 protocol')
  );
}
