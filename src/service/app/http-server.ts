import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { HttpError } from '../../http-kit/errors.ts';
import { findConnectionsPerAddressMax } from '../../http-kit/connection-limits.ts';
import { createHttpServer, logRequestFailure } from '../../http-kit/server.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { createDatabaseProblemLog, type DatabaseProblemLog } from '../background/database-retry.ts';
import {
  RequestError,
  SERVICE_ERROR_STATUS,
  toRequestError,
  type ServiceErrorCode,
} from '../requests/errors.ts';
import { findDatabaseProblem } from '../store/database-problem.ts';
import { sendErrorPage } from '../web/frame/errors.ts';
import { discardBody } from './discard-body.ts';

// Without a charset: JSON has none (RFC 8259), and OpenTelemetry clients compare the exact value.
const JSON_CONTENT_TYPE = 'application/json';

/** The errors for requests that Node's HTTP parser rejects, by Node's error code. */
const PARSER_ERRORS: Record<string, [code: ServiceErrorCode, message: string]> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request line and headers are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request was not complete in time.'],
};

/** Creates a server that responds to every error with `{"message"}` (spec 7, area A). */
export function createServiceServer(
  log: Log,
  databaseProblems: DatabaseProblemLog = createDatabaseProblemLog(
    { log, clock: systemClock },
    'requests',
  ),
): FastifyInstance {
  const app = createHttpServer({
    contentType: JSON_CONTENT_TYPE,
    connectionsPerAddressMax: findConnectionsPerAddressMax(),
    toHttpError: toRequestError,
    toParserError: (parserCode) => {
      const [code, message] = PARSER_ERRORS[parserCode] ?? [];
      return new RequestError(code ?? 'bad_request', message ?? 'The request is not valid HTTP.');
    },
    sendError,
    sendErrorPage: (request, reply, error) => sendErrorPage(request, reply, toRequestError(error)),
    logServerError: createServerErrorLog(log, databaseProblems),
  });
  // Fastify appends a charset to the type of serialized responses.
  app.addHook('onSend', (_request, reply, payload, done) => {
    const type = String(reply.getHeader('content-type'));
    if (type.startsWith(JSON_CONTENT_TYPE)) reply.type(JSON_CONTENT_TYPE);
    done(null, payload);
  });
  return app;
}

/** Creates the function that logs errors that no handler expected. */
export function createServerErrorLog(
  log: Log,
  databaseProblems: DatabaseProblemLog,
): (method: string, error: unknown) => void {
  return (method, error) => {
    const problem = findDatabaseProblem(error);
    if (problem) databaseProblems.report(problem);
    else logRequestFailure(log, method, error);
  };
}

/** The replies that are errors, for `finishRequestFirst`. */
const errorReplies = new WeakSet<FastifyReply>();

function sendError(reply: FastifyReply, { status, headers, body }: HttpError): FastifyReply {
  errorReplies.add(reply);
  const bytes = Buffer.from(JSON.stringify(body));
  return reply.code(status).headers(headers).type(JSON_CONTENT_TYPE).send(bytes);
}

/**
 * Leaves the bodies of a scope to its routes. Fastify would reject a Content-Type that it can't
 * parse, even where the interface ignores it. The original headers are in `request.raw`.
 */
export function leaveBodiesUnread(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    request.headers = {
      'content-type': undefined,
      'content-length': '0',
      'transfer-encoding': undefined,
    };
    done();
  });
}

/**
 * Lets a client that is still sending its body read an error: the whole error is sent immediately,
 * but the response ends only after the request. If it ended earlier, a client that asked for
 * `Connection: close` would lose its connection while sending.
 */
export function finishRequestFirst(scope: FastifyInstance): void {
  scope.addHook<Buffer>('onSend', (request, reply, payload, done) => {
    // A body that was cut because it was too slow gets no more time.
    const isCut = reply.statusCode === SERVICE_ERROR_STATUS.request_timeout;
    if (request.raw.complete || isCut || !errorReplies.has(reply)) {
      done(null, payload);
      return;
    }
    // Clients send in real time, not by the service clock.
    const received = discardBody(request.raw, systemClock);
    reply.header('content-length', payload.length);
    const response = async function* (): AsyncGenerator<Buffer> {
      yield payload;
      await received;
    };
    done(null, Readable.from(response()));
  });
}
