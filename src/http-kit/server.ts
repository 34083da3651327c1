import type { Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { errorOrigin } from '../platform/error-origin.ts';
import type { Log } from '../platform/log.ts';
import { endConnection, limitConnectionsPerAddress } from './connection-limits.ts';
import type { HttpError } from './errors.ts';
import { findHostProblem } from './local-access.ts';

/** Time limit of a request. Node's default of 300 s would let a slow client keep a connection. */
export const REQUEST_TIMEOUT_MS = 60_000;

// By default, Node looks every 30 s, so a request could take that much longer than its limit.
const TIMEOUT_CHECK_INTERVAL_MS = 5_000;

/** Time limit of the headers. A connection that never sends a byte is closed within 60 s. */
const HEADERS_TIMEOUT_MS = 50_000;

// Longer than any valid id, so that the id check rejects a long id instead of a "not found".
const PATH_PARAMETER_LENGTH_MAX = 16_384;

/** What differs between the servers: their error shape, their content type, and their limits. */
export interface HttpServerOptions {
  /** The `Content-Type` of JSON responses and errors. */
  contentType: string;
  /** Returns the error to respond with for anything that a handler throws. */
  toHttpError: (error: unknown) => HttpError;
  /** Returns the error for a message that Node's HTTP parser rejects, by Node's error code. */
  toParserError: (code: string) => HttpError;
  /** Sends an error response. */
  sendError: (reply: FastifyReply, error: HttpError) => FastifyReply;
  /** Shows a browser an error of its URL as a page; returns false if the request wants no page. */
  sendErrorPage?: (request: FastifyRequest, reply: FastifyReply, error: unknown) => boolean;
  /** Called for each error that a handler did not throw on purpose and that became a 5xx. */
  logServerError: (method: string, error: unknown) => void;
  /** Maximum size of a request body; Fastify's default is 1 MiB. */
  bodyBytesMax?: number;
  /** Connections that one address may have (default: any number). */
  connectionsPerAddressMax?: number;
  /** PEM certificate and key for HTTPS. */
  tls?: { cert: string; key: string } | undefined;
}

/**
 * Replaces Fastify's own schema compilers, which take long to load. A server that validates sets a
 * validator compiler, and responses are serialized without a schema.
 */
const compilersFactory = {
  buildValidator: rejectSchemas,
  buildSerializer: rejectSchemas,
};

function rejectSchemas(): never {
  throw new Error('Set a validator compiler before you add a route with a schema.');
}

/** Has the shape of the errors that Fastify blames on a request. */
class HostError extends Error {
  readonly statusCode = 400;
  readonly code = 'HOST';
}

/**
 * Creates a Fastify server without content type parsers that writes every error in the server's own
 * shape and serializes responses without a schema.
 */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { contentType, bodyBytesMax, tls, toHttpError, sendError } = options;
  const serverOptions = {
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    // `findHostProblem` requires it; Node would respond without a body.
    requireHostHeader: false,
  };
  const app: FastifyInstance = fastify({
    ...(bodyBytesMax !== undefined && { bodyLimit: bodyBytesMax }),
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: PATH_PARAMETER_LENGTH_MAX },
    schemaController: { compilersFactory },
    forceCloseConnections: 'idle',
    // Requests that arrive during the shutdown still get a response before the connection closes.
    return503OnClosing: false,
    ...(tls ? { https: { ...tls, ...serverOptions } } : { http: serverOptions }),
    clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket) {
      if (error.code === 'ECONNRESET' || !socket.writable) return;
      endConnection(socket, formatRawError(options.toParserError(error.code ?? ''), contentType));
    },
    frameworkErrors: (error, request, reply) => {
      if (options.sendErrorPage?.(request, reply, error)) return;
      void sendError(reply, toHttpError(error));
    },
  });
  const { connectionsPerAddressMax } = options;
  if (connectionsPerAddressMax !== undefined) {
    limitConnectionsPerAddress(app.server, connectionsPerAddressMax);
  }
  // Node would respond to an unknown `Expect` with a 417 without a body. It may also be ignored (RFC
  // 9110, 10.1.1).
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  app.setReplySerializer((payload) => JSON.stringify(payload));
  app.removeAllContentTypeParsers();
  app.addHook('onRequest', (request, _reply, done) => {
    const problem = findHostProblem(request.raw);
    done(problem === undefined ? undefined : new HostError(problem));
  });
  app.setErrorHandler((error, request, reply) => {
    const httpError = toHttpError(error);
    if (httpError.status >= 500 && error !== httpError) {
      options.logServerError(request.method, error);
    }
    return sendError(reply, httpError);
  });
  return app;
}

/**
 * Returns an error as a complete HTTP response, for a socket without a Fastify reply. The response
 * closes the connection.
 */
export function formatRawError({ status, headers, body }: HttpError, contentType: string): string {
  const text = JSON.stringify(body);
  const lines = [
    // The reason phrase may be empty, but the space before it is required.
    `HTTP/1.1 ${status} `,
    'Connection: close',
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** Logs an internal error without its message, which may quote a conversation. */
export function logRequestFailure(log: Log, method: string, error: unknown): void {
  log.error('request_failed', { method, ...errorOrigin(error) });
}

/**
 * Rejects every method that a path does not support.
 * @param createError Creates the 405 error with this message and these headers.
 * @param hint Appended to the message.
 */
export function rejectOtherMethods(
  app: FastifyInstance,
  url: string,
  allowed: readonly string[],
  createError: (message: string, headers: Record<string, string>) => HttpError,
  hint = '',
): void {
  const allow = allowed.join(', ');
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    onRequest({ method }) {
      throw createError(`${method} is not supported here. Use ${allow}.${hint}`, { allow });
    },
    handler: () => undefined,
  });
}

/** Returns a path of the contract, with parameters in braces, as a pattern of Fastify. */
export function toRoutePattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Describes a route that does not exist, without the query, which may contain a key. */
export function describeUnknownRoute({ method, url }: { method: string; url: string }): string {
  return `Route ${method} ${url.replace(/\?.*$/s, '').slice(0, 200)} does not exist.`;
}

/** Sends JSON for people to read: indented, with a final newline. */
export function sendPrettyJson(reply: FastifyReply, value: object): FastifyReply {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  return reply.type('application/json').send(Buffer.from(text));
}
