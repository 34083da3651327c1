import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  INGEST_BODY_BYTES_MAX,
  pathPattern,
  serviceRoutes,
  type Endpoint,
  type ExchangeRecord,
  type Route,
} from '../../contract/index.ts';
import { isoTime, type Clock } from '../../platform/clock.ts';
import { FAULT_HEADER } from '../admin/faults.ts';
import { createRedaction, type Redaction } from './caller-redaction.ts';

/** The requests of callers and the responses of the service. Keys are redacted. */
export interface CallerRecording {
  /** ISO 8601 time when the recording started. */
  startedAt: string;
  /** Lowercase name of the header with the API key. */
  apiKeyHeader: string;
  /** In the order of arrival, with bodies. Requests to `/__admin` and to pages are not recorded. */
  exchanges: ExchangeRecord[];
  /** Number of requests that arrived after the recording was full. */
  droppedRequests: number;
}

/** Records the requests to the interface. */
export interface CallerRecorder {
  /** Records all requests to a scope from now on. */
  observe(scope: FastifyInstance): void;
  /**
   * Returns everything that got a response so far, or lost its connection. A client can read an error
   * before its body has arrived, so this waits for the rest of such bodies, for 2 s at most.
   */
  recording(): Promise<CallerRecording>;
}

export interface CallerRecorderOptions {
  /** The system clock: clients act in real time, even if a test moves the service clock. */
  clock: Clock;
  apiKeyHeader: string;
  /** Keys that no recording may contain. */
  secrets: readonly string[];
}

/** Limits of a recording. Beyond them, bodies and then requests are only counted. */
const EXCHANGES_MAX = 10_000;
const BODIES_BYTES_MAX = 134_217_728;
const RESPONSE_BYTES_MAX = 4_194_304;

/** A request whose recording may not be complete. */
interface Pending {
  request: FastifyRequest;
  reply: FastifyReply;
  startedMs: number;
  endedMs: number | undefined;
  chunks: Buffer[];
  /** Received bytes of the body, including those that are not stored. */
  bodyBytes: number;
  isBodyStored: boolean;
  response: string;
  /** Whether the connection closed before the response was sent. */
  isAborted: boolean;
}

const createPending = (
  request: FastifyRequest,
  reply: FastifyReply,
  startedMs: number,
): Pending => ({
  request,
  reply,
  startedMs,
  endedMs: undefined,
  chunks: [],
  bodyBytes: 0,
  isBodyStored: true,
  response: '',
  isAborted: false,
});

/** Creates a recorder without exchanges. */
export function createCallerRecorder(options: CallerRecorderOptions): CallerRecorder {
  const { clock, apiKeyHeader, secrets } = options;
  const originMs = clock.monotonicMs();
  const startedAt = isoTime(clock.nowMs());
  const redaction = createRedaction(apiKeyHeader, secrets);
  const all: Pending[] = [];
  const pending = new WeakMap<FastifyRequest, Pending>();
  let droppedRequests = 0;
  let bytesLeft = BODIES_BYTES_MAX;
  const now = (): number => clock.monotonicMs() - originMs;

  const start = (request: FastifyRequest, reply: FastifyReply): void => {
    if (all.length >= EXCHANGES_MAX) {
      droppedRequests += 1;
      return;
    }
    redaction.learn(request.raw.headers);
    const entry = createPending(request, reply, now());
    all.push(entry);
    pending.set(request, entry);
    watchBody(request.raw, (chunk) => {
      entry.bodyBytes += chunk.length;
      entry.isBodyStored &&= entry.bodyBytes <= INGEST_BODY_BYTES_MAX && chunk.length <= bytesLeft;
      if (entry.isBodyStored) {
        entry.chunks.push(chunk);
        bytesLeft -= chunk.length;
      } else {
        for (const { length } of entry.chunks.splice(0)) bytesLeft += length;
      }
    });
    watchEnd(reply, (isAborted) => {
      entry.isAborted = isAborted;
      entry.endedMs ??= now();
    });
  };
  const keepResponse = (request: FastifyRequest, payload: unknown): void => {
    const entry = pending.get(request);
    const text = typeof payload === 'string' || Buffer.isBuffer(payload) ? String(payload) : '';
    const length = Math.min(text.length, RESPONSE_BYTES_MAX);
    if (!entry || length > bytesLeft) return;
    bytesLeft -= length;
    entry.response = text.slice(0, length);
  };
  return {
    observe(scope) {
      scope.addHook('onRequest', (request, reply, done) => {
        start(request, reply);
        done();
      });
      scope.addHook('onSend', (request, _reply, payload, done) => {
        keepResponse(request, payload);
        done(null, payload);
      });
    },
    async recording() {
      const open = all.filter((entry) => entry.endedMs === undefined && isJudged(entry));
      await waitUntilClosed(open, clock);
      return {
        startedAt,
        apiKeyHeader,
        exchanges: all
          .filter(isJudged)
          .map((entry, index) => toRecord(entry, index + 1, entry.endedMs ?? now(), redaction)),
        droppedRequests,
      };
    },
  };
}

/** Returns whether an exchange shows a fault or a response: it has ended, or its body is still arriving. */
const isJudged = ({ endedMs, request, reply }: Pending): boolean =>
  endedMs !== undefined || reply.raw.headersSent || !request.raw.complete;

