import { isObject } from './json.ts';
import { suggestion } from './suggest.ts';

/** What an option must be. */
export interface OptionKind {
  /** In words, to be read behind "must be". */
  expected: string;
  /** The place within the value that is wrong and what must be there; undefined where it fits. */
  misfit: (value: unknown, name: string) => string | undefined;
}

/** What each option of a function must be. One that is missing here does not compile. */
export type OptionKinds<Options> = { readonly [Name in keyof Options]-?: OptionKind };

/**
 * Holds the options of a function against what they must be, for callers whose compiler does not: a
 * mistyped name would be passed over. Undefined counts as left out. No value is shown but a number
 * or a boolean, since a key may stand in the wrong place.
 *
 * @throws {TypeError} about the first that is unknown or wrong.
 */
export function checkOptions<Options>(
  caller: string,
  given: unknown,
  kinds: OptionKinds<Options>,
): void {
  const wrong = optionsOf(kinds).misfit(given, '');
  if (wrong !== undefined) throw new TypeError(`${caller}: ${wrong}.`);
}

/** An object with these options, or some of them. */
export function optionsOf<Options>(
  kinds: OptionKinds<Options>,
  required: readonly (keyof Options)[] = [],
): OptionKind {
  const known = Object.keys(kinds);
  return {
    expected: 'an object',
    misfit(value, name) {
      if (!isObject(value)) return misfitOf(name, 'an object', value);
      const unknown = Object.keys(value).find((key) => !known.includes(key));
      if (unknown !== undefined) {
        const meant = suggestion(unknown, known, `there are ${known.join(', ')}`);
        return `${JSON.stringify(within(name, unknown))} is no option; ${meant.replace(/\?$/, '')}`;
      }
      for (const key of known) {
        const one = value[key];
        const isMissing = one === undefined && !required.some((needed) => needed === key);
        const kind = kinds[key as keyof Options];
        const wrong = isMissing ? undefined : kind.misfit(one, within(name, key));
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    },
  };
}

const within = (name: string, key: string): string => (name === '' ? key : `${name}.${key}`);

function kindOf(expected: string, is: (value: unknown) => boolean): OptionKind {
  return {
    expected,
    misfit: (value, name) => (is(value) ? undefined : misfitOf(name, expected, value)),
  };
}

function misfitOf(name: string, expected: string, value: unknown): string {
  return `${name || 'the options'} must be ${expected}, got ${whatIs(value)}`;
}

function whatIs(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === '') return 'an empty string';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return `${value}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** An object, or an instance of a class, that has these functions. */
const withFunctions = (expected: string, names: readonly string[]): OptionKind =>
  kindOf(
    expected,
    (value) => isObject(value) && names.every((name) => typeof value[name] === 'function'),
  );

export const aText = kindOf('a string that is not empty', (value) => {
  return typeof value === 'string' && value !== '';
});
export const aString = kindOf('a string', (value) => typeof value === 'string');
export const aFlag = kindOf('true or false', (value) => typeof value === 'boolean');
export const aFunction = kindOf('a function', (value) => typeof value === 'function');
export const anObject = kindOf('an object', isObject);
export const aList = kindOf('an array', Array.isArray);
export const aPort = aWholeNumber(0, 65_535);
export const aClock = withFunctions('a clock, such as manualClock(Date.now())', [
  'nowMs',
  'monotonicMs',
  'sleep',
  'deadline',
]);
export const aLog = withFunctions('an object with the functions info, warn and error', [
  'info',
  'warn',
  'error',
]);
export const anAddress = kindOf('an address such as https://example.com', (value) => {
  return typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '');
});

/** A whole number between two bounds, both included. */
export function aWholeNumber(min: number, max: number): OptionKind {
  return kindOf(
    `a whole number from ${min} to ${max}`,
    (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  );
}

/** One of these words. */
export function oneOf(words: readonly string[]): OptionKind {
  return kindOf(
    `one of ${words.join(', ')}`,
    (value) => typeof value === 'string' && words.includes(value),
  );
}

/** An array of one kind. */
export function listOf(kind: OptionKind): OptionKind {
  return {
    expected: 'an array',
    misfit(value, name) {
      if (!Array.isArray(value)) return misfitOf(name, 'an array', value);
      const wrong = value.map((one: unknown, nth) => kind.misfit(one, `${name}[${nth}]`));
      return wrong.find((one) => one !== undefined);
    },
  };
}

/** The same, or null. */
export function orNull(kind: OptionKind): OptionKind {
  return {
    expected: `${kind.expected}, or null`,
    misfit: (value, name) => (value === null ? undefined : kind.misfit(value, name)),
  };
}
