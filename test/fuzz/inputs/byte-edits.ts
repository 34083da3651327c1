/** Changes of texts and bytes, each of which shrinks to none. */
import fc, { type Arbitrary } from 'fast-check';
import { WORDS } from './words.ts';

/** Replaces a few bytes. `at` is a fraction of the length, in millionths. */
export interface ByteEdit {
  at: number;
  /** How many bytes are removed. */
  remove: number;
  insert: Uint8Array;
  /** How often `insert` is inserted. */
  times: number;
}

/** What parsers of several formats treat specially. */
const TOKENS = [
  ...WORDS,
  ...[
    '1e999',
    '-0',
    '{"a":1,"a":2}',
    '\\u0000',
    '\\ud800',
    '/*',
    '*/',
    '//',
    "'",
    ',',
    ':',
    ';',
    '=',
  ],
  ...[
    '\r\n\r\n',
    '\r',
    ': ',
    '- ',
    '&a ',
    '*a',
    '<<: *a',
    '!!js/function',
    '!!binary ',
    '---\n',
    '...\n',
  ],
  ...['%YAML 9.9', '|', '>', '? ', '{{', '\x1b[31m', '\x7f', '\x80', '\xff\xfe'],
].map((text) => Buffer.from(text));

const BYTES = [
  ...[[0], [0xff], [0x80], [0x7f], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]],
  ...[
    [0xff, 0xff, 0xff, 0xff, 0x0f],
    [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  ],
  ...[[0x1f, 0x8b], [0x0a], [0x12, 0x00], [0x00, 0x00, 0x00, 0x00], [0x7f, 0xff, 0xff, 0xff]],
].map((bytes) => Buffer.from(bytes));

const byteEdit: Arbitrary<ByteEdit> = fc.record({
  at: fc.nat(1_000_000),
  remove: fc.oneof(
    { weight: 4, arbitrary: fc.nat(4) },
    { weight: 1, arbitrary: fc.constantFrom(16, 100, 1_000, 1_000_000_000) },
  ),
  insert: fc.oneof(
    { weight: 2, arbitrary: fc.uint8Array({ maxLength: 4 }) },
    { weight: 2, arbitrary: fc.constantFrom<Uint8Array>(...TOKENS) },
    { weight: 1, arbitrary: fc.constantFrom<Uint8Array>(...BYTES) },
  ),
  times: fc.oneof(
    { weight: 40, arbitrary: fc.constant(1) },
    { weight: 4, arbitrary: fc.constantFrom(2, 50) },
    { weight: 1, arbitrary: fc.constant(1_000) },
  ),
});

/** No changes in most cases, else a few. */
export const rareByteEdits: Arbitrary<ByteEdit[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<ByteEdit[]>([]) },
  { weight: 1, arbitrary: fc.array(byteEdit, { minLength: 1, maxLength: 4 }) },
);

export const byteEdits: Arbitrary<ByteEdit[]> = fc.array(byteEdit, { maxLength: 6 });

/** Repetitions make no input larger than this. */
const BYTES_MAX = 400_000;

/** Returns bytes with changes. */
export function editBytes(bytes: Uint8Array, edits: readonly ByteEdit[]): Buffer {
  let edited = Buffer.from(bytes);
  for (const { at, remove, insert, times } of edits) {
    const start = Math.floor((edited.length * at) / 1_000_000);
    const count = Math.min(times, Math.ceil(BYTES_MAX / Math.max(1, insert.length)));
    edited = Buffer.concat([
      edited.subarray(0, start),
      ...Array.from({ length: count }, () => insert),
      edited.subarray(start + remove),
    ]);
  }
  return edited;
}
