/**
 * Tables of options. One entry describes an option for the command line, the configuration file, the
 * library, and the documentation. Its key is its name in code: `warmUpMs`.
 */
import * as z from 'zod';
import { booleanOption } from '../platform/options.ts';
import { codeFormOf, type CodeForm } from './code-form.ts';
import { filePath } from './values.ts';

/** An option that the command line or the configuration file can set. */
export interface Option<Schema extends z.ZodType = z.ZodType> {
  /** Validates the parsed value, and holds the default. */
  schema: Schema;
  type: 'boolean' | 'number' | 'string';
  /** Whether the option can be repeated; its values are then an array. */
  isList: boolean;
  /** Whether each of the following words up to the next option is a value, as in `--merge A B`. */
  isGreedy?: true;
  /** The placeholder of the value, such as FILE. Empty for a switch. */
  placeholder: string;
  /** One noun phrase or imperative, without the default and a full stop. */
  help: string;
  /** The default in words. */
  defaultText?: string | undefined;
  /** The heading under which the help lists the option. */
  group?: string;
  /** The name without dashes on the command line (default: the key in kebab case). */
  flag?: string | undefined;
  /** The option of the library. */
  code: CodeForm;
  /** Whether the library does not have the option. */
  isFlagOnly?: true;
  /** Whether the command line takes the name of a file, and the library its content. */
  isFile?: true;
  /** Whether the configuration file can set the option once for all commands that test a sandbox. */
  isShared?: boolean | undefined;
  /** Whether only the configuration file can set it, because a process list shows the command line. */
  isSecret?: true;
  /** Flags that contradict this one. Setting it discards their values from a lower level. */
  replaces?: readonly string[] | undefined;
  /** The environment variables that set the option, and their help. */
  variables?: Variables | undefined;
}

/** Environment variables and their help. */
export type Variables = Readonly<Record<string, string>>;

/** An option that only code can set. */
export interface CodeOption {
  code: CodeForm;
  isRequired: boolean;
  variables?: Variables | undefined;
}

/** An object of options, each with a separate flag. */
export interface NestedOption<Table extends OptionTable = OptionTable> {
  options: Table;
  code: CodeForm;
}

/** The options of a job, by their names in code. */
export type OptionTable = Readonly<Record<string, Option | CodeOption | NestedOption>>;

/** What few options have in addition to a value, a placeholder, and a help text. */
interface Details {
  /** The default in words, if it depends on other options or is a file. */
  default?: string;
  flag?: string;
  isShared?: boolean;
  replaces?: readonly string[];
  variables?: Variables;
  /** What differs in code; a text is the description, with the default. */
  inCode?: string | Partial<CodeForm>;
}

/** Creates an option with a value; without a default value it is optional. */
export function option<Value extends z.ZodType>(
  value: Value,
  placeholder: string,
  help: string,
  details: string | Details = {},
): Option<z.ZodOptional<Value>> {
  const all = typeof details === 'string' ? { default: details } : details;
  return { ...describe(value, placeholder, help, all), schema: value.optional() };
}

/** Creates an option with a value that must be set. */
export function requiredOption<Value extends z.ZodType>(
  value: Value,
  placeholder: string,
  help: string,
): Option<Value> {
  return { ...describe(value, placeholder, help, {}), schema: value };
}

/** Creates an option with a default value, which the help shows unchanged. */
export function optionWithDefault<Value extends z.ZodType>(
  value: Value,
  placeholder: string,
  help: string,
  defaultValue: z.input<Value> & (string | number),
  details: Details = {},
): Option<z.ZodPrefault<Value>> {
  return {
    ...describe(value, placeholder, help, { ...details, default: String(defaultValue) }),
    schema: value.prefault(defaultValue as z.input<Value>),
  };
}

/** Creates an option that can be repeated. */
export function listOption<Value extends z.ZodType>(
  value: Value,
  placeholder: string,
  help: string,
  details: Details = {},
): Option<z.ZodOptional<z.ZodArray<Value>>> {
  const list = z.array(value);
  return { ...describe(list, placeholder, help, details), schema: list.optional(), isList: true };
}

