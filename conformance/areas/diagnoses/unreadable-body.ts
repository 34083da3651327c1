import {
  isInterrupted,
  isRefusedByParser,
  isShorterBody,
  isWronglyEncoded,
} from '../../engine/transcript/failure-messages.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from './seen.ts';

/** Recognizes responses whose body never ends, or is not framed as HTTP requires. */
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

/** Returns whether a deadline or the HTTP parser ended the body, after the status was read. */
function isUnreadable(exchange: Exchange): boolean {
  const { endpoint, failure } = exchange;
  if (endpoint === 'voice' || failure?.status === undefined) return false;
  // Other diagnoses explain these.
  if ([isShorterBody, isInterrupted, isWronglyEncoded].some((is) => is(exchange))) return false;
  return ['timeout', 'protocol', 'malformed'].includes(failure.kind) || isRefusedByParser(exchange);
}
