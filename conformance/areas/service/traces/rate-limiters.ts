/** The rate limiters of mutants and variants of `POST /v1/traces`. */
import {
  INGEST_REQUESTS_PER_MINUTE_MAX,
  SERVICE_API_KEY_HEADER,
} from '../../../../src/contract/index.ts';
import { MINUTE_MS } from '../../../../src/platform/clock.ts';
import { jsonResponse } from '../../../engine/mutants/combinators.ts';
import type { ProxyResponse, Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import { clockAdvanceMs, emptyTraceResponse } from '../transforms.ts';

/** Returns whether a response refuses a request because of its rate. */
export const isRefused = ({ status }: ProxyResponse): boolean => status === 429;

/** Refuses all keys after one was refused because of its rate, until the clock is advanced. */
export function limitAllKeys(): Transform {
  let refusal: ProxyResponse | undefined;
  return async (request, forward) => {
    // On a slow machine, most of the minute has passed when the run advances the clock.
    if (clockAdvanceMs(request) > 0) refusal = undefined;
    if (request.endpoint === 'traces' && refusal) return refusal;
    const response = await forward(request);
    if (request.endpoint === 'traces' && isRefused(response)) refusal = response;
    return response;
  };
}

/** How many trace requests a busy service processes at a time, and how long each of them takes. */
const IN_PROCESS_MAX = 8;
const PROCESSING_MS = 50;

/** Returns 503 while as many requests are in process as the service can handle. */
export function refuseWhenBusy(): Transform {
  let inProcess = 0;
  return async (request, forward, clock) => {
    if (request.endpoint !== 'traces') return forward(request);
    if (inProcess === IN_PROCESS_MAX) {
      return jsonResponse(503, { message: 'Busy.' }, { 'retry-after': '1' });
    }
    inProcess++;
    await clock.sleep(PROCESSING_MS);
    inProcess--;
    return forward(request);
  };
}

/** How many requests of a minute reach the service, which also limits the rate. */
const FORWARDED_MAX = 100;

/** How long a request is stored before `countWhenStored` counts it. */
const STORED_AFTER_MS = 50;

/** Applies the rate limit to a count that lacks the requests in flight. */
export function countWhenStored(): Transform {
  const stored = createWindowedCount(MINUTE_MS);
  const forwarded = createWindowedCount(MINUTE_MS);
  return async (request, forward, clock) => {
    stored.advance(clockAdvanceMs(request));
    forwarded.advance(clockAdvanceMs(request));
    if (request.endpoint !== 'traces') return forward(request);
    const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
    if (stored.countOf(key) >= INGEST_REQUESTS_PER_MINUTE_MAX) {
      return jsonResponse(429, { message: 'Wait.' }, { 'retry-after': '60' });
    }
    const isForwarded = forwarded.increment(key) <= FORWARDED_MAX;
    const response = isForwarded ? await forward(request) : emptyTraceResponse;
    await clock.sleep(STORED_AFTER_MS);
    stored.increment(key);
    return response;
  };
}

/** A limit of the requests of each key. */
export interface RateLimit {
  /** Requests of a key within a fixed window. */
  max: number;
  /** The length of the window (default: a minute). */
  windowMs?: number;
  retryAfter?: string;
}

/** Counts by key, until the service clock has been advanced by the length of a window. */
function createWindowedCount(windowMs: number) {
  const counts = new Map<string, number>();
  let advancedMs = 0;
  return {
    advance(ms: number): void {
      advancedMs += ms;
      if (advancedMs < windowMs) return;
      counts.clear();
      advancedMs = 0;
    },
    countOf: (key: string): number => counts.get(key) ?? 0,
    increment(key: string): number {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    },
  };
}

/**
 * Applies another rate limit. Its windows start with the first request and when the service
 * clock has been advanced by the length of a window.
 */
export function limitRate({
  max,
  windowMs = MINUTE_MS,
  retryAfter = '60',
}: RateLimit): TransformFactory {
  return () => {
    const admitted = createWindowedCount(windowMs);
    const forwarded = createWindowedCount(MINUTE_MS);
    return async (request, forward) => {
      admitted.advance(clockAdvanceMs(request));
      forwarded.advance(clockAdvanceMs(request));
      if (request.endpoint !== 'traces') return forward(request);
      const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
      if (admitted.increment(key) > max)
        return jsonResponse(429, { message: 'Wait.' }, { 'retry-after': retryAfter });
      return forwarded.increment(key) > FORWARDED_MAX ? emptyTraceResponse : forward(request);
    };
  };
}
