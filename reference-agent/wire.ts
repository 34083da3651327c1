import { errorOrigin } from '../src/platform/error-origin.ts';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import { explain, isMessage, violations, type MessageName } from '../src/contract/index.ts';
import type { Log } from '../src/platform/log.ts';
import { RequestError, toRequestError } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, once it was read. */
    bodyText: string | undefined;
  }
}

/** The longest body that the agent reads, in bytes; spec 8 sets no limit for a sandbox. */
export const bodyBytesMax = 1_048_576;

/** The type of every answer. */
export const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

/**
 * Makes fastify speak the contract instead of its own: bodies are validated by the contract's
 * schemas and never coerced or stripped, answers are written as they are, and whatever goes wrong
 * is told in the sandbox error shape (spec 7, area B).
 */
export function speakTheContract(app: FastifyInstance, log: Log): void {
  app.decorateRequest('bodyText');
  app.setValidatorCompiler(validator);
  app.setReplySerializer((payload) => JSON.stringify(payload));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    request.bodyText = String(body);
    done(null, parseJson(request.bodyText, request.method));
  });
  // A type of its own is refused with 400 and not 415: the interface wants a 400 for every request
  // of an invalid format, and its error table for sandboxes knows no 415 (spec 7, area B).
  app.addContentTypeParser('*', (request, _body, done) => {
    if (request.method === 'DELETE') {
      done(null);
      return;
    }
    const type = JSON.stringify(request.headers['content-type'] ?? 'nothing');
    done(new RequestError('bad_request', `Content-Type must be application/json, got ${type}`));
  });
  app.setErrorHandler((error, request, reply) => {
    const refusal = toRequestError(error);
    if (refusal.code === 'server_error' && error !== refusal) logFailure(log, request, error);
    // Fastify would close the connection after any body it could not parse; this one was read to
    // its end, so the next request may follow on it.
    if (request.bodyText !== undefined) reply.removeHeader('connection');
    return answerRefusal(reply, refusal);
  });
}

/** Writes a refusal. */
export function answerRefusal(reply: FastifyReply, refusal: RequestError): FastifyReply {
  return reply
    .code(refusal.status)
    .headers(refusal.headers)
    .type(JSON_CONTENT_TYPE)
    .send(refusal.body);
}

/** What is sent to a peer whose bytes were not HTTP: there is no request and no reply yet. */
export function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const { body } = new RequestError('bad_request', 'this is not an HTTP request');
  const text = JSON.stringify(body);
  socket.end(
    'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n' +
      `Content-Type: ${JSON_CONTENT_TYPE}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
}

/** @throws RequestError `bad_request`. */
function parseJson(body: string, method: string): unknown {
  // Clients that name a type on a DELETE without a body are common, and harmless.
  if (body === '' && method === 'DELETE') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    const what = body === '' ? 'the body is empty' : 'the body is not JSON';
    throw new RequestError('bad_request', `${what}; it must be a JSON object`);
  }
}

/** Turns a message's schema into the contract's own check of it; the schema's title names it. */
const validator: FastifySchemaCompiler<{ title: MessageName }> = ({ schema: { title } }) => {
  return (value: unknown) =>
    isMessage(title, value) || {
      error: new RequestError('bad_request', whatIsWrong(title, value)),
    };
};

function whatIsWrong(title: MessageName, value: unknown): string {
  try {
    return explain(violations(title, value));
  } catch {
    // Nested so deep that it can't be shown; it does not fit all the same.
    return `the body is not a ${title}`;
  }
}

/** A failure of ours, told without what was said: an error's message may quote a conversation. */
function logFailure(log: Log, request: FastifyRequest, error: unknown): void {
  const { name, at } = errorOrigin(error);
  log.error('a request failed', { method: request.method, error: name, where: at });
}
