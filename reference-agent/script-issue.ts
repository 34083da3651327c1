import { brief, valueAt } from '../src/contract/index.ts';

/** What a validator found, as far as it is told. */
export interface Issue {
  code: string;
  path: readonly PropertyKey[];
  /** What was expected, where the code does not say it. */
  message: string;
  expected?: string;
  origin?: string;
  minimum?: number | bigint;
  maximum?: number | bigint;
  keys?: readonly string[];
}

const PLACES_TOLD_MAX = 3;

/** The first thing that is wrong with a file, where it is, and where else something is. */
export function told(value: unknown, issues: readonly Issue[]): string {
  const [first, ...more] = issues;
  if (!first) return 'is wrong';
  const place = placeOf(first);
  const at = place === '' ? '' : ` at ${place}`;
  const says = isUnknownKey(first)
    ? 'no such key is known'
    : `expected ${expectedBy(first)}, got ${brief(valueAt(value, place))}`;
  const places = more.slice(0, PLACES_TOLD_MAX).map(placeOf);
  const untold = more.length - places.length;
  const others = [...new Set(places), ...(untold > 0 ? [`${untold} more places`] : [])];
  return `is wrong${at}: ${says}${more.length === 0 ? '' : `; and at ${others.join(', ')}`}`;
}

const isUnknownKey = ({ code }: Issue): boolean => code === 'unrecognized_keys';

const placeOf = (issue: Issue): string =>
  pointerTo(isUnknownKey(issue) ? [...issue.path, issue.keys?.[0] ?? ''] : issue.path);

/** The JSON pointer to a place (RFC 6901). */
const pointerTo = (path: readonly PropertyKey[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const typeNames: Partial<Record<string, string>> = {
  object: 'an object',
  record: 'an object',
  array: 'a list',
  string: 'text',
  int: 'a whole number',
  number: 'a number',
};

function expectedBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeNames[issue.expected ?? ''] ?? issue.message;
    case 'too_small':
      return bound(issue, `${issue.minimum} or more`);
    case 'too_big':
      return bound(issue, `${issue.maximum} at most`);
    default:
      return issue.message;
  }
}

const bound = ({ origin = '' }: Issue, words: string): string =>
  ['string', 'array'].includes(origin) ? `a length of ${words}` : words;
