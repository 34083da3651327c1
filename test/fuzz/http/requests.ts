/** HTTP requests with broken parts: headers, queries, and bodies of any kind. */
import { gzipSync } from 'node:zlib';
import fc, { type Arbitrary } from 'fast-check';
import { editBytes, rareByteEdits, type ByteEdit } from '../inputs/byte-edits.ts';
import { writeJson } from '../inputs/json-edits.ts';
import { IDS, WORDS } from '../inputs/words.ts';
import type { RequestBytes } from './connection.ts';

/** A request before it is sent. */
export type Header = readonly [name: string, value: string];

export interface Request {
  method: string;
  path: string;
  headers: readonly Header[];
  body?: Uint8Array | undefined;
}

/** Header values without what would end a header. */
const HEADER_VALUES = [...WORDS, ...IDS]
  .map((word) => word.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''))
  .filter((word) => word.length < 4_000);

/** A value of a header, as bytes in latin1. */
export const headerValue: Arbitrary<string> = fc.constantFrom(...HEADER_VALUES);

/** Headers that servers look at, with any value. Those that frame the body are not among them. */
export const strangeHeaders: Arbitrary<Header[]> = fc.oneof(
  { weight: 9, arbitrary: fc.constant<Header[]>([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.tuple(
        fc.constantFrom(
          ...['accept', 'accept-encoding', 'cookie', 'origin', 'referer', 'range', 'if-none-match'],
          ...['x-forwarded-for', 'x-conversation-id', 'traceparent', 'user-agent', 'content-type'],
          ...[
            'content-encoding',
            'authorization',
            'x-service-api-key',
            'date',
            'x-http-method-override',
          ],
        ),
        headerValue,
      ),
      { minLength: 1, maxLength: 3 },
    ),
  },
);

/** A part of a path, percent-encoded in most cases. */
export const pathPart: Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...IDS) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...WORDS).map((word) => encodeURIComponent(word.toWellFormed())),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('%', '%zz', '%00', '%c0%80', '%2f', '..', '.', '', ';a=b', '+'),
  },
);

/** A query of known and unknown parameters. */
export const queryOf = (values: Readonly<Record<string, Arbitrary<string>>>): Arbitrary<string> => {
  const name = fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...Object.keys(values), 'skip') },
    { weight: 1, arbitrary: fc.constantFrom('', 'x', '__proto__', 'SKIP', 'limit[]') },
  );
  const any = fc.constantFrom(...WORDS);
  const pair = name.chain((key) =>
    fc.oneof(values[key] ?? any, any).map((value) => `${encode(key)}=${encode(value)}`),
  );
  const raw = fc.constantFrom('&&', '=', '%', '%zz=%', 'a=b=c', '?', '+', 'skip', '\\');
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant('') },
    {
      weight: 4,
      arbitrary: fc
        .array(fc.oneof({ weight: 15, arbitrary: pair }, { weight: 1, arbitrary: raw }), {
          minLength: 1,
          maxLength: 4,
        })
        .map((pairs) => `?${pairs.join('&')}`),
    },
  );
};

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

/** The bytes of a body. */
export interface BodyInput {
  value: unknown;
  edits: ByteEdit[];
  isGzip: boolean;
}

/** Bodies in JSON, some with changed bytes, some compressed. */
export const jsonBodies = (values: Arbitrary<unknown>): Arbitrary<BodyInput> =>
  fc.record({
    value: values,
    edits: rareByteEdits,
    isGzip: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.boolean()),
  });

/** Encodes a body. `encodeValue` may return undefined for a value that it can't encode. */
export function encodeBody(
  { value, edits, isGzip }: BodyInput,
  encodeValue: (value: unknown) => Uint8Array | undefined = encodeJson,
): Buffer {
  const plain = encodeValue(value) ?? encodeJson(value);
  return isGzip ? editBytes(gzipSync(plain), edits) : editBytes(plain, edits);
}

const encodeJson = (value: unknown): Buffer => Buffer.from(writeJson(value));

/** Writes a request with the length of its body. */
export function encodeRequest(
  { method, path, headers, body }: Request,
  host: string,
): RequestBytes {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${host}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body || method === 'POST' || method === 'PUT'
      ? [`content-length: ${body?.length ?? 0}`]
      : []),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return { bytes: body ? Buffer.concat([head, body]) : head, isHead: method === 'HEAD' };
}

const SHOWN_MAX = 4_000;

/** Returns a request as text. */
export const describeRequest = (request: Request, host: string): string =>
  Buffer.from(encodeRequest(request, host).bytes).toString('latin1').slice(0, SHOWN_MAX);
