import type { FastifyInstance, FastifyReply, FastifyRequest, onResponseHookHandler } from 'fastify';
import {
  INGEST_BODY_BYTES_MAX,
  INGEST_REQUESTS_PER_MINUTE_MAX,
  type TraceExportResponse,
} from '../../contract/index.ts';
import { encodeTraceResponse } from '../../contract/otlp-protobuf.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { databaseError, RequestError, type ServiceErrorCode } from '../requests/errors.ts';
import type { DatabaseProblemLog } from '../background/database-retry.ts';
import type { Authentication, Caller } from '../requests/authentication.ts';
import type { RateLimiter, RateLimitResult } from '../requests/rate-limiter.ts';
import { createBusyError, type WorkQueue } from '../requests/work-queue.ts';
import type { ServiceCounters } from '../background/metrics.ts';
import type { AcceptedTraces } from '../exporters/accepted-traces.ts';
import { aboutExporter, readExporter } from '../exporters/exporter-name.ts';
import type { RejectedRequests } from '../exporters/rejected-requests.ts';
import { CONVERSATION_FULL_MESSAGE } from '../store/conversation-limits.ts';
import type { InsertResult, IngestLogEntry, Store } from '../store/store.ts';
import {
  BODY_MS_MAX,
  createShare,
  readBody,
  readBodyFormat,
  type BodyFormat,
  type ByteBudget,
  type Share,
} from './read-body.ts';
import { BODY_TOO_LARGE_MESSAGE } from './decode-body.ts';
import type { IngestResult, IngestTask, IngestThread } from './ingest-thread.ts';

/** Dependencies of the ingest endpoint. */
export interface IngestDeps {
  clock: Clock;
  /** Limits how long a body may take. Tests do not advance it, because clients send in real time. */
  machineClock: Clock;
  log: Log;
  databaseProblems: DatabaseProblemLog;
  authentication: Authentication;
  rateLimiter: RateLimiter;
  budget: ByteBudget;
  writer: IngestThread;
  queue: Pick<WorkQueue, 'checkRoom' | 'enter'>;
  store: Pick<Store, 'ingestLog'>;
  rejectedRequests: Pick<RejectedRequests, 'count'>;
  acceptedTraces: Pick<AcceptedTraces, 'record'>;
  counters: Pick<ServiceCounters, 'traceRequests' | 'spans'>;
  /** Injects the faults set for this endpoint; throws the error to respond with. */
  injectFault: () => Promise<void>;
}

const CONTENT_TYPES = { json: 'application/json', protobuf: 'application/x-protobuf' } as const;

const BODY_TIMEOUT_MESSAGE = `The body was not complete within ${BODY_MS_MAX / 1000} s. Send smaller batches, or send faster.`;

/** What clients read while the service has more traces than it can store. */
export const TRACES_BUSY_MESSAGE =
  'The service is processing too many traces right now. Send the request again.';

/**
 * Adds `POST /v1/traces` (spec 4.1, 7). Checks a request in the order 401, 429, 415, 413, 400. While the
 * service has too many traces, it responds with 503 before that, because each check costs time.
 * Responds with 200 only after the spans are stored durably.
 */
export function addIngestRoute(app: FastifyInstance, deps: IngestDeps): void {
  const onResponse: onResponseHookHandler = (_request, { statusCode }, done) => {
    deps.counters.traceRequests.add(String(statusCode));
    done();
  };
  app.post('/v1/traces', { onResponse }, async (request, reply) => {
    deps.queue.checkRoom();
    const caller = await deps.authentication.authenticateCaller(request.raw.headers);
    const exporter = readExporter(request.raw.headers);
    try {
      admit(await deps.rateLimiter.checkRequest(caller));
      using share = createShare(deps.budget);
      const received = await receive(deps, caller, request, share);
      if (received === undefined) return await reply.hijack();
      const origin = { ownerId: caller.ownerId, exporter, receivedAtMs: deps.clock.nowMs() };
      using _work = await deps.queue.enter();
      const result = await deps.writer.write(toTask(request, received, origin));
      recordResult(deps, result, origin);
      return await respond(reply, received.format, result);
    } catch (error) {
      if (error instanceof RequestError) {
        deps.rejectedRequests.count(caller.ownerId, error, exporter);
        await logRejection(deps, { ownerId: caller.ownerId, exporter }, error);
      }
      throw error;
    }
  });
}

/** Who sent a request, and when its body was complete. */
interface Origin {
  ownerId: string;
  exporter: string;
  receivedAtMs: number;
}

/** Counts and remembers the result of a request. */
function recordResult(
  deps: IngestDeps,
  result: IngestResult,
  { ownerId, exporter, receivedAtMs }: Origin,
): void {
  if (result.kind === 'stored') {
    countSpans(deps, result.result);
    if (result.result.inserted > 0) {
      const { hasText } = result;
      deps.acceptedTraces.record(ownerId, { receivedAtMs, exporter, hasText });
    }
    deps.databaseProblems.reportSuccess();
  } else if (result.kind === 'failed') {
    // The client can only retry; the cause is for the operator of the service.
    deps.log.error('span_write_failed', { owner: ownerId, reason: result.message });
  } else if (result.kind === 'database_failed') {
    deps.databaseProblems.report(result.problem);
  }
}

/** A span that is stored late, after its conversation was closed, also counts as inserted. */
function countSpans({ counters }: IngestDeps, result: InsertResult): void {
  const { inserted, repeated, late, rejected } = result;
  for (const [name, count] of Object.entries({ inserted, repeated, late, rejected })) {
    counters.spans.add(name, count);
  }
}

/** A 429 that follows another 429; only the first of a series is logged. */
class RepeatedRateLimitError extends RequestError {}

