import { errorOrigin } from '../../platform/error-origin.ts';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../platform/log.ts';
import {
  diskErrorCode,
  RequestError,
  SERVICE_ERROR_STATUS,
  toRequestError,
  type ServiceErrorCode,
} from '../domain/errors.ts';

/** The type of every answer in JSON, to the letter: OpenTelemetry clients compare it. */
export const jsonType = 'application/json';

/** The longest body that `/__admin` reads, in bytes. */
export const adminBodyBytesMax = 33_554_432;

// What is nested deeper than anyone writes is walked by nobody: whoever compares it may run out of
// stack.
const depthMax = 200;

/**
 * Makes fastify speak the contract instead of its own: nothing is coerced or stripped, answers are
 * written as they are, and whatever goes wrong is told as `{"message"}` (spec 7, area A).
 */
export function speakTheContract(app: FastifyInstance, log: Log): void {
  app.setReplySerializer((payload) => JSON.stringify(payload));
  // Fastify appends a charset to what it serialises; JSON has none (RFC 8259).
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (String(reply.getHeader('content-type')).startsWith(jsonType)) reply.type(jsonType);
    done(null, payload);
  });
  app.removeAllContentTypeParsers();
  app.setErrorHandler((error, request, reply) => {
    const refusal = toRequestError(error);
    if (error !== refusal) logFailure(log, request, error);
    return answerRefusal(reply, refusal);
  });
}

/** Writes a refusal. */
export function answerRefusal(reply: FastifyReply, refusal: RequestError): FastifyReply {
  const bytes = Buffer.from(JSON.stringify(refusal.body));
  return reply.code(refusal.status).headers(refusal.headers).type(jsonType).send(bytes);
}

/** Sends JSON that people read, too: in lines, and with one at the end. */
export function sendForPeople(reply: FastifyReply, value: object): FastifyReply {
  return reply.type(jsonType).send(Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
}

/**
 * Keeps fastify's hands off the bodies of a scope: what a body is, and whether one is wanted, its
 * routes say themselves. Fastify would refuse a Content-Type that it can't read, also where any is
 * to be ignored. The true headers stay in `request.raw`.
 */
export function leaveBodiesAlone(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    request.headers = {
      'content-type': undefined,
      'content-length': '0',
      'transfer-encoding': undefined,
    };
    done();
  });
}

/** Makes a scope read bodies as JSON, and nothing but JSON. An empty body is none. */
export function readJsonBodies(scope: FastifyInstance): void {
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: adminBodyBytesMax },
    (_request, body, done) => {
      if (body === '') done(null, undefined);
      else done(...parseJson(String(body)));
    },
  );
  scope.addContentTypeParser('*', (request, _body, done) => {
    const type = JSON.stringify(request.headers['content-type'] ?? 'nothing');
    // What curl sends unless it is told otherwise.
    const hint = type.includes('form-urlencoded')
      ? "; curl: -H 'content-type: application/json'"
      : '';
    done(
      new RequestError(
        'unsupported_type',
        `Content-Type must be application/json, got ${type}${hint}`,
      ),
    );
  });
}

function parseJson(text: string): [Error | null, unknown?] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [new RequestError('bad_request', 'the body is not JSON')];
  }
  if (depthOf(text) <= depthMax) return [null, value];
  return [new RequestError('bad_request', `the body is nested deeper than ${depthMax} levels`)];
}

/** How deep lists and objects are nested in a text that is JSON. */
function depthOf(json: string): number {
  let [depth, deepest, inText] = [0, 0, false];
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') inText = !inText;
    // What it escapes, which may be a quote, is passed over.
    else if (character === '\\') at += 1;
    else if (inText) continue;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, (depth += 1));
    else if (character === ']' || character === '}') depth -= 1;
  }
  return deepest;
}

/** Answers every method that a path does not have with 405, the ones that it has, and a hint. */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  allowed: readonly string[],
  hint = '',
): void {
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    onRequest(request) {
      const message = `there is no ${request.method} here, only ${allowed.join(', ')}${hint}`;
      throw new RequestError('method_not_allowed', message, { allow: allowed.join(', ') });
    },
    handler: () => undefined,
  });
}

const brokenCodes: Record<string, ServiceErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};
const brokenMessages: Partial<Record<ServiceErrorCode, string>> = {
  headers_too_large: 'the request line and headers are too long',
  request_timeout: 'the request did not come to its end in time',
};

/** What is sent to a peer whose bytes were not HTTP: there is no request and no reply yet. */
export function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const code = brokenCodes[error.code ?? ''] ?? 'bad_request';
  const text = JSON.stringify({ message: brokenMessages[code] ?? 'this is not an HTTP request' });
  socket.end(
    `HTTP/1.1 ${SERVICE_ERROR_STATUS[code]} Refused\r\nConnection: close\r\n` +
      `Content-Type: ${jsonType}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
}

/** A failure of ours, told without what was said: an error's message may quote a conversation. */
function logFailure(log: Log, request: FastifyRequest, error: unknown): void {
  const code = diskErrorCode(error);
  if (code !== undefined) log.error('the disk takes nothing', { method: request.method, code });
  else if (toRequestError(error).code === 'failed') logFault(log, request, error);
}

function logFault(log: Log, request: FastifyRequest, error: unknown): void {
  const { name, at } = errorOrigin(error);
  log.error('a request failed', { method: request.method, error: name, where: at });
}
