/** The patterns of the schemas in words, so that no message shows a regular expression. */

/** Ids of our own; the captured text is the maximum length. */
const ID_PATTERN = /^\^\(\?!\\\.\{1,2\}\$\)\[A-Za-z0-9_\.-\]\{1,(\d+)\}\$$/;

const PARTS_OF_URL = 'without a user name, a query, or a fragment';

/** Patterns, and the words for them; `$1` and `$2` are the numbers in a pattern. */
const WORDS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [ID_PATTERN, '1 to $1 letters, digits, dots, hyphens, or underscores, and neither . nor ..'],
  [/^\^\[A-Za-z0-9_\.-\]\{1,(\d+)\}\$$/, '1 to $1 letters, digits, dots, hyphens, or underscores'],
  [/^\^\[A-Za-z0-9_\]\{1,(\d+)\}\$$/, '1 to $1 letters, digits, or underscores'],
  [/^\^\[\\s\\S\]\{(\d+),(\d+)\}\$$/, 'a string of $1 to $2 characters'],
  [/^\^\[\^\\r\\n\]\{(\d+),(\d+)\}\$$/, 'a string of $1 to $2 characters on one line'],
  [/^\^\[\\x21-\\x7e\]\{(\d+),(\d+)\}\$$/, '$1 to $2 visible ASCII characters without spaces'],
  [/^\^https\?:.*$/, `an http or https URL ${PARTS_OF_URL}`],
  [/^\^wss\?:.*$/, `a ws or wss URL ${PARTS_OF_URL}`],
  [/^\^\[0-9A-Fa-f\]\{(\d+)\}\$$/, '$1 hexadecimal digits'],
  [/^\^\(\[0-9A-Fa-f\]\{(\d+)\}\)\?\$$/, '$1 hexadecimal digits, or empty'],
  [/^\^\[0-9a-f\]\{(\d+)\}\$$/, '$1 lowercase hexadecimal digits'],
  [/^\^\[0-9\]\{1,(\d+)\}\$$/, '1 to $1 digits'],
  [/^\^-\?\[0-9\]\{1,(\d+)\}\$$/, '1 to $1 digits, with or without a minus sign'],
  [/^\^\[1-9\]\[0-9\]\*\$$/, 'the digits of a number above 0'],
  [/^\^\[A-Za-z0-9\+\/(?:_-)?\][*+]=.*$/, 'base64'],
  [/^\^\[imsu\]\*\$$/, 'some of the letters i, m, s, and u'],
  [/^\^\[A-Za-z\]\{2,3\}\(-.*$/, 'a language tag such as en or de-CH'],
  [/^(?:\.|\\S)$/, 'a string that is not empty'],
];

/** Returns whether a pattern is that of ids. */
export const isIdPattern = (pattern: string): boolean => ID_PATTERN.test(pattern);

/** Describes a pattern in words. */
export function describePattern(pattern: string): string {
  const found = WORDS.find(([form]) => form.test(pattern));
  return found ? pattern.replace(...found) : `a string like ${pattern}`;
}
