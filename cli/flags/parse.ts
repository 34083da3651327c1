import * as z from 'zod';
import { didYouMean, UsageError } from '../errors.ts';
import { CONFIG_FILE } from './config-option.ts';
import { innerSchema } from './inner-schema.ts';
import { sandboxUrl } from '../../src/options/values.ts';

type Fields = Readonly<Record<string, { schema: z.ZodType }>>;

/**
 * Validates the arguments and options of a command. The description of a schema completes the
 * message "--option must be …".
 *
 * @throws {UsageError} about the first invalid value.
 */
export function parseValues(
  positionals: Fields,
  options: Fields,
  values: unknown,
): Record<string, unknown> {
  const fields: Fields = { ...positionals, ...options };
  const shape = Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => [name, schema]),
  );
  const parsed = z.object(shape).safeParse(values, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = String(issue?.path[0] ?? '');
  const label = name in positionals ? name.toUpperCase() : `--${name}`;
  const text = describeIssue(label, issue, expectedOf(fields[name]?.schema));
  const isUrlMissing = label === 'URL' && issue?.code !== 'custom' && issue?.input === undefined;
  throw new UsageError(isUrlMissing ? `${text} ${SET_URL}` : text);
}

/** Advice about a missing URL, after the sentence that says what it must be. */
const SET_URL = `You can also set url in ${CONFIG_FILE}.`;

/**
 * Returns the URL of a command that needs it only for some of its options.
 *
 * @throws {UsageError} without a URL.
 */
export function requireUrl(url: string | undefined): string {
  if (url !== undefined) return url;
  throw new UsageError(`URL is missing. It must be ${expectedOf(sandboxUrl)}. ${SET_URL}`);
}

/** Returns the problem of a value, in one or more sentences. */
export function describeIssue(
  label: string,
  issue: z.core.$ZodIssue | undefined,
  expected: string,
): string {
  if (!issue || issue.code === 'custom') return `${label} ${issue?.message ?? 'is invalid.'}`;
  const { input } = issue;
  if (input === undefined) return `${label} is missing. It must be ${expected}.`;
  if (Array.isArray(input)) {
    return issue.code === 'too_big'
      ? `${label} can be given at most ${issue.maximum} times, got ${input.length}.`
      : `${label} can be given only once.`;
  }
  const received = `, got ${JSON.stringify(input)}`;
  const isWord = issue.code === 'invalid_value' && typeof input === 'string';
  const hint = isWord ? didYouMean(input, issue.values.map(String), '') : '';
  return `${label} must be ${expected}${received}.${hint === '' ? '' : ` ${hint}`}`;
}

/** Returns the description of the innermost schema that has one. */
export function expectedOf(schema: z.ZodType | undefined): string {
  if (!schema) return 'valid';
  if (schema.description !== undefined) return schema.description;
  return expectedOf(innerSchema(schema));
}
