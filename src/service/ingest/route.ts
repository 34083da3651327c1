import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ingestBodyBytesMax } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { RequestError, diskWriteError, type ServiceErrorCode } from '../domain/errors.ts';
import type { Caller, Authentication, RateLimiter } from '../app/authentication.ts';
import type { IngestLogStore, IngestLogEntry } from '../store/store.ts';
import { readBody, createShare, type ByteBudget, type Share } from './read-body.ts';
import { readBodyFormat, type BodyFormat } from './body-format.ts';
import type { IngestResult, IngestThread } from './ingest-thread.ts';

/** What ingest works with. */
export interface IngestDeps {
  clock: Clock;
  log: Log;
  authentication: Authentication;
  rate: RateLimiter;
  budget: ByteBudget;
  writer: IngestThread;
  ingestLog: IngestLogStore;
  /** Injects the faults set for this endpoint; throws the error to respond with. */
  injectFault: () => Promise<void>;
}

const contentTypes = { json: 'application/json', protobuf: 'application/x-protobuf' } as const;

// A client that found no room comes back after this; every exporter retries a 503.
const busyRetryAfterS = 1;

/**
 * `POST /v1/traces` (spec 4.1, 7). What is refused is refused in this order: 401, 429, 415, 413,
 * 400. A 200 is sent when the spans are durable, never before.
 */
export function addIngestRoute(app: FastifyInstance, deps: IngestDeps): void {
  app.post('/v1/traces', async (request, reply) => {
    const caller = await deps.authentication.caller(request.raw.headers);
    try {
      await deps.injectFault();
      admit(deps, caller);
      const format = readBodyFormat(request.raw.headers);
      using share = createShare(deps.budget);
      const body = await wholeBody(request, share);
      if (body === undefined) return await reply.hijack();
      const result = await deps.writer.write(toWrite(request, { deps, caller, format, body }));
      if (result.kind === 'failed') {
        // The sender is told to come again; why, only who runs the service can mend.
        deps.log.error('spans were not kept', { owner: caller.ownerId, reason: result.message });
      } else if (result.kind === 'unwritable') {
        deps.log.error('the disk takes nothing', { owner: caller.ownerId, code: result.message });
      }
      return await answer(reply, format, result);
    } catch (error) {
      if (error instanceof RequestError) await noteRefusal(deps, caller, error);
      throw error;
    }
  });
}

/** A 429 that is one of many; only the first of a row goes into the log. */
class RepeatedRequestError extends RequestError {}

function admit({ rate }: IngestDeps, { keyDigest }: Caller): void {
  const admission = rate.countRequest(keyDigest);
  if (admission.admitted) return;
  const { retryAfterS, isFirst } = admission;
  const message =
    `more than 120 requests within a minute with this key; try again in ${retryAfterS} s, ` +
    'and let the exporter send larger batches';
  throw new (isFirst ? RequestError : RepeatedRequestError)('rate_limited', message, {
    'retry-after': String(retryAfterS),
  });
}

/** Undefined when the peer is gone, and there is nobody to answer. @throws RequestError. */
async function wholeBody(request: FastifyRequest, share: Share): Promise<ArrayBuffer | undefined> {
  const read = await readBody(request.raw, { bytesMax: ingestBodyBytesMax, share });
  switch (read.kind) {
    case 'read':
      return read.body;
    case 'gone':
      return undefined;
    case 'busy':
      throw tooBusy();
    case 'too_large': {
      const size = `larger than ${ingestBodyBytesMax} bytes (10 MB)`;
      throw new RequestError(
        'too_large',
        `the body is ${size}; let the exporter send smaller batches`,
      );
    }
  }
}

function tooBusy(): RequestError {
  const message = 'the service holds as much as it can at a time; send it again';
  return new RequestError('busy', message, { 'retry-after': String(busyRetryAfterS) });
}

interface Received {
  deps: IngestDeps;
  caller: Caller;
  format: BodyFormat;
  body: ArrayBuffer;
}

function toWrite(
  request: FastifyRequest,
  { deps, caller, format, body }: Received,
): Parameters<IngestThread['write']>[0] {
  const header = request.raw.headers['x-conversation-id'];
  const id = typeof header === 'string' ? fromHeader(header) : '';
  return {
    ownerId: caller.ownerId,
    receivedAtMs: deps.clock.nowMs(),
    contentType: format.contentType,
    gzip: format.gzip,
    body,
    ...(id !== '' && { headerConversationId: id }),
  };
}

/** Node reads headers as Latin-1; what a client wrote as UTF-8 is read as that. */
function fromHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') ? value.trim() : text.trim();
}

/** @throws RequestError for anything but `kept`. */
function answer(reply: FastifyReply, format: BodyFormat, result: IngestResult): FastifyReply {
  switch (result.kind) {
    case 'kept': {
      // An empty ExportTraceServiceResponse, in the request's own format.
      const body = format.contentType === 'json' ? '{}' : '';
      return reply.type(contentTypes[format.contentType]).send(Buffer.from(body));
    }
    case 'refused':
      throw new RequestError(result.code, result.message);
    case 'malformed':
      throw new RequestError('malformed_body', result.message);
    case 'too_large':
      throw new RequestError('too_large', result.message);
    case 'busy':
      throw tooBusy();
    case 'unwritable':
      throw diskWriteError();
    case 'failed':
      throw new RequestError('failed', 'the service could not keep the spans; send them again');
  }
}

/** The writer notes the first itself, with the spans that it is about; the other has no place. */
const unnoted: readonly ServiceErrorCode[] = ['no_conversation_id', 'unwritable'];

/** Tells the owner in the ingest log, where one asks why nothing appears. */
async function noteRefusal(deps: IngestDeps, caller: Caller, refusal: RequestError): Promise<void> {
  if (refusal instanceof RepeatedRequestError || unnoted.includes(refusal.code)) return;
  const note: IngestLogEntry = {
    level: 'error',
    code: refusal.code,
    message: refusal.message,
    about: { status: refusal.status },
  };
  await deps.ingestLog
    .add(caller.ownerId, deps.clock.nowMs(), [note])
    // The refusal is told to its caller all the same.
    .catch(() => deps.log.error('ingest_log_failed', { refused: refusal.code }));
}
