import { types } from 'node:util';
import { z } from 'zod';
import { judgedRoutes, judgeExchange } from '../../conformance/index.ts';
import { isObject } from '../platform/json.ts';
import * as schemas from '../platform/options.ts';

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

/** A deviation of one exchange from the interface. */
export interface ExchangeFinding {
  /** The id of the requirement, such as `CHAT-024`. `sandbox-kit explain ID` prints the details. */
  id: string;
  /** `fail` for a rule, `warn` for a recommendation or a target. */
  verdict: 'fail' | 'warn';
  /** The rule, in one sentence. */
  rule: string;
  /** Section of the specification. */
  section: string;
  /** JSON pointer into the response body; empty if the finding concerns the whole response. */
  pointer: string;
  expected: string;
  received: string;
  /** How to fix the usual cause, if there is one. */
  hint?: string;
  /** The change to the response that would fix it. */
  repair?: string;
}

const PATH = 'a path or a URL, such as /v1/chat/completions';
const headersOption = schemas.objectOption;

const exchangeSchema = schemas.optionsObject<Exchange>(
  {
    request: schemas.optionsObject<ExchangeRequest>(
      {
        method: schemas.nonEmptyStringOption,
        path: z.string(PATH).regex(/^(\/|https?:\/\/)/i, PATH),
        headers: headersOption,
        body: z.unknown(),
      },
      ['method', 'path'],
    ),
    response: schemas.optionsObject<ExchangeResponse>(
      {
        status: schemas.integerOption(100, 599),
        headers: headersOption,
        body: z.unknown(),
      },
      ['status'],
    ),
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
  schemas.checkOptions('validateExchange', exchangeSchema, exchange);
  const { request, response, durationMs = 0 } = exchange;
  const { method, path } = request;
  const findings = judgeExchange({
    request: {
      ...{ method, path: pathOf(path), headers: readHeaders(request.headers) },
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
    `validateExchange: ${method} ${pathOf(path).slice(0, 100)} is not a route of the interface. ` +
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
  if (!types.isUint8Array(body)) return { body: JSON.stringify(body) };
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes)
    ? { body: text }
    : { body: text, bodyBase64: bytes.toString('base64') };
}

/** Returns whether a value has the form of an exchange. */
export function isExchange(value: unknown): value is Exchange {
  return isObject(value) && isObject(value['request']) && isObject(value['response']);
}
