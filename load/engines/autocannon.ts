/** The engine `autocannon`: a closed loop, through the documented interface of autocannon only. */
import type { SecureContextOptions } from 'node:tls';
// @ts-expect-error The package has no types.
import autocannon from 'autocannon';
import autocannonPackage from 'autocannon/package.json' with { type: 'json' };
import type { Clock } from '../../src/platform/clock.ts';
import { classifyFailure } from './failures.ts';
import type { ExchangeResult, OutgoingRequest } from './transport.ts';

/** Name and version of the HTTP client. */
export const AUTOCANNON_NAME = `autocannon ${autocannonPackage.version}`;

/** A request to send, and what to do with its result. */
export interface NextRequest {
  outgoing: OutgoingRequest;
  onEnd: (result: ExchangeResult) => void;
}

/** Settings of a run of autocannon. */
export interface AutocannonOptions {
  /** Base URL of the sandbox. */
  target: string;
  /** CA and client certificate. */
  tls?: SecureContextOptions;
  clock: Clock;
  connections: number;
  /** A request that takes longer is a timeout; 1 s or more. */
  timeoutMs: number;
  /** Returns the next request immediately before it is sent. */
  next: () => NextRequest;
  /** Called when autocannon can no longer read the responses on a connection. */
  onUnreadable: () => void;
}

/** A run of autocannon. */
export interface AutocannonRun {
  /** Rejects if autocannon refuses its options. */
  readonly ended: Promise<unknown>;
  /** Stops sending. Requests in flight have no result. */
  stop(): Promise<void>;
}

/** Longer than any run: the caller stops it. */
const DURATION_S = 2_000_000;
/** autocannon stops only at the end of a sample. */
const SAMPLE_MS = 20;
/** The timers of autocannon count whole milliseconds, so a timeout can be a little early. */
const TIMER_MS = 5;

/** Sends requests until it is stopped: each connection sends the next one after a response. */
export function startAutocannon(options: AutocannonOptions): AutocannonRun {
  const { target, tls = {}, connections, timeoutMs } = options;
  const url = new URL(target);
  const base = url.pathname.replace(/\/+$/, '');
  let latestError: unknown;
  const instance = start({
    url: url.origin,
    tlsOptions: tls,
    connections,
    duration: DURATION_S,
    sampleInt: SAMPLE_MS,
    timeout: timeoutMs / 1_000,
    setupClient: (client) =>
      followClient(client, { ...options, base, findError: () => latestError }),
  });
  // The event does not name the connection, but autocannon connects again right after it.
  instance.on('reqError', (error) => {
    latestError = error;
    queueMicrotask(() => (latestError = undefined));
  });
  const ended = Promise.resolve(instance);
  return {
    ended,
    async stop() {
      instance.stop();
      await ended;
    },
  };
}

/** A request without a result so far. */
interface Current extends NextRequest {
  sentMs: number;
  firstByteMs?: number;
  /** Whether it was sent again after a close that the sandbox had announced. */
  isResent: boolean;
}

interface ClientParts extends AutocannonOptions {
  base: string;
  /** Returns the error that just ended a connection; undefined if the sandbox closed it. */
  findError: () => unknown;
}

/** Gives a client its requests, and finds out which of them got no response. */
function followClient(client: Client, parts: ClientParts): void {
  const { clock, base, next } = parts;
  let current: Current | undefined;
  let isClosing = false;
  client.on('headers', () => {
    if (current) current.firstByteMs ??= clock.monotonicMs();
  });
  client.setRequests([
    {
      setupRequest(template) {
        const unanswered = current;
        const sentMs = clock.monotonicMs();
        if (unanswered && isClosing) {
          // autocannon sends on a connection even after `Connection: close`, and such a request is lost.
          current = { ...unanswered, sentMs, isResent: true };
          isClosing = false;
        } else {
          if (unanswered) fail(unanswered, parts);
          current = { ...next(), sentMs, isResent: false };
        }
        const { method, path, headers, body = '' } = current.outgoing;
        return { ...template, method, path: base + path, headers: { ...headers }, body };
      },
      onResponse(status, body, _context, raw) {
        if (!current) return;
        const { sentMs, firstByteMs, onEnd } = current;
        current = undefined;
        const headers = Object.fromEntries(
          Object.entries(raw).map(([name, value]) => [name.toLowerCase(), value]),
        );
        isClosing = /\bclose\b/i.test([headers['connection']].flat().join());
        onEnd({
          sentMs,
          endedMs: clock.monotonicMs(),
          status,
          headers,
          body: Buffer.from(body),
          ...(firstByteMs !== undefined && { firstByteMs }),
        });
      },
    },
  ]);
}

/** Ends a request without a response. autocannon has just connected again. */
function fail(current: Current, { clock, timeoutMs, findError, onUnreadable }: ClientParts): void {
  const { sentMs, firstByteMs, isResent, onEnd } = current;
  const endedMs = clock.monotonicMs();
  const hasStatus = firstByteMs !== undefined;
  const error = findError() ?? new Error('The sandbox closed the connection.');
  const fault =
    endedMs - sentMs >= timeoutMs - TIMER_MS
      ? { kind: 'timeout' as const, message: `no complete response within ${timeoutMs} ms` }
      : classifyFailure(error, hasStatus);
  onEnd({ sentMs, endedMs, fault, ...(hasStatus && { firstByteMs }) });
  // The parser still waits for the rest of the response, or two connections send for one client.
  if (hasStatus || isResent) onUnreadable();
}

/** The documented interface of autocannon, as far as this engine uses it. */
interface Instance extends PromiseLike<unknown> {
  on(event: 'reqError', listener: (error: unknown) => void): void;
  stop(): void;
}

interface Client {
  on(event: 'headers', listener: () => void): void;
  setRequests(requests: RequestTemplate[]): void;
}

interface RequestTemplate {
  setupRequest: (template: object) => object;
  onResponse: (
    status: number,
    body: string,
    context: unknown,
    headers: Record<string, string | string[]>,
  ) => void;
}

interface Settings {
  url: string;
  tlsOptions: SecureContextOptions;
  connections: number;
  duration: number;
  sampleInt: number;
  timeout: number;
  setupClient: (client: Client) => void;
}

const start = autocannon as (settings: Settings) => Instance;
