import * as z from 'zod';

// Every schema of the command line parses one value, so compiling it would only cost time.
z.config({ jitless: true });

/** One option of a command. The parser, the help, and docs/cli.md are made from it. */
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
  /** The default in words, if it depends on other options. */
  defaultText?: string | undefined;
  /** The heading under which the help lists the option. */
  group?: string;
  /** Whether the configuration file can set the option once for all commands that test a sandbox. */
  isShared?: true;
  /** Whether only the configuration file can set it, because a process list shows the command line. */
  isSecret?: true;
  /** Options that contradict this one. Setting it discards their values from a lower level. */
  replaces?: readonly string[];
}

type Options = Readonly<Record<string, Option>>;

/** Creates an option with a value; without `default` it is optional. */
export function option<Value extends z.ZodType>(
  value: Value,
  placeholder: string,
  help: string,
  defaultText?: string,
): Option<z.ZodOptional<Value>> {
  return { ...describeValue(value, placeholder, help), schema: value.optional(), defaultText };
}

/** Creates an option with a default value, which the help shows unchanged. */
export function optionWithDefault<Value extends z.ZodType>(
  value: Value,
  placeholder: string,
  help: string,
  defaultValue: z.input<Value> & (string | number),
): Option<z.ZodPrefault<Value>> {
  return {
    ...describeValue(value, placeholder, help),
    schema: value.prefault(defaultValue as z.input<Value>),
    defaultText: String(defaultValue),
  };
}

/** Creates an option that can be repeated. */
export function listOption<Value extends z.ZodType>(
  value: Value,
  placeholder: string,
  help: string,
): Option<z.ZodOptional<z.ZodArray<Value>>> {
  const schema = z.array(value).optional();
  return { schema, type: 'string', isList: true, placeholder, help };
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
export function switchOption(help: string, isOn = false): Option<z.ZodDefault<z.ZodBoolean>> {
  return { ...describeValue(z.boolean(), '', help), schema: z.boolean().default(isOn) };
}

/** Lets the configuration file set an option once for all commands that test a sandbox. */
export function shared<Each extends Option>(each: Each): Each {
  return { ...each, isShared: true };
}

/** Sets the options whose value from the configuration file this option replaces. */
export function replacing<Each extends Option>(names: readonly string[], each: Each): Each {
  return { ...each, replaces: names };
}

/**
 * Creates an option with a secret value. Only the configuration file can set it, and only from an
 * environment variable.
 */
export function secretOption<Value extends z.ZodType>(
  value: Value,
  placeholder: string,
  help: string,
): Option<z.ZodOptional<Value>> {
  return { ...option(value, placeholder, help), isSecret: true };
}

/** Sets the heading under which the help lists these options. */
export function group<Group extends Options>(heading: string, options: Group): Group {
  const entries = Object.entries(options).map(([name, each]) => [
    name,
    { ...each, group: heading },
  ]);
  return Object.fromEntries(entries) as Group;
}

/** Returns whether a switch is on unless it is turned off with `--no-NAME`. */
export function isOnByDefault({ type, schema }: Option): boolean {
  return type === 'boolean' && schema.safeParse(undefined).data === true;
}

function describeValue(
  value: z.ZodType,
  placeholder: string,
  help: string,
): Pick<Option, 'type' | 'isList' | 'placeholder' | 'help'> {
  const type =
    value instanceof z.ZodNumber ? 'number' : value instanceof z.ZodBoolean ? 'boolean' : 'string';
  return { type, isList: false, placeholder, help };
}
