/** Texts and values that programs often handle wrongly. */
import { HOSTILE_MARKUP } from '../../support/pages/hostile-markup.ts';

/** Texts that are likely to be special somewhere. */
export const WORDS: readonly string[] = [
  ...[
    '',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\0',
    '\u0085',
    '\u2028',
    '\ufeff',
    '\u202e',
    '\ud800',
    '\udc00',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
    'then',
    'null',
    'undefined',
  ],
  ...[
    '.',
    '..',
    '/',
    '//',
    '../../etc/passwd',
    '%',
    '%00',
    '%2e%2e%2f',
    '%ff',
    '*',
    '?',
    '#',
    '~',
    '~1',
  ],
  ...[`' or 1=1 --`, '"', '`', '\\', '$', '${HOME}', '{{x}}', '<!--', ']]>', HOSTILE_MARKUP],
  ...['0', '-0', '-1', '00', '1e999', '-1e999', '0x10', '1_000', 'NaN', 'Infinity', '٣', '½'],
  ...['9007199254740993', '18446744073709551616', '-9223372036854775809', '2147483648'],
  ...['true', 'false', 'yes', 'on', '1', 'TRUE', '[]', '{}', '{', '[', '""', '"\\ud800"'],
  ...['2026-11-20T09:30:00Z', '2026-11-20', '2026-02-30T00:00:00Z', '9999-12-31T23:59:60Z'],
  ...[
    '0000-01-01',
    '-000001-01-01',
    '+275760-09-14',
    '2026-11-20T09:30:00+99:99',
    '20261120T093000Z',
  ],
  ...[
    'http://127.0.0.1:9',
    'http://[::1]:9/',
    'http://user:pass@localhost:9',
    'ws://127.0.0.1:9/voice',
  ],
  ...[
    'http://',
    'https://a b',
    'http://127.0.0.1:99999',
    'file:///etc/passwd',
    'javascript:alert(1)',
  ],
  ...['ﬁ', 'İ', 'ß', 'é', 'e\u0301', '👋', '👩‍👩‍👧', 'a\u0300'.repeat(50)],
  ...['a'.repeat(64), 'a'.repeat(65), 'a'.repeat(129), 'a'.repeat(1_025), 'a'.repeat(10_001)],
  ...['(a+)+$', '(?<=a', '[', '(', '$[0].*', '$..x', '$.a[?(@)]', '/a/b~1c'],
];

/** Ids that requests have in common, so that one request finds what another one created. */
export const IDS: readonly string[] = ['a', 'b', 'c', 'shop', 'e1', 'e2', 'p1', 's1', 'u_1', 'u_2'];

/** Numbers at the limits of their representations. */
export const NUMBERS: readonly number[] = [
  ...[0, -0, 1, -1, 2, 0.5, -0.5, 255, 256, 1_000, 65_535, 65_536, 86_400_000],
  ...[2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 1e21, 1e308, 5e-324],
  ...[253_402_300_799_999, 253_402_300_800_000, 8.64e15, 8.64e15 + 1],
];

const nest = (depth: number, wrap: (value: unknown) => unknown): unknown => {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = wrap(value);
  return value;
};

/** Values that are deep or have many parts. */
export const LARGE_VALUES: readonly unknown[] = [
  ...[20, 199, 201, 3_000].map((depth) => nest(depth, (value) => [value])),
  ...[20, 199, 201].map((depth) => nest(depth, (value) => ({ a: value }))),
  Array.from({ length: 2_000 }, (_, index) => index),
  Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, index])),
  'x'.repeat(70_000),
];
