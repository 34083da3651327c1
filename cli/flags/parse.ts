import * as z from 'zod';
import { didYouMean, UsageError } from '../errors.ts';
import { CONFIG_FILE } from './config-option.ts';
import { commandLineOptions } from './command-line.ts';
import { innerSchema } from './inner-schema.ts';
import { isOnByDefault, type Option } from '../../src/options/option.ts';
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

/** The parts of a command that decide which words it accepts. */
interface CommandSyntax {
  name: string;
  arguments: Readonly<Record<string, unknown>>;
  options: Readonly<Record<string, Option>>;
  /** Environment variables that the command reads or sets. */
  environment?: Readonly<Record<string, string>>;
  /** Explains an argument that the command does not take. */
  hintUnexpected?: (word: string, args: readonly string[]) => string | undefined;
}

/** The keys that yargs-parser adds to the parsed values, and the options that every command has. */
const COMMON_KEYS = ['_', '$0', '--', 'help', 'h', 'version'];

/**
 * Rejects what yargs-parser accepts silently: an option without its value, a value for a switch, an
 * unknown option, and an unexpected argument.
 *
 * @throws {UsageError} about the first of these.
 */
export function rejectUnexpected(
  command: CommandSyntax,
  args: readonly string[],
  values: Readonly<Record<string, unknown>>,
): void {
  const options = commandLineOptions(command.options);
  rejectMissingValues(options, args);
  const [, unexpected] = values['_'] as string[];
  const help = `Run sandbox-kit ${command.name} --help for the usage.`;
  if (unexpected !== undefined) {
    const hint = command.hintUnexpected?.(unexpected, args) ?? help;
    throw new UsageError(`Unexpected argument ${JSON.stringify(unexpected)}. ${hint}`);
  }
  const known = [...COMMON_KEYS, ...Object.keys(command.arguments), ...Object.keys(options)];
  const unknown = Object.keys(values).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  if (command.options[unknown]?.isSecret) throw createSecretError(unknown, command);
  const spelled = spellOption(unknown, args);
  throw new UsageError(
    `Unknown option ${spelled}. ${didYouMean(spelled, optionNames(options), help)}`,
  );
}

/** Says how to pass a secret value instead. */
function createSecretError(name: string, { options, environment = {} }: CommandSyntax): UsageError {
  const variables = Object.keys(environment).filter((each) => /^SANDBOX_KIT_.*_KEY$/.test(each));
  const file = `${name}-file` in options ? `use --${name}-file FILE` : '';
  // Created here, because it takes milliseconds.
  const formatter = new Intl.ListFormat('en-US', { type: 'disjunction' });
  const ways = [...variables.map((each) => `set ${each}`), file].filter((way) => way !== '');
  return new UsageError(
    `--${name} would show the key to other users of this machine in the list of processes. Instead, ${formatter.format(ways)}.`,
  );
}

/** Returns all spellings that a command accepts, such as `--json` and `--no-voice`. */
function optionNames(options: CommandSyntax['options']): string[] {
  return Object.entries(options).flatMap(([name, option]) =>
    isOnByDefault(option) || name === 'config' ? [`--${name}`, `--no-${name}`] : [`--${name}`],
  );
}

/** Returns an option as the caller wrote it: yargs-parser drops the dashes and `no-`. */
function spellOption(name: string, args: readonly string[]): string {
  if (args.includes(`--no-${name}`)) return `--no-${name}`;
  return name.length === 1 ? `-${name}` : `--${name}`;
}

function rejectMissingValues(
  options: Readonly<Record<string, Option>>,
  args: readonly string[],
): void {
  for (const [index, arg] of args.entries()) {
    if (arg === '--') return;
    const [, name = '', value] = /^--([a-z][a-z-]*)(?:=(.*))?$/s.exec(arg) ?? [];
    const option = options[name];
    if (!option) continue;
    if (option.type === 'boolean') {
      if (value === undefined || ['true', 'false'].includes(value)) continue;
      throw new UsageError(`--${name} takes no value, got ${JSON.stringify(value)}.`);
    }
    const next = args[index + 1];
    const isMissing =
      value === '' || (value === undefined && (next === undefined || isOption(next)));
    if (isMissing)
      throw new UsageError(`--${name} needs a value: --${name} ${option.placeholder}.`);
  }
}

/** A negative number is a value, not an option. */
const isOption = (arg: string): boolean => /^--?[a-z]/i.test(arg);
