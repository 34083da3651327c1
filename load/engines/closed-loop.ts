import { createRequire } from 'node:module';
import type { Outgoing } from './transport.ts';

/** The part of autocannon that a closed loop uses; the package brings no types. */
type Autocannon = (options: Record<string, unknown>) => Tracker;
interface Tracker extends PromiseLike<ClosedLoopResult> {
  on(
    event: 'response',
    listener: (client: unknown, status: number, bytes: number, ms: number) => void,
  ): this;
  stop(): void;
}
interface ClosedLoopResult {
  errors: number;
  timeouts: number;
  non2xx: number;
  '2xx': number;
}

/** What a closed loop is to do. */
export interface ClosedLoop {
  /** Base URL of the sandbox. */
  target: string;
  connections: number;
  durationMs: number;
  /** Requests a second at most; as many as come back when undefined. */
  perSecondMax: number | undefined;
  /** The next request; all have the same method and path. */
  next: () => Outgoing;
  signal: AbortSignal;
}

/** What came of it. */
export interface ClosedLoopFigures {
  connections: number;
  /** 2xx answers. */
  answers: number;
  /** All else: connection errors, timeouts, other statuses. */
  errors: number;
  perSecond: number;
  /** Median of the service time; null of no answer. */
  p50Ms: number | null;
}

/** Errors of a dead sandbox come by the thousand: a closed loop gives up here. */
const ERRORS_MAX = 1_000;

/**
 * Sends by autocannon in a closed loop: each connection sends when its answer is there. Good for
 * warming up and for finding a capacity; for a verdict it is not, since a slow sandbox is asked less.
 */
export async function closedLoop(options: ClosedLoop): Promise<ClosedLoopFigures> {
  const { target, connections, durationMs, perSecondMax, next, signal } = options;
  const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon;
  const first = next();
  const url = new URL(target);
  const tracker = autocannon({
    url: url.origin,
    connections,
    duration: durationMs / 1000,
    // It ends only where a sample does.
    sampleInt: 100,
    timeout: 15,
    bailout: ERRORS_MAX,
    ...(perSecondMax === undefined
      ? {}
      : { overallRate: Math.max(connections, perSecondMax), ignoreCoordinatedOmission: true }),
    requests: [
      {
        method: first.method,
        path: url.pathname.replace(/\/+$/, '') + first.path,
        headers: first.headers,
        setupRequest: (request: object) => ({ ...request, body: next().body }),
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
    answers: result['2xx'],
    errors: result.errors + result.non2xx,
    perSecond: Math.round((result['2xx'] / durationMs) * 1e6) / 1000,
    p50Ms: medianOf(times),
  };
}

function medianOf(times: readonly number[]): number | null {
  const middle = Float64Array.from(times).sort()[Math.floor(times.length / 2)];
  return middle === undefined ? null : Math.round(middle * 100) / 100;
}