/** Creates an option that takes one or more words, and can also be repeated. */
export function wordsOption<Value extends z.ZodType>(
  value: Value,
  placeholder: string,
  help: string,
): Option<z.ZodOptional<z.ZodArray<Value>>> {
  return { ...listOption(value, placeholder, help), isGreedy: true };
}

/** Creates an option without a value. One that is on by default is shown as `--no-NAME`. */
export function switchOption(
  help: string,
  { isOn = false, ...details }: Details & { isOn?: boolean } = {},
): Option<z.ZodDefault<z.ZodBoolean>> {
  return { ...describe(booleanOption, '', help, details), schema: booleanOption.default(isOn) };
}

/** Creates an option without a value whose default depends on other options. */
export function optionalSwitch(
  help: string,
  defaultText: string,
  details: Details,
): Option<z.ZodOptional<z.ZodBoolean>> {
  return {
    ...describe(booleanOption, '', help, { ...details, default: defaultText }),
    schema: booleanOption.optional(),
  };
}

/**
 * Creates an option with a secret value. Only the configuration file can set it, and only from an
 * environment variable.
 */
export function secretOption<Value extends z.ZodType>(
  value: Value,
  placeholder: string,
  help: string,
  details: Details,
): Option<z.ZodOptional<Value>> {
  return { ...option(value, placeholder, help, details), isSecret: true };
}

/** Creates an option of the library that the command line does not have, or sets in another way. */
export function codeOption(form: CodeForm): CodeOption {
  return { code: form, isRequired: false };
}

/** Sets the environment variables that set an option. */
export function fromVariables<Each extends Option | CodeOption>(
  variables: Variables,
  each: Each,
): Each {
  return { ...each, variables };
}

/** Creates an option of the library that must be set. */
export function requiredCodeOption(form: CodeForm): CodeOption {
  return { code: form, isRequired: true };
}

/** Creates an option that is an object in code. Each of its fields has a flag. */
export function nestedOption<Table extends OptionTable>(
  options: Table,
  code: CodeForm,
): NestedOption<Table> {
  return { options, code };
}

/** Creates an option with the name of a file, whose content the library takes. */
export function fileOption(
  help: string,
  details: Details & { inCode: CodeForm },
): Option<z.ZodOptional<typeof filePath>> & { isFile: true } {
  return { ...option(filePath, 'FILE', help, details), isFile: true };
}

/** Keeps options out of the library: they are about files, a terminal, or a process. */
export function flagOnly<Options extends Readonly<Record<string, Option>>>(
  options: Options,
): { [Name in keyof Options]: Options[Name] & { isFlagOnly: true } } {
  const entries = Object.entries(options).map(([name, each]) => [
    name,
    { ...each, isFlagOnly: true },
  ]);
  return Object.fromEntries(entries) as ReturnType<typeof flagOnly<Options>>;
}

/** Sets the heading under which the help lists these options. */
export function group<Options extends OptionTable>(heading: string, options: Options): Options {
  const grouped = (each: OptionTable[string]): OptionTable[string] => {
    if ('options' in each) return { ...each, options: group(heading, each.options) };
    return 'schema' in each ? { ...each, group: heading } : each;
  };
  const entries = Object.entries(options).map(([name, each]) => [name, grouped(each)]);
  return Object.fromEntries(entries) as Options;
}

/** Returns whether a switch is on unless it is turned off with `--no-NAME`. */
export function isOnByDefault({ type, schema }: Option): boolean {
  return type === 'boolean' && schema.safeParse(undefined).data === true;
}

function describe(
  value: z.ZodType,
  placeholder: string,
  help: string,
  { default: defaultText, inCode = {}, ...details }: Details,
): Omit<Option, 'schema'> {
  const type =
    value instanceof z.ZodNumber ? 'number' : value instanceof z.ZodBoolean ? 'boolean' : 'string';
  const shownDefault = defaultText ?? (type === 'boolean' ? 'false' : undefined);
  const about = shownDefault === undefined ? `${help}.` : `${help} (default: ${shownDefault}).`;
  return {
    type,
    isList: false,
    placeholder,
    help,
    defaultText,
    code: {
      ...codeFormOf(value),
      about,
      ...(typeof inCode === 'string' ? { about: inCode } : inCode),
    },
    ...details,
  };
}
