import type { FastifyInstance, FastifyReply, FastifySchemaCompiler } from 'fastify';
import {
  describeViolations,
  isMessage,
  findViolations,
  type MessageName,
} from '../src/contract/index.ts';
import type { HttpError } from '../src/http-kit/errors.ts';
import { createHttpServer, logRequestFailure, rejectOtherMethods } from '../src/http-kit/server.ts';
import type { Log } from '../src/platform/log.ts';
import { RequestError, toRequestError } from './errors.ts';
import type { KeyPair } from '../src/http-kit/self-signed.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as text, once it was read. */
    bodyText: string | undefined;
  }
}

/** Maximum size of a request body; spec 8 sets no limit for a sandbox. */
const BODY_BYTES_MAX = 1_048_576;

/** The `Content-Type` of every response. */
export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

/**
 * Creates a server that validates bodies with the contract's schemas, without coercing or removing
 * anything, and responds to every error in the sandbox error shape (spec 7, area B).
 */
export function createAgentServer(log: Log, keyPair: KeyPair | undefined): FastifyInstance {
  const app = createHttpServer({
    contentType: JSON_CONTENT_TYPE,
    bodyBytesMax: BODY_BYTES_MAX,
    tls: keyPair,
    toHttpError: toRequestError,
    toParserError: (code) =>
      code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? new RequestError('request_timeout', 'The request was not complete in time.')
        : new RequestError('bad_request', 'The request is not valid HTTP.'),
    sendError,
    logServerError: (method, error) => logRequestFailure(log, method, error),
  });
  app.decorateRequest('bodyText');
  app.setValidatorCompiler(compileValidator);
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    request.bodyText = String(body);
    done(null, parseJson(request.bodyText, request.method));
  });
  // Any other type gets a 400 instead of a 415: the interface requires a 400 for every request in
  // an invalid format, and its error table for sandboxes has no 415 (spec 7, area B).
  app.addContentTypeParser('*', (request, _body, done) => {
    if (request.method === 'DELETE') {
      done(null);
      return;
    }
    const type = JSON.stringify(request.headers['content-type'] ?? 'nothing');
    done(new RequestError('bad_request', `Content-Type must be application/json, got ${type}.`));
  });
  return app;
}

/** Responds with 405 to all methods of a route except these. */
export function allowOnly(app: FastifyInstance, url: string, methods: string[]): void {
  const createError = (message: string, headers: Record<string, string>): RequestError =>
    new RequestError('method_not_allowed', message, headers);
  rejectOtherMethods(app, url, methods, createError);
}

function sendError(reply: FastifyReply, { status, headers, body }: HttpError): FastifyReply {
  // Fastify closes the connection after a body that it could not parse. A body that was read to its
  // end leaves the connection usable.
  if (reply.request.bodyText !== undefined) reply.removeHeader('connection');
  return reply.code(status).headers(headers).type(JSON_CONTENT_TYPE).send(body);
}

function parseJson(body: string, method: string): unknown {
  // Many clients send a Content-Type with a DELETE that has no body.
  if (body === '' && method === 'DELETE') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    const problem = body === '' ? 'The body is empty.' : 'The body is not valid JSON.';
    throw new RequestError('bad_request', `${problem} Send a JSON object.`);
  }
}

/** Compiles a schema to the contract's validator of the message that the schema's title names. */
const compileValidator: FastifySchemaCompiler<{ title: MessageName }> = ({ schema: { title } }) => {
  return (value: unknown) =>
    isMessage(title, value) || {
      error: new RequestError(
        'bad_request',
        `${describeViolations(findViolations(title, value))}.`,
      ),
    };
};