const CLOSE_MS_MAX = 2_000;

/** Waits until the responses are complete, which is after their requests. */
async function waitUntilClosed(entries: readonly Pending[], clock: Clock): Promise<void> {
  if (entries.length === 0) return;
  using deadline = clock.deadline(CLOSE_MS_MAX);
  const passed = new Promise<void>((resolve) => {
    deadline.signal.addEventListener('abort', () => resolve());
  });
  const closed = entries.map(
    ({ reply }) => new Promise<void>((resolve) => reply.raw.once('close', resolve)),
  );
  await Promise.race([Promise.all(closed), passed]);
}

/**
 * Calls `onEnd` when the response is sent, or its connection closes before that. From then on the
 * client can act on the response, so its next request may start.
 */
function watchEnd({ raw }: FastifyReply, onEnd: (isAborted: boolean) => void): void {
  // The service responds with 400 to a body that was cut off, but the client is gone.
  raw.once('finish', () => onEnd(false)).once('close', () => onEnd(!raw.writableFinished));
}

/**
 * Calls `onChunk` with each part of a body as it arrives. A listener for `data` would start the
 * stream before the route reads it.
 */
function watchBody(request: IncomingMessage, onChunk: (chunk: Buffer) => void): void {
  const push = request.push.bind(request);
  request.push = (chunk: unknown, encoding) => {
    if (Buffer.isBuffer(chunk)) onChunk(chunk);
    return push(chunk, encoding);
  };
}

function toRecord(
  entry: Pending,
  id: number,
  endedMs: number,
  { redactText, redactHeaders, redactPath }: Redaction,
): ExchangeRecord {
  const { request, reply, startedMs, response, isAborted } = entry;
  const { method = '', url = '', headers } = request.raw;
  const fault = reply.getHeader(FAULT_HEADER);
  const body = toRecordedBody(entry);
  return {
    record: 'exchange',
    id,
    probe: 'client',
    intent: 'open',
    step: fault === undefined ? 'request' : `injected ${String(fault)}`,
    endpoint: findEndpoint(method, url),
    request: {
      method,
      path: redactPath(url),
      headers: redactHeaders(headers),
      ...body,
      ...(body.body !== undefined && { body: redactText(body.body) }),
      ...(isCut(entry) && { bodyCut: true as const }),
    },
    // A client may close the connection when it has read a refusal, before it has sent the body.
    ...(reply.raw.headersSent && (!isAborted || !request.raw.complete)
      ? {
          response: {
            status: reply.statusCode,
            headers: redactHeaders(reply.getHeaders()),
            body: redactText(response),
          },
        }
      : { failure: findFailure(entry) }),
    startedMs,
    endedMs,
  };
}

const findFailure = ({ isAborted }: Pending): NonNullable<ExchangeRecord['failure']> =>
  isAborted
    ? { kind: 'reset', message: 'the client closed the connection' }
    : { kind: 'timeout', message: 'the body was not complete when the run ended' };

/** Returns whether the body of a request never became complete, although nothing refused it before. */
const isCut = ({ request, reply }: Pending): boolean =>
  !request.raw.complete && !reply.raw.headersSent;

/**
 * Returns a body as text, as base64 if it is not text, or only its size if it is not stored. If the
 * client cut the body off, returns the part that arrived.
 */
function toRecordedBody(
  entry: Pending,
): Pick<ExchangeRecord['request'], 'body' | 'bodyBase64' | 'bodyBytes'> {
  const { request, chunks, bodyBytes, isBodyStored } = entry;
  const { headers } = request.raw;
  const declared = Number(headers['content-length'] ?? 0) || 0;
  const size = isCut(entry) ? bodyBytes : Math.max(bodyBytes, declared);
  if (size === 0) return {};
  const type = headers['content-type'] ?? 'no type';
  const encoding = headers['content-encoding'];
  const summary = `${size} bytes of ${type}${encoding === undefined ? '' : `, ${encoding}`}`;
  if (!isBodyStored || bodyBytes < size) return { body: summary, bodyBytes: size };
  const bytes = Buffer.concat(chunks);
  return encoding === undefined && !type.includes('protobuf') && isUtf8(bytes)
    ? { body: bytes.toString('utf8') }
    : { body: summary, bodyBase64: bytes.toString('base64') };
}

/** The routes of the interface (spec 4.1 to 4.4). */
const ROUTES: readonly (readonly [Endpoint, Route])[] = [
  ['traces', serviceRoutes.sendTraces],
  ['end', serviceRoutes.endConversation],
  ['simulations', serviceRoutes.listSimulationSessions],
  ['production', serviceRoutes.listProductionSessions],
];

const patterns = ROUTES.map(([endpoint, route]) => ({
  endpoint,
  method: route.method,
  // An end call without an id is one, too.
  path: new RegExp(`^${pathPattern(route, '[^/]*')}$`),
}));

function findEndpoint(method: string, url: string): Endpoint {
  const path = url.replace(/\?.*$/s, '');
  const found = patterns.find((route) => route.method === method && route.path.test(path));
  return found?.endpoint ?? 'elsewhere';
}
