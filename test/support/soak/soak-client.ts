/** Sends the requests of a long run, and records how long each kind takes and what went wrong. */
import { Agent, fetch } from 'undici';
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import type { ServiceAddress } from '../services/service-process.ts';

/** A request of a long run. */
export interface SoakRequest {
  /** Latencies are recorded under this name. */
  kind: string;
  /** Method and path, such as `GET /ready`. */
  route: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Statuses that are right (default: 200). */
  expected?: readonly number[];
  /** Whether only the first service has what the request is about. */
  isForFirst?: boolean;
  /** Whether the key of the service is not sent. */
  hasNoKey?: boolean;
}

/** A complete response. */
export interface SoakResponse {
  status: number;
  headers: Headers;
  text: string;
}

type Headers = Awaited<ReturnType<typeof fetch>>['headers'];

/** Sends requests, and has recorded their outcomes. */
export interface SoakClient {
  send: (request: SoakRequest) => Promise<SoakResponse>;
  /** Records an exchange that something else has made, such as an exporter. */
  record: (kind: string, ms: number) => void;
  /** Runs something, and records its error. */
  attempt: (kind: string, run: () => Promise<void>) => Promise<void>;
  /** Returns the latencies by kind since the last call. */
  takeLatencies: () => Record<string, number[]>;
  counts: { requests: number; moved: number };
  errors: string[];
}

const ERRORS_MAX = 50;

/**
 * Creates a client. Requests go to the services in turn; one whose service ends is sent again to the
 * first service, which never ends.
 */
export function createSoakClient(t: Test, services: () => readonly ServiceAddress[]): SoakClient {
  const dispatcher = new Agent();
  t.teardown(() => dispatcher.destroy());
  const errors: string[] = [];
  const counts = { requests: 0, moved: 0 };
  let latencies: Record<string, number[]> = {};
  const record = (kind: string, ms: number): void => {
    counts.requests += 1;
    (latencies[kind] ??= []).push(Math.round(ms * 10) / 10);
  };
  const sendTo = async (
    { url, apiKey }: ServiceAddress,
    { kind, route, body, headers, hasNoKey = false }: SoakRequest,
  ): Promise<SoakResponse> => {
    const [method = '', path = ''] = route.split(' ');
    const isEncoded = typeof body === 'string' || body instanceof Uint8Array;
    const startedMs = systemClock.monotonicMs();
    const response = await fetch(url + path, {
      method,
      dispatcher,
      redirect: 'manual',
      headers: {
        ...(!hasNoKey && { 'x-service-api-key': apiKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isEncoded ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    record(kind, systemClock.monotonicMs() - startedMs);
    return { status: response.status, headers: response.headers, text };
  };
  return {
    counts,
    errors,
    record,
    async send(request) {
      const all = services();
      const [first] = all;
      const chosen = request.isForFirst ? first : all[counts.requests % all.length];
      if (!first || !chosen) throw new Error('No service runs.');
      const response = await sendTo(chosen, request).catch((error: unknown) => {
        if (chosen === first) throw error;
        counts.moved += 1;
        return sendTo(first, request);
      });
      const { expected = [200], route } = request;
      if (!expected.includes(response.status)) {
        throw new Error(`${route}: ${response.status} ${response.text.slice(0, 300)}`);
      }
      return response;
    },
    async attempt(kind, run) {
      try {
        await run();
      } catch (error) {
        const { message, cause } = error as Error;
        const reason = cause instanceof Error ? ` (${cause.message})` : '';
        if (errors.length < ERRORS_MAX) errors.push(`${kind}: ${message}${reason}`);
      }
    },
    takeLatencies() {
      const taken = latencies;
      latencies = {};
      return taken;
    },
  };
}
