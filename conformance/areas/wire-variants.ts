import { sandboxErrors, type Area } from '../../src/contract/index.ts';
import {
  always,
  chain,
  changeResponse,
  editAccepted,
  jsonResponse,
  replaceParts,
  set,
} from '../engine/mutants/combinators.ts';
import { editHealth } from './sandbox-responses.ts';
import {
  createVariantFactory,
  type ProxyResponse,
  type TransformFactory,
  type Variant,
} from '../engine/mutants/mutant.ts';
import { isObject, parseJson } from '../../src/platform/json.ts';

const httpAreas: readonly Area[] = ['chat', 'health', 'users'];

const variant = createVariantFactory('wire', httpAreas);

/** Serializes every JSON body in another way. */
const serializes = (write: (body: unknown) => string): TransformFactory =>
  changeResponse(always, (response) => {
    const body = parseJson(response.body);
    return body === undefined ? response : { ...response, body: write(body) };
  });

/** Returns the value with the keys of every object in reverse order. */
function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, reverseKeys(part)]),
  );
}

/** Serializes a value with every lowercase letter in strings as a Unicode escape. */
function stringifyEscaped(value: unknown): string {
  const escape = (letter: string): string =>
    `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(
    /(?<!\\)[a-z](?=[^"\\]*")/g,
    (letter, at: number, text: string) => (isInString(text, at) ? escape(letter) : letter),
  );
}

function isInString(text: string, at: number): boolean {
  return (text.slice(0, at).replaceAll('\\"', '').match(/"/g)?.length ?? 0) % 2 === 1;
}

const serializations: Variant[] = [
  variant(
    'pretty',
    'Indents its JSON.',
    serializes((body) => JSON.stringify(body, null, '\t')),
  ),
  variant(
    'padded',
    'Puts whitespace around its JSON.',
    serializes((body) => `\r\n ${JSON.stringify(body)}\r\n`),
  ),
  variant(
    'reversed',
    'Reverses the order of keys.',
    serializes((body) => JSON.stringify(reverseKeys(body))),
  ),
  variant('escaped', 'Escapes letters that need no escape.', serializes(stringifyEscaped)),
];

/** Replaces the content type; removes it if it is undefined. */
const sendsContentType = (type: string | undefined): TransformFactory =>
  changeResponse(always, (response) => {
    const { 'content-type': _replaced, ...headers } = response.headers;
    return {
      ...response,
      headers: type === undefined ? headers : { ...headers, 'content-type': type },
    };
  });

const messages: Variant[] = [
  variant(
    'chunked',
    'Sends bodies with chunked transfer encoding.',
    replaceParts(always, { framing: 'chunked' }),
  ),
  variant(
    'closes',
    'Ends bodies by closing the connection.',
    replaceParts(always, { framing: 'close' }),
  ),
  variant('type-missing', 'Sends no content type.', sendsContentType(undefined)),
  variant(
    'type-charset',
    'Sends the charset in the content type.',
    sendsContentType('application/json; charset=utf-8'),
  ),
  variant(
    'type-text',
    'Sends JSON with the content type text/plain.',
    sendsContentType('text/plain'),
  ),
  variant(
    'type-html',
    'Sends JSON with the content type text/html.',
    sendsContentType('text/html; charset=utf-8'),
  ),
  variant(
    'type-problem',
    'Sends JSON with its own content type.',
    sendsContentType('application/vnd.agent+json'),
  ),
  variant('reason', 'Sends its own reason phrases.', replaceParts(always, { reason: 'Whatever' })),
  variant(
    'header-case',
    'Sends uppercase header names and additional headers.',
    changeResponse(always, (response) => ({
      ...response,
      headers: {
        ...Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [name.toUpperCase(), value]),
        ),
        'X-REQUEST-ID': 'r-1',
        SERVER: 'agent',
        'SET-COOKIE': 'route=1',
      },
    })),
  ),
];

const { type } = sandboxErrors.rate_limit_exceeded;
const rateLimited = (headers: Record<string, string>): ProxyResponse =>
  jsonResponse(429, { error: { message: 'Wait.', type, code: 'rate_limit_exceeded' } }, headers);

/** Responds to every ninth request with 429. */
const limitsEveryNinth = (headers: Record<string, string>): TransformFactory => {
  return () => {
    let requests = 0;
    return async (request, forward) =>
      ++requests % 9 === 0 ? rateLimited(headers) : forward(request);
  };
};

const limits: Variant[] = [
  variant(
    'limit-0',
    'Sends a 429 with a Retry-After of 0 s.',
    limitsEveryNinth({ 'retry-after': '0' }),
  ),
  variant(
    'limit-1',
    'Sends a 429 with a Retry-After of 1 s.',
    limitsEveryNinth({ 'retry-after': '1' }),
    {
      clockFactor: 20,
    },
  ),
  variant('limit-silent', 'Sends a 429 without Retry-After.', limitsEveryNinth({}), {
    clockFactor: 20,
  }),
  variant(
    'limit-date',
    'Sends a 429 with a Retry-After date in the past.',
    limitsEveryNinth({ 'retry-after': 'Fri, 20 Nov 2020 09:30:00 GMT' }),
  ),
  variant('limit-first', 'Sends a 429 to the first request to each endpoint.', () => {
    const seen = new Set<string>();
    return async (request, forward) => {
      const endpoint = request.endpoint ?? '';
      if (seen.has(endpoint)) return forward(request);
      seen.add(endpoint);
      return rateLimited({ 'retry-after': '0' });
    };
  }),
];

/** Sends this time in every field that holds one. */
const sendsTime = (time: string): TransformFactory =>
  chain(
    editHealth(set('/timestamp', time)),
    editAccepted('create', set('/created_at', time)),
    editAccepted('delete', set('/deleted_at', time)),
  );

const timeVariant = createVariantFactory('time', ['health', 'users']);

/** Forms of ISO 8601, used for every time in the responses. */
const times: Variant[] = Object.entries({
  offset: '2026-11-20T10:30:00+01:00',
  'short-offset': '2026-11-20T10:30:00-05',
  'no-zone': '2026-11-20T09:30:00',
  nanoseconds: '2026-11-20T09:30:00.123456789Z',
  comma: '2026-11-20T09:30:00,5Z',
  basic: '20261120T093000Z',
  'week-date': '2026-W47-5T09:30:00Z',
  'ordinal-date': '2026-324T09:30:00Z',
  'no-seconds': '2026-11-20T09:30Z',
  'date-alone': '2026-11-20',
}).map(([name, time]) => timeVariant(name, `Sends times such as ${time}.`, sendsTime(time)));

/** Legal variants of HTTP, JSON, and times that apply to every HTTP endpoint. */
export const wireVariants: readonly Variant[] = [
  ...serializations,
  ...messages,
  ...limits,
  ...times,
];
