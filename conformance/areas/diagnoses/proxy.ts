import { resolvePointer } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { ERROR_SHAPE } from '../../engine/checks/responses.ts';
import { findHtmlPage } from '../../engine/transcript/html-page.ts';
import {
  errorOf,
  isAccepted,
  isRateLimited,
  toPrintable,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { conformingResponse, respondWithError } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';

/** Recognizes responses that a proxy sends from a cache, or instead of the sandbox because of a limit. */
export function findProxyFaults(transcript: Transcript): Diagnosis[] {
  return [...findCachedResponses(transcript), ...findLimitedRequests(transcript)];
}

/** Returns the header that says that a response comes from a cache, as a text; undefined if none does. */
function cacheHeaderOf({ response }: Exchange): string | undefined {
  const headers = response?.headers ?? {};
  const isHit = (name: string, value: string): boolean =>
    name === 'age' ? /^[1-9]/.test(value) : CACHE_HEADERS.has(name) && /\bhit\b/i.test(value);
  const [hit] = Object.entries(headers).filter(([name, value]) => isHit(name, value));
  return hit && toPrintable(hit.join(': '), 40);
}

const CACHE_HEADERS: ReadonlySet<string> = new Set([
  'cache-status',
  'cf-cache-status',
  'x-cache',
  'x-cache-status',
  'x-proxy-cache',
]);

/** The fields that repeat an id of the request. */
const ID_POINTERS = ['/session_id', '/user_id'];

/** Returns whether a body has an id that its request did not send. */
function hasForeignId({ json, request }: Exchange): boolean {
  return ID_POINTERS.map((pointer) => resolvePointer(json, pointer)).some(
    (id) => typeof id === 'string' && id !== '' && !request.body?.includes(id),
  );
}

const bodyOf = ({ response }: Exchange): string => response?.body ?? '';

/** Returns the exchanges whose body is the same as that of an earlier one with a different request. */
function findRepeatedBodies(exchanges: readonly Exchange[]): Exchange[] {
  const firstByBody = new Map<string, Exchange>();
  return exchanges.filter((exchange) => {
    const body = bodyOf(exchange);
    const first = firstByBody.get(body) ?? exchange;
    firstByBody.set(body, first);
    return body !== '' && first.request.body !== exchange.request.body;
  });
}

function findCachedResponses({ run, exchanges }: Transcript): Diagnosis[] {
  const candidates = exchanges.filter(({ endpoint }) =>
    ['chat', 'create', 'delete'].includes(endpoint),
  );
  const marked = candidates.filter((exchange) => cacheHeaderOf(exchange) !== undefined);
  // A sandbox may send the same text to everyone, but not the id of another request.
  const foreign = new Set(candidates.filter(hasForeignId).map(bodyOf));
  const hasOneBody = (endpoint: Exchange['endpoint']): boolean =>
    new Set(candidates.filter((one) => one.endpoint === endpoint).map(bodyOf)).size === 1;
  const repeated = findRepeatedBodies(candidates).filter(
    (exchange) =>
      marked.length > 0 ||
      foreign.has(bodyOf(exchange)) ||
      // A cache that answers other routes may have only one response for this one.
      (foreign.size > 0 && isAccepted(exchange) && hasOneBody(exchange.endpoint)),
  );
  const seen = nonEmpty([...new Set([...marked, ...repeated])]);
  if (!seen) return [];
  const header = cacheHeaderOf(findExample(seen));
  return [
    {
      seen,
      fault: `different requests get the same response, as from a cache (${describeSeen(seen)}${header === undefined ? '' : `, ${header}`})`,
      cure:
        header === undefined
          ? 'Look for a cache in front of these routes, and for state that outlives a request: build each response from its own request'
          : 'Turn off caches for these routes (Cache-Control: no-store), and build each response from its own request',
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

/** Returns whether something other than the interface refused a request because of a limit. */
function isForeignLimit(exchange: Exchange): boolean {
  if (isRateLimited(exchange)) return errorOf(exchange) === undefined;
  return exchange.response?.status === 503 && !isObject(exchange.json);
}

function findLimitedRequests({ run, exchanges }: Transcript): Diagnosis[] {
  const isRepeatedLater = ({ id, endpoint, step, request }: Exchange): boolean =>
    exchanges.some(
      (other) =>
        other.id > id &&
        other.endpoint === endpoint &&
        other.step === step &&
        other.request.body === request.body,
    );
  const isServed = (endpoint: Exchange['endpoint']): boolean =>
    exchanges.some((exchange) => exchange.endpoint === endpoint && isAccepted(exchange));
  const seen = nonEmpty(
    exchanges.filter(
      (exchange) =>
        exchange.endpoint !== 'voice' &&
        (isRateLimited(exchange)
          ? isForeignLimit(exchange) || !isRepeatedLater(exchange)
          : isForeignLimit(exchange) && isServed(exchange.endpoint)),
    ),
  );
  if (!seen) return [];
  const { response } = findExample(seen);
  const server = response?.headers['server'];
  const isOwn = seen.every((exchange) => errorOf(exchange) !== undefined);
  const isByProxy = server !== undefined || findHtmlPage(findExample(seen)) !== undefined;
  return [
    {
      seen,
      fault: `requests are limited: ${response?.status} with ${quoteBody(findExample(seen))}${server === undefined ? '' : ` from ${toPrintable(server, 20)}`} (${describeSeen(seen)})`,
      cure: isOwn
        ? 'Raise the limit, or send fewer requests with --rate'
        : isByProxy
          ? `Raise the limit of the proxy, or send fewer requests with --rate; and let it send 429 with ${ERROR_SHAPE}`
          : `Send 429 with ${ERROR_SHAPE}; and raise the limit, or send fewer requests with --rate`,
      repair: (exchange) =>
        isRateLimited(exchange) && isRepeatedLater(exchange)
          ? respondWithError(429, 'rate_limit_exceeded')
          : conformingResponse(exchange, run),
    },
  ];
}