/** A rejection that the ingest thread has logged with the spans that caused it. */
class LoggedRejectionError extends RequestError {}

/** @throws RequestError `rate_limited` */
function admit(admission: RateLimitResult): void {
  if (admission.admitted) return;
  const { retryAfterS, isFirst } = admission;
  const message =
    `This API key sent more than ${INGEST_REQUESTS_PER_MINUTE_MAX} requests within a minute. Retry in ` +
    `${retryAfterS} s, and configure the exporter to send larger batches.`;
  throw new (isFirst ? RequestError : RepeatedRateLimitError)('rate_limited', message, {
    'retry-after': String(retryAfterS),
  });
}

/**
 * Reads a request, and counts it against the rate limit when it is complete or rejected. Returns
 * undefined if the client has disconnected.
 * @throws RequestError
 */
async function receive(
  { rateLimiter, machineClock, injectFault }: IngestDeps,
  caller: Caller,
  request: FastifyRequest,
  share: Share,
): Promise<{ format: BodyFormat; body: ArrayBuffer } | undefined> {
  try {
    const format = readBodyFormat(request.raw.headers);
    const body = await readWholeBody(request, share, machineClock);
    if (body === undefined) return undefined;
    // Not earlier: a body that is cut would use up a fault, and look like one that was refused.
    await injectFault();
    admit(await rateLimiter.countRequest(caller));
    return { format, body };
  } catch (error) {
    if (error instanceof RequestError && COUNTED_CODES.includes(error.code)) {
      admit(await rateLimiter.countRequest(caller));
    }
    throw error;
  }
}

/** The errors of requests that count against the rate limit although their body is not read. */
const COUNTED_CODES: readonly ServiceErrorCode[] = [
  'unsupported_type',
  'unsupported_encoding',
  'too_large',
  'busy',
];

/** Returns undefined if the client has disconnected. @throws RequestError */
async function readWholeBody(
  request: FastifyRequest,
  share: Share,
  clock: Clock,
): Promise<ArrayBuffer | undefined> {
  const read = await readBody(request.raw, { bytesMax: INGEST_BODY_BYTES_MAX, share, clock });
  switch (read.kind) {
    case 'read':
      return read.body;
    case 'timeout':
      throw new RequestError('request_timeout', BODY_TIMEOUT_MESSAGE, { connection: 'close' });
    case 'disconnected':
      return undefined;
    case 'busy':
      throw createBusyError(TRACES_BUSY_MESSAGE);
    case 'too_large':
      throw new RequestError('too_large', BODY_TOO_LARGE_MESSAGE);
  }
}

function toTask(
  request: FastifyRequest,
  { format, body }: { format: BodyFormat; body: ArrayBuffer },
  { ownerId, exporter, receivedAtMs }: Origin,
): IngestTask {
  const header = request.raw.headers['x-conversation-id'];
  const id = typeof header === 'string' ? decodeHeader(header) : '';
  return {
    ownerId,
    receivedAtMs,
    ...format,
    body,
    ...(id !== '' && { headerConversationId: id }),
    ...aboutExporter(exporter),
  };
}

/** Decodes a header as UTF-8 if it is valid UTF-8; Node reads all headers as Latin-1. */
function decodeHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') ? value.trim() : text.trim();
}

/** Sends the response for stored spans. @throws RequestError for any other result. */
function respond(reply: FastifyReply, format: BodyFormat, result: IngestResult): FastifyReply {
  switch (result.kind) {
    case 'stored': {
      const { contentType } = format;
      return reply
        .type(CONTENT_TYPES[contentType])
        .send(encodeResponse(contentType, result.result));
    }
    case 'rejected':
      throw new LoggedRejectionError(result.code, result.message);
    case 'malformed':
      throw new RequestError('malformed_body', result.message);
    case 'too_large':
      throw new RequestError('too_large', result.message);
    case 'busy':
      throw createBusyError(TRACES_BUSY_MESSAGE);
    case 'database_failed':
      throw databaseError(result.problem);
    case 'failed':
      throw new RequestError(
        'failed',
        'The service failed to store the spans. Send the request again.',
      );
  }
}

/** Returns an ExportTraceServiceResponse in the format of the request. It is empty unless spans were rejected. */
function encodeResponse(
  contentType: BodyFormat['contentType'],
  { rejected }: InsertResult,
): Buffer {
  if (rejected === 0) return Buffer.from(contentType === 'json' ? '{}' : '');
  const errorMessage = CONVERSATION_FULL_MESSAGE;
  if (contentType === 'protobuf') {
    return Buffer.from(encodeTraceResponse({ rejectedSpans: rejected, errorMessage }));
  }
  const response: TraceExportResponse = {
    partialSuccess: { rejectedSpans: String(rejected), errorMessage },
  };
  return Buffer.from(JSON.stringify(response));
}

/** They could not be written to the log. */
const UNLOGGED_CODES: readonly ServiceErrorCode[] = ['unwritable', 'locked', 'database_failed'];

/** Logs a rejected request where its owner looks for missing spans: in the ingest log. */
async function logRejection(
  deps: IngestDeps,
  { ownerId, exporter }: { ownerId: string; exporter: string },
  rejection: RequestError,
): Promise<void> {
  if (rejection instanceof RepeatedRateLimitError) return;
  if (rejection instanceof LoggedRejectionError || UNLOGGED_CODES.includes(rejection.code)) return;
  const entry: IngestLogEntry = {
    level: 'error',
    code: rejection.code,
    message: rejection.message,
    about: { status: rejection.status, ...aboutExporter(exporter) },
  };
  await deps.store.ingestLog
    .add(ownerId, deps.clock.nowMs(), [entry])
    // The client still gets the error response.
    .catch(() => deps.log.error('ingest_log_failed', { refused: rejection.code }));
}
