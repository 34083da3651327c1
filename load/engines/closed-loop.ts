import { startAutocannon } from './autocannon-client.ts';
import type { SecureContextOptions } from 'node:tls';
import type { OutgoingRequest } from './transport.ts';

/** Settings of a closed loop. */
export interface ClosedLoop {
  /** Base URL of the sandbox. */
  target: string;
  /** CA and client certificate. */
  tls?: SecureContextOptions;
  connections: number;
  durationMs: number;
  /** The maximum rate in requests per second; unlimited when undefined. */
  perSecondMax: number | undefined;
  /** Returns the next request; all have the same method and path. */
  next: () => OutgoingRequest;
  signal: AbortSignal;
}

/** Measurements of a closed loop. */
export interface ClosedLoopFigures {
  connections: number;
  /** 2xx responses. */
  responses: number;
  /** Connection errors, timeouts, and other statuses. */
  errors: number;
  perSecond: number;
  /** The median service time; null if there was no response. */
  p50Ms: number | null;
}

/** A request that takes longer is an error. */
export const LOOP_TIMEOUT_S = 15;

/** The loop stops after this number of errors: an unreachable sandbox produces thousands. */
export const ERRORS_MAX = 1_000;

/**
 * Sends requests in a closed loop with autocannon: each connection sends the next request after a
 * response. This suits warm-up and capacity estimates, but no verdict: a slow sandbox gets fewer requests.
 */
export async function runClosedLoop(options: ClosedLoop): Promise<ClosedLoopFigures> {
  const { target, tls, connections, durationMs, perSecondMax, next, signal } = options;
  const first = next();
  const url = new URL(target);
  const tracker = startAutocannon({
    url: url.origin,
    tlsOptions: tls ?? {},
    connections,
    duration: durationMs / 1000,
    // autocannon stops only at the end of a sample.
    sampleInt: 100,
    timeout: LOOP_TIMEOUT_S,
    bailout: ERRORS_MAX,
    ...(perSecondMax === undefined
      ? {}
      : { overallRate: Math.max(connections, perSecondMax), ignoreCoordinatedOmission: true }),
    requests: [
      {
        method: first.method,
        path: url.pathname.replace(/\/+$/, '') + first.path,
        headers: first.headers,
        setupRequest(request: object) {
          const { headers, body } = next();
          return { ...request, headers, body };
        },
      },
    ],
  });
  const times: number[] = [];
  tracker.on('response', (_client, _status, _bytes, ms) => void times.push(ms));
  const stop = (): void => tracker.stop();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const result = await tracker;
  signal.removeEventListener('abort', stop);
  return {
    connections,
    responses: result['2xx'],
    errors: result.errors + result.non2xx,
    perSecond: Math.round((result['2xx'] / durationMs) * 1e6) / 1000,
    p50Ms: medianOf(times),
  };
}

/** Returns the median in milliseconds; null for no times. */
export function medianOf(times: readonly number[]): number | null {
  const middle = Float64Array.from(times).sort()[Math.floor(times.length / 2)];
  return middle === undefined ? null : Math.round(middle * 100) / 100;
}
