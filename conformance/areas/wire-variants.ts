import { sandboxErrors, type Area } from '../../src/contract/index.ts';
import { always, changes, json, jsonOf, replaces } from '../engine/mutants/combinators.ts';
import {
  variantsOf,
  type ProxyResponse,
  type TransformFactory,
  type Variant,
} from '../engine/mutants/mutant.ts';
import { isObject } from '../../src/platform/json.ts';

const ALL: readonly Area[] = ['chat', 'health', 'users'];

const variant = variantsOf('wire', ALL);

const rewritten = (write: (body: unknown) => string): TransformFactory =>
  changes(always, (answer) => {
    const body = jsonOf(answer);
    return body === undefined ? answer : { ...answer, body: write(body) };
  });

/** The same value with the keys of every object in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, reversed(part)]),
  );
}

/** Writes every letter of every string as an escape. */
function escaped(value: unknown): string {
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

const texts: Variant[] = [
  variant(
    'pretty',
    'Indents its JSON.',
    rewritten((body) => JSON.stringify(body, null, '\t')),
  ),
  variant(
    'padded',
    'Ends its JSON with line breaks.',
    rewritten((body) => `\r\n ${JSON.stringify(body)}\r\n`),
  ),
  variant(
    'reversed',
    'Orders keys the other way round.',
    rewritten((body) => JSON.stringify(reversed(body))),
  ),
  variant('escaped', 'Escapes letters that need no escape.', rewritten(escaped)),
];

const typed = (type: string | undefined): TransformFactory =>
  changes(always, (answer) => {
    const { 'content-type': _own, ...headers } = answer.headers;
    return {
      ...answer,
      headers: type === undefined ? headers : { ...headers, 'content-type': type },
    };
  });

const messages: Variant[] = [
  variant('chunked', 'Sends bodies in chunks.', replaces(always, { framing: 'chunked' })),
  variant(
    'closes',
    'Ends bodies by closing the connection.',
    replaces(always, { framing: 'close' }),
  ),
  variant('type-missing', 'Names no content type.', typed(undefined)),
  variant('type-charset', 'Names the charset.', typed('application/json; charset=utf-8')),
  variant('type-text', 'Calls its JSON plain text.', typed('text/plain')),
  variant(
    'type-problem',
    'Calls its JSON by a name of its own.',
    typed('application/vnd.agent+json'),
  ),
  variant('reason', 'Has reason phrases of its own.', replaces(always, { reason: 'Whatever' })),
  variant(
    'header-case',
    'Writes header names in capitals, and sends more of them.',
    changes(always, (answer) => ({
      ...answer,
      headers: {
        ...Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [name.toUpperCase(), value]),
        ),
        'X-REQUEST-ID': 'r-1',
        SERVER: 'agent',
        'SET-COOKIE': 'route=1',
      },
    })),
  ),
];

const { type } = sandboxErrors.rate_limit_exceeded;
const putOff = (headers: Record<string, string>): ProxyResponse =>
  json(429, { error: { message: 'Wait.', type, code: 'rate_limit_exceeded' } }, headers);

/** Puts every ninth request off. */
const limited = (headers: Record<string, string>): TransformFactory => {
  return () => {
    let asked = 0;
    return async (one, forward) => (++asked % 9 === 0 ? putOff(headers) : forward(one));
  };
};

const limits: Variant[] = [
  variant('limit-0', 'Puts requests off for no time.', limited({ 'retry-after': '0' })),
  variant('limit-1', 'Puts requests off for a second.', limited({ 'retry-after': '1' }), {
    clockFactor: 50,
  }),
  variant('limit-silent', 'Puts requests off for it does not say how long.', limited({}), {
    clockFactor: 50,
  }),
  variant(
    'limit-date',
    'Puts requests off until a moment that is over.',
    limited({ 'retry-after': 'Fri, 20 Nov 2020 09:30:00 GMT' }),
  ),
  variant('limit-first', 'Puts the first request of each kind off.', () => {
    const seen = new Set<string>();
    return async (asked, forward) => {
      const kind = asked.endpoint ?? '';
      if (seen.has(kind)) return forward(asked);
      seen.add(kind);
      return putOff({ 'retry-after': '0' });
    };
  }),
];

/** Legal variants of HTTP and JSON, for every endpoint. */
export const wireVariants: readonly Variant[] = [...texts, ...messages, ...limits];
