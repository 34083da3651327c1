import { z } from 'zod';
import { isObject } from './json.ts';
import { suggestion } from './suggest.ts';

/**
 * Checks the options of a library function, for callers without a compiler: a misspelled option
 * would otherwise be ignored. An option that is undefined counts as left out. The message shows no
 * strings, because a key may be in the wrong place.
 * @throws {TypeError} about the first option that is unknown or has the wrong type.
 */
export function checkOptions(caller: string, schema: z.ZodType, options: unknown): void {
  const { error } = schema.safeParse(options);
  if (!error) return;
  const isUnknownOption = ({ code }: z.core.$ZodIssue): boolean => code === 'unrecognized_keys';
  const issue = error.issues.find(isUnknownOption) ?? error.issues[0];
  if (issue) throw new TypeError(`${caller}: ${describeIssue(issue, options)}`);
}

function describeIssue(issue: z.core.$ZodIssue, options: unknown): string {
  if (issue.code === 'unrecognized_keys') {
    const name = formatPath([...issue.path, issue.keys[0] ?? '']);
    return `Unknown option ${JSON.stringify(name)}. ${issue.message}`;
  }
  const received = describeType(valueAt(options, issue.path));
  return `${formatPath(issue.path) || 'The options'} must be ${issue.message}, got ${received}.`;
}

/** Formats a path as in code, for example `keys[0].owner`. */
export function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (parent, key) => (parent as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
}

function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === '') return 'an empty string';
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return `${value}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

// The `error` of each schema below completes the message "OPTION must be …".

/**
 * Returns the schema of an options object. An option without a schema does not compile.
 * @param required The options that can't be left out.
 */
export function optionsObject<Options>(
  shape: { readonly [Name in keyof Options]-?: z.ZodType },
  required: readonly (keyof Options & string)[] = [],
): z.ZodType {
  const schemas: [string, z.ZodType][] = Object.entries(shape);
  const names = schemas.map(([name]) => name);
  const isRequired = (name: string): boolean => required.some((candidate) => candidate === name);
  return z.strictObject(
    Object.fromEntries(
      schemas.map(([name, schema]) => [name, isRequired(name) ? schema : schema.optional()]),
    ),
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? suggestOption(issue.keys[0] ?? '', names)
          : 'an object',
    },
  );
}

function suggestOption(name: string, known: readonly string[]): string {
  const hint = suggestion(name, known, `known options: ${known.join(', ')}.`);
  return hint.charAt(0).toUpperCase() + hint.slice(1);
}

/** Returns the schema of an integer in a range; both ends are included. */
export function integerOption(min: number, max: number): z.ZodType {
  const error = `an integer from ${min} to ${max}`;
  return z.number(error).int(error).min(min, error).max(max, error);
}

/** Returns the schema of one of these strings. */
export function enumOption(values: readonly [string, ...string[]]): z.ZodType {
  return z.enum(values, `one of ${values.join(', ')}`);
}

/** Returns the schema of an array. */
export function arrayOption(items: z.ZodType): z.ZodType {
  return z.array(items, 'an array');
}

function objectWithFunctions(expected: string, names: readonly string[]): z.ZodType {
  return z.custom(
    (value) => isObject(value) && names.every((name) => typeof value[name] === 'function'),
    expected,
  );
}

export const nonEmptyStringOption = z.string('a non-empty string').min(1, 'a non-empty string');
export const stringOption = z.string('a string');
export const booleanOption = z.boolean('true or false');
export const functionOption = z.custom((value) => typeof value === 'function', 'a function');
export const objectOption = z.custom(isObject, 'an object');
export const portOption = integerOption(0, 65_535);
export const urlOption = z.custom(
  (value) => typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
  'a URL such as https://example.com',
);
export const clockOption = objectWithFunctions('a clock, such as manualClock(Date.now())', [
  'nowMs',
  'monotonicMs',
  'sleep',
  'deadline',
]);
export const logOption = objectWithFunctions('an object with the functions info, warn and error', [
  'info',
  'warn',
  'error',
]);
