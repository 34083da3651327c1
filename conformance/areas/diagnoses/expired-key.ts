import {
  isAccepted,
  isKeyRefused,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';

/** Fewer requests may be refused because of their text. */
const REFUSED_MIN = 3;

/** Recognizes a key that is accepted at first and refused later. */
export function findExpiredKey({ run, exchanges }: Transcript): Diagnosis[] {
  const refused = exchanges.filter((exchange) => isKeyed(exchange) && isKeyRefused(exchange));
  // Some sandboxes check the key only on some routes.
  const endpoints = new Set(refused.map(({ endpoint }) => endpoint));
  const keyed = exchanges.filter((one) => isKeyed(one) && endpoints.has(one.endpoint));
  const firstEndedMs = Math.min(...refused.map(({ endedMs }) => endedMs));
  const before = keyed.filter((one) => one.endedMs < firstEndedMs && isAccepted(one));
  const after = keyed.filter(({ startedMs }) => startedMs >= firstEndedMs);
  const seen = nonEmpty(refused);
  if (!seen || before.length === 0 || after.length < REFUSED_MIN) return [];
  if (!after.every(isKeyRefused)) return [];
  const example = findExample(seen);
  const first = seen.reduce((one, other) => (other.endedMs < one.endedMs ? other : one));
  return [
    {
      seen,
      fault: `the key is refused from exchange ${first.id} "${first.step}" on, after ${before.length} accepted requests: ${example.response?.status} with ${quoteBody(example)} (${seen.length} responses)`,
      cure: 'Accept the key for the whole run: keys must not expire, and wrong keys of other requests must not lock it',
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

/** Returns whether a request that needs the key was sent with it. Open requests may have another one. */
const isKeyed = ({ endpoint, intent, request }: Exchange): boolean =>
  ['chat', 'create', 'delete'].includes(endpoint) &&
  intent !== 'open' &&
  request.headers['authorization'] !== undefined;
