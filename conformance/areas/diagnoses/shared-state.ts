import { resolvePointer } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  errorOf,
  isAccepted,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import type { bodyEdits } from '../../engine/request-edit.ts';
import { overlapping } from '../../engine/transcript/repetitions.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, nonEmpty, type Diagnosis } from './seen.ts';

/** Recognizes responses with the id of another request: of the same connection, or in flight as well. */
export function findSharedState(transcript: Transcript): Diagnosis[] {
  return [
    ...findConnectionState(transcript),
    ...findMixedUpOverlaps(transcript, 'chat'),
    ...findMixedUpOverlaps(transcript, 'create'),
  ];
}

/** The ids that responses repeat. */
const ids = {
  chat: { pointer: '/session_id', name: 'session id' },
  create: { pointer: '/user_id', name: 'user id' },
} as const;

type Repeating = keyof typeof ids;

/** A response with an id that its request did not send. */
interface Foreign {
  exchange: Exchange;
  /** The other requests that sent the id. */
  sources: readonly Exchange[];
}

/** Returns the responses of an endpoint with the id of another request, or with one that no request sent. */
function findForeign({ exchanges }: Transcript, endpoint: Repeating): Foreign[] {
  const { pointer } = ids[endpoint];
  const sentId = (exchange: Exchange): unknown => resolvePointer(exchange.sent, pointer);
  const alike = exchanges.filter((exchange) => exchange.endpoint === endpoint);
  return alike.flatMap((exchange) => {
    const [sent, received] = [sentId(exchange), resolvePointer(exchange.json, pointer)];
    if (!isAccepted(exchange) || !isObject(exchange.json)) return [];
    if (typeof received !== 'string' || received === sent || exchange.intent === 'refuse')
      return [];
    const sources = alike.filter((other) => sentId(other) === received);
    return sources.length > 0 || typeof sent === 'string' ? [{ exchange, sources }] : [];
  });
}

/** The step of a body that a parser refuses only if it reads the body to its end. */
const TEXT_AFTER_JSON: keyof typeof bodyEdits = 'body with text after the JSON';

/** Returns whether a body was read only to the end of its JSON. Its user exists already. */
const isTextIgnored = (exchange: Exchange): boolean =>
  exchange.step === TEXT_AFTER_JSON &&
  (isAccepted(exchange) || errorOf(exchange)?.code === 'user_exists');

/** Recognizes a connection that keeps the session, or the whole body, of its first request. */
function findConnectionState(transcript: Transcript): Diagnosis[] {
  const mixedUp = findForeign(transcript, 'chat').filter(({ sources }) => sources.length > 0);
  const isOnConnection = ({ exchange, sources }: Foreign): boolean =>
    exchange.connection !== undefined &&
    sources.every(({ connection, id }) => connection !== undefined && id < exchange.id);
  const seen = nonEmpty(mixedUp.map(({ exchange }) => exchange));
  const telling = mixedUp.filter(({ exchange }) => exchange.intent === 'valid');
  if (!seen || telling.length === 0 || !telling.every(isOnConnection)) return [];
  const fault = `a later request on a connection gets the session of an earlier one (${describeSeen(seen)})`;
  const repair: Diagnosis['repair'] = (exchange) => conformingResponse(exchange, transcript.run);
  // The bodies of all requests on a connection follow each other in one buffer.
  const unread = transcript.exchanges.filter(isTextIgnored);
  return unread.length > 0
    ? [
        {
          seen: [...seen, ...unread],
          fault: `${fault}, and text after the JSON of a body is ignored`,
          cure: 'Clear the buffer before each request: read exactly the bytes of its body, and refuse anything after the JSON object',
          repair,
        },
      ]
    : [
        {
          seen,
          fault,
          cure: 'Keep no state in a connection: clear its buffers and variables before each request',
          repair,
        },
      ];
}

/** Recognizes a variable that concurrent requests overwrite. */
function findMixedUpOverlaps(transcript: Transcript, endpoint: Repeating): Diagnosis[] {
  const { run, exchanges } = transcript;
  const alike = exchanges.filter((exchange) => exchange.endpoint === endpoint);
  const foreign = findForeign(transcript, endpoint);
  const mixedUp = foreign.filter(({ sources }) => sources.length > 0);
  const concurrent = mixedUp.filter(
    ({ exchange, sources }) => overlapping(exchange, sources).length > 0,
  );
  // Otherwise, the ids come from the requests before.
  if (concurrent.length * 2 <= mixedUp.length) return [];
  const overlapped = foreign.filter(({ exchange }) => overlapping(exchange, alike).length > 0);
  const seen = nonEmpty(overlapped.map(({ exchange }) => exchange));
  const [example] = concurrent;
  const [source] = example ? overlapping(example.exchange, example.sources) : [];
  if (!seen || !example || !source) return [];
  return [
    {
      seen,
      fault: `requests that overlap get each other's ${ids[endpoint].name}: exchange ${example.exchange.id} "${example.exchange.step}" gets that of exchange ${source.id} (${seen.length} responses)`,
      cure: 'Look for a variable that requests share, such as a global one or a static buffer: keep the values of a request in local variables',
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}
