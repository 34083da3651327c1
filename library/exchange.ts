import { types } from 'node:util';
import * as z from 'zod';
import { judgedRoutes, judgeExchange, type ExchangeFinding } from '../conformance/index.ts';
import { isObject } from '../src/platform/json.ts';
import * as schemas from '../src/platform/options.ts';

/**
 * Headers of a request or response: an object, or `Headers` of the Fetch API. The value of a header
 * can be an array, as in Node.
 */
export type ExchangeHeaders =
  | { readonly [name: string]: string | number | readonly string[] | undefined }
  | { forEach(callback: (value: string, name: string) => void): void };

/** A request that a test sent. */
export interface ExchangeRequest {
  /** HTTP method, such as `POST`. */
  method: string;
  /** Path with the query, or the whole URL. */
  path: string;
  headers?: ExchangeHeaders | undefined;
  /** The body: text, bytes, or the value that was sent as JSON. */
  body?: unknown;
}

/** The response to the request. */
export interface ExchangeResponse {
  status: number;
  headers?: ExchangeHeaders | undefined;
  /** The body: text, bytes, or the value that was received as JSON. */
  body?: unknown;
}

/** A request and its response, which a test sent and received. */
export interface Exchange {
  request: ExchangeRequest;
  response: ExchangeResponse;
  /** Time from the request to the complete response; without it, targets are not judged. */
  durationMs?: number | undefined;
}

const PATH = 'a path or a URL, such as /v1/chat/completions';
const BODY = 'text, bytes, or a JSON value';
const headersOption = schemas.objectOption;

const hasMethod = (value: unknown, name: string): boolean =>
  isObject(value) && typeof value[name] === 'function';

/** Rejects bodies that JSON would silently turn into `{}`. */
const bodyOption = z.unknown().superRefine((value, context) => {
  if (['getReader', 'pipe', 'arrayBuffer'].some((name) => hasMethod(value, name))) {
    const message = `must be ${BODY}, got a stream. Read it first, for example with await response.text().`;
    context.addIssue({ code: 'custom', message });
  } else if (schemas.isPromise(value) || typeof value === 'function') {
    context.addIssue({ code: 'custom', message: BODY });
  }
});

/** Rejects a `Request` or `Response` of the Fetch API: its body can only be read asynchronously. */
function rejectFetchObject(kind: 'Request' | 'Response', parts: string): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    if (!hasMethod(value, 'arrayBuffer')) return;
    const message = `is a ${kind} of fetch, whose body is not read yet. Pass { ${parts} }.`;
    context.addIssue({ code: 'custom', message });
  });
}

const requestSchema = schemas.optionsObject<ExchangeRequest>(
  {
    method: schemas.nonEmptyStringOption,
    path: z.string(PATH).regex(/^(\/|https?:\/\/)/i, PATH),
    headers: headersOption,
    body: bodyOption,
  },
  ['method', 'path'],
);

const responseSchema = schemas.optionsObject<ExchangeResponse>(
  {
    status: schemas.integerOption(100, 599),
    headers: headersOption,
    body: bodyOption,
  },
  ['status'],
);

const exchangeSchema = schemas.optionsObject<Exchange>(
  {
    request: rejectFetchObject(
      'Request',
      'method: request.method, path: request.url, headers: request.headers, body',
    ).pipe(requestSchema),
    response: rejectFetchObject(
      'Response',
      'status: response.status, headers: response.headers, body: await response.text()',
    ).pipe(responseSchema),
    durationMs: z.number('a number of milliseconds').min(0, 'a number of milliseconds'),
  },
  ['request', 'response'],
);

/**
 * Judges one request of a test and its response. Returns the deviations of the response from the
 * interface; an empty list if it conforms. Only `check` judges rules that need several exchanges.
 *
 *     const findings = validateExchange({
 *       request: { method: 'POST', path: '/v1/chat/completions', body: request },
 *       response: { status: response.status, headers: response.headers, body: await response.json() },
 *     });
 *
 * A request that the interface allows must be accepted. Any other request may be refused; the error
 * response is then judged.
 *
 * @throws {TypeError} if the exchange is incomplete, or its route is not part of the interface.
 */
export function validateExchange(exchange: Exchange): ExchangeFinding[] {
  return findDeviations('validateExchange', exchange);
}

/** Same as `validateExchange`, with the name of the caller in messages. */
export function findDeviations(caller: string, exchange: Exchange): ExchangeFinding[] {
  schemas.validateOptions(caller, exchangeSchema, exchange);
  const { request, response, durationMs = 0 } = exchange;
  const { method, path } = request;
  const findings = judgeExchange({
    request: {
      method,
      path: pathOf(path),
      headers: readHeaders(request.headers),
      ...readBody(request.body),
    },
    response: {
      status: response.status,
      headers: readHeaders(response.headers),
      body: '',
      ...readBody(response.body),
    },
    durationMs,
  });
  if (findings) return findings;
  throw new TypeError(
    `${caller}: ${method} ${pathOf(path).slice(0, 100)} is not a route of the interface. ` +
      `Expected one of ${judgedRoutes.join(', ')}.`,
  );
}

function pathOf(path: string): string {
  const url = URL.parse(path);
  return url ? url.pathname + url.search : path;
}

/** Returns headers with lowercase names, each with one value. */
function readHeaders(headers: ExchangeHeaders = {}): Record<string, string> {
  const entries: [string, unknown][] = [];
  if (isIterableHeaders(headers)) headers.forEach((value, name) => entries.push([name, value]));
  else entries.push(...Object.entries(headers));
  return Object.fromEntries(
    entries
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]),
  );
}

const isIterableHeaders = (
  headers: ExchangeHeaders,
): headers is Extract<ExchangeHeaders, { forEach(callback: never): void }> =>
  typeof headers['forEach' as keyof typeof headers] === 'function';

/** Returns a body in the form of a recording: UTF-8 as text, other bytes as base64. */
function readBody(body: unknown): { body?: string; bodyBase64?: string } {
  if (body === undefined) return {};
  if (typeof body === 'string') return { body };
  const bytes = readBytes(body);
  if (!bytes) return { body: JSON.stringify(body) };
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes)
    ? { body: text }
    : { body: text, bodyBase64: bytes.toString('base64') };
}

/** Returns the bytes of a `Buffer`, `Uint8Array`, or `ArrayBuffer`; undefined for any other value. */
function readBytes(body: unknown): Buffer | undefined {
  if (types.isAnyArrayBuffer(body)) return Buffer.from(body);
  if (!types.isUint8Array(body)) return undefined;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** Returns whether a value has the form of an exchange. */
export function isExchange(value: unknown): value is Exchange {
  return isObject(value) && isObject(value['request']) && isObject(value['response']);
}
