import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';
import {
  changeResponse,
  jsonResponse,
  replaceParts,
  to,
} from '../../../engine/mutants/combinators.ts';
import type { Mutant, ProxyResponse, TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { ServiceRequirementId } from '../requirements.ts';
import { clockAdvanceMs, emptyTraceResponse, intrusiveOnly, mutant } from '../transforms.ts';

const traces = to('traces');
const isRateLimited = ({ status }: ProxyResponse): boolean => status === 429;

const MINUTE_MS = 60_000;
/** How many requests reach the service, which also limits the rate. */
const FORWARDED_MAX = 100;

interface RateLimit {
  /** Requests of a key within a fixed minute. */
  max: number;
  /** Whether a new minute resets the count (default: true). */
  resets?: boolean;
  retryAfter?: string;
}

/**
 * Applies another rate limit. Its minutes start with the first request and when the service
 * clock has been advanced by a minute.
 */
export const limitRate =
  ({ max, resets = true, retryAfter = '60' }: RateLimit): TransformFactory =>
  () => {
    const counts = new Map<string, number>();
    let advancedMs = 0;
    return async (request, forward) => {
      advancedMs += clockAdvanceMs(request);
      if (resets && advancedMs >= MINUTE_MS) {
        counts.clear();
        advancedMs = 0;
      }
      if (request.endpoint !== 'traces') return forward(request);
      const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count > max)
        return jsonResponse(429, { message: 'Wait.' }, { 'retry-after': retryAfter });
      return count > FORWARDED_MAX ? emptyTraceResponse : forward(request);
    };
  };

const withLimit = (
  name: string,
  description: string,
  kills: ServiceRequirementId,
  limit: RateLimit,
): Mutant => mutant(name, description, kills, limitRate(limit), intrusiveOnly);

const withHeaders = (name: string, description: string, headers: Record<string, string>): Mutant =>
  mutant(
    name,
    description,
    'SERVICE-027',
    replaceParts(traces, { headers }, isRateLimited),
    intrusiveOnly,
  );

/** Mutants of the request rate. */
export const rateMutants: readonly Mutant[] = [
  mutant(
    'no-rate',
    'Has no rate limit.',
    'SERVICE-026',
    changeResponse(traces, (response) => (isRateLimited(response) ? emptyTraceResponse : response)),
    intrusiveOnly,
  ),
  mutant(
    'rate-503',
    'Returns 503 above the rate.',
    ['SERVICE-011', 'SERVICE-026'],
    replaceParts(traces, { status: 503 }, isRateLimited),
    intrusiveOnly,
  ),
  withLimit('half-the-rate', 'Returns 429 after 60 requests.', 'SERVICE-028', { max: 60 }),
  withLimit('rate-119', 'Returns 429 after 119 requests.', 'SERVICE-028', { max: 119 }),
  withLimit('rate-150', 'Returns 429 after 150 requests.', 'SERVICE-026', { max: 150 }),
  withLimit('rate-250', 'Returns 429 after 250 requests.', 'SERVICE-026', { max: 250 }),
  withLimit('rate-never-again', 'Never accepts a key again after 429.', 'SERVICE-031', {
    max: 120,
    resets: false,
  }),
  withLimit('retry-after-too-soon', 'Promises a second but needs a minute.', 'SERVICE-031', {
    max: 120,
    retryAfter: '1',
  }),
  withHeaders('no-retry-after', 'Omits Retry-After.', {}),
  withHeaders('retry-after-soon', 'Returns the word soon in Retry-After.', {
    'retry-after': 'soon',
  }),
  withHeaders('retry-after-0', 'Returns 0 in Retry-After.', { 'retry-after': '0' }),
  withHeaders('retry-after-epoch', 'Returns a Unix timestamp in Retry-After.', {
    'retry-after': '1795167000',
  }),
  withHeaders('retry-after-over', 'Returns a past date in Retry-After.', {
    'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT',
  }),
];
