import { types } from 'node:util';
import * as z from 'zod';
import { isHttpUrl, quoteUrl } from './base-url.ts';
import { formatPath } from './format-path.ts';
import { describeType, isObject } from './json.ts';
import { didYouMean } from './suggest.ts';
import { isSecretOption } from './secret-names.ts';

/**
 * Checks the options of a library function, for callers without a compiler: a misspelled option
 * would otherwise be ignored. An option that is undefined counts as absent. The message shows what
 * was passed, except the values of keys and headers.
 * @throws {TypeError} about the first option that is unknown or has the wrong type.
 */
export function validateOptions(caller: string, schema: z.ZodType, options: unknown): void {
  const { error } = schema.safeParse(options);
  if (!error) return;
  const isUnknownOption = ({ code }: z.core.$ZodIssue): boolean => code === 'unrecognized_keys';
  const issue = error.issues.find(isUnknownOption) ?? error.issues[0];
  if (issue) throw new TypeError(`${caller}: ${describeIssue(issue, options)}`);
}

function describeIssue(issue: z.core.$ZodIssue, options: unknown): string {
  const promise = findPromise(options, issue.path);
  if (promise)
    return `${formatPath(promise) || 'The argument'} is a promise. Did you forget await?`;
  if (issue.code === 'unrecognized_keys') {
    const name = formatPath([...issue.path, issue.keys[0] ?? '']);
    return `Unknown option "${name}". ${issue.message}`;
  }
  const name = formatPath(issue.path) || 'The options';
  if (/[.?]$/.test(issue.message)) return `${name} ${issue.message}`;
  const value = valueAt(options, issue.path);
  const received = describeValue(value, issue.path);
  return `${name} must be ${issue.message}, got ${received}.${suggestWord(issue, value)}`;
}

/** Returns "Did you mean X?" after a space if one of a few words was expected and one is close. */
function suggestWord(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code !== 'invalid_value' || typeof value !== 'string') return '';
  const hint = didYouMean(value, issue.values.map(String), '');
  return hint === '' ? '' : ` ${hint}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (parent, key) => (parent as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
}

/** Returns the path to a promise on the way to an issue; undefined without a promise. */
function findPromise(
  options: unknown,
  path: readonly PropertyKey[],
): readonly PropertyKey[] | undefined {
  const length = [...path, ''].findIndex((_, index) =>
    isPromise(valueAt(options, path.slice(0, index))),
  );
  return length < 0 ? undefined : path.slice(0, length);
}

/** Returns whether a value is a promise, of any class. */
export function isPromise(value: unknown): boolean {
  return isObject(value) && typeof value['then'] === 'function';
}

const VALUE_LENGTH_MAX = 60;

/**
 * Describes a value in a message. Keys and headers are described by their type only.
 *
 * @param path The path of the option, which shows whether it is a key or a header.
 */
function describeValue(value: unknown, path: readonly PropertyKey[] = []): string {
  const isSecret = path.some((key) => isSecretOption(String(key)));
  if (typeof value === 'object' && value) return describeObject(value);
  if (typeof value === 'number' && isSecret) return 'a number';
  if (typeof value === 'string' && value !== '' && !isSecret) return quoteText(value);
  return describeType(value);
}

/** Quotes a text of one line. URLs are shown without their parts that may contain a key. */
function quoteText(text: string): string {
  if (/[\r\n]/.test(text)) return 'a text of several lines';
  const quoted = /@|:\/\//.test(text) ? quoteUrl(text) : JSON.stringify(text);
  return quoted.length > VALUE_LENGTH_MAX ? `${quoted.slice(0, VALUE_LENGTH_MAX - 4)}…"` : quoted;
}

/** Describes an object by its class, such as `a Map`. */
function describeObject(value: object): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  const { constructor } = value as { constructor?: { name?: string } };
  const name = constructor?.name ?? 'Object';
  if (name === 'Object' || name === '') return describeType(value);
  return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`;
}

/**
 * Returns a handle whose methods without parameters reject an argument, for callers without a
 * compiler: `agent.reset('empty')` would otherwise ignore it. Objects and functions are accepted,
 * because test runners pass them to hooks such as `afterEach(agent.reset)`.
 */
export function rejectArguments<Handle extends object>(handle: Handle): Handle {
  const members = Object.entries(handle).map(([name, member]: [string, unknown]) => [
    name,
    typeof member === 'function' && member.length === 0
      ? guardMethod(name, member as () => unknown)
      : member,
  ]);
  return Object.fromEntries(members) as Handle;
}

function guardMethod(name: string, method: () => unknown): (argument?: unknown) => unknown {
  const isAsync = types.isAsyncFunction(method);
  return (argument) => {
    if (argument === undefined || ['object', 'function'].includes(typeof argument)) return method();
    const error = new TypeError(`${name}: Expected no argument, got ${describeValue(argument)}.`);
    if (isAsync) return Promise.reject(error);
    throw error;
  };
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
          ? didYouMean(issue.keys[0] ?? '', names, `Known options: ${names.join(', ')}.`)
          : 'an object',
    },
  );
}

/** Returns the schema of an integer in a range; both ends are included. */
export function integerOption(min: number, max: number): z.ZodNumber {
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
export const booleanOption = z.boolean('true or false');
export const functionOption = z.custom((value) => typeof value === 'function', 'a function');
export const objectOption = z.custom(isObject, 'an object');
export const portOption = integerOption(0, 65_535);
export const urlOption = z.custom(
  (value) => typeof value === 'string' && isHttpUrl(value),
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
