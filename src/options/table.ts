/** What the command line and the library derive from a table of options. */
import type * as z from 'zod';
import { optionsObject } from '../platform/options.ts';
import type { NestedOption, Option, OptionTable } from './option.ts';

/** The schemas of the options of a table that have a flag. */
type FlagSchemas<Table extends OptionTable> = {
  [Name in keyof Table as Table[Name] extends Option ? Name : never]: Table[Name] extends {
    schema: infer Schema extends z.ZodType;
  }
    ? Schema
    : never;
};

/** The values of nested options. */
type NestedValues<Table extends OptionTable> = {
  [Name in keyof Table as Table[Name] extends NestedOption ? Name : never]?: Table[Name] extends {
    options: infer Inner extends OptionTable;
  }
    ? FlagValues<Inner> | undefined
    : never;
};

/** The values that the command line and the configuration file give to options, by their names in code. */
export type FlagValues<Table extends OptionTable> = z.infer<z.ZodObject<FlagSchemas<Table>>> &
  NestedValues<Table>;

/** Returns the name of an option on the command line: `warmUpMs` becomes `warm-up-ms`. */
function toFlagName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns the options of a table that the command line or the configuration file can set, by flag. */
export function flagsOf(table: OptionTable): Record<string, Option> {
  const entries = Object.entries(table).flatMap(([key, entry]): [string, Option][] => {
    if ('options' in entry) return Object.entries(flagsOf(entry.options));
    return 'schema' in entry ? [[entry.flag ?? toFlagName(key), entry]] : [];
  });
  return Object.fromEntries(entries);
}

/** Returns the environment variables that set options of a table, and their help. */
export function variablesOf(table: OptionTable): Record<string, string> {
  const variables = Object.values(table).map((entry) =>
    'variables' in entry ? entry.variables : undefined,
  );
  return Object.fromEntries(variables.flatMap((each) => Object.entries(each ?? {})));
}

/** Names the flags of options by their names in code, such as `--warm-up` for `warmUpMs`. */
export function flagNameOf(table: OptionTable, key: string): string {
  const entry = table[key];
  return (entry && 'schema' in entry ? entry.flag : undefined) ?? toFlagName(key);
}

/** Returns how messages name an option, by its name in code. */
export type SpellOption<Name extends string = string> = (name: Name) => string;

/** Names options as code does. */
export const spellInCode: SpellOption = (name) => name;

/**
 * Names the options of a table as a command line does: `--step`, or `REPORT` for an argument. A secret
 * is named by its variables and the option of its file.
 */
export const spellAsFlag =
  (table: OptionTable): SpellOption =>
  (name) => {
    const entry = table[name];
    if (entry && 'isRequired' in entry && entry.isRequired) return name.toUpperCase();
    if (!entry || !('isSecret' in entry)) return `--${flagNameOf(table, name)}`;
    const { variables = {}, replaces = [] } = entry;
    return [...Object.keys(variables), ...replaces.map((flag) => `--${flag}`)].join(' or ');
  };

/** Turns values by flag into values by name in code. A nested option without any value is undefined. */
export function nameValues(
  table: OptionTable,
  byFlag: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const entries = Object.entries(table).flatMap(([key, entry]): [string, unknown][] => {
    if ('options' in entry) {
      const values = nameValues(entry.options, byFlag);
      const isSet = Object.values(values).some((value) => value !== undefined);
      return [[key, isSet ? values : undefined]];
    }
    return 'schema' in entry ? [[key, byFlag[entry.flag ?? toFlagName(key)]]] : [];
  });
  return Object.fromEntries(entries);
}

/** The names of the options whose values the library takes as they are. */
type LibraryName<Table extends OptionTable> = {
  [Name in keyof FlagValues<Table>]-?: Name extends keyof Table
    ? Table[Name] extends { isFlagOnly: true } | { isFile: true }
      ? never
      : Name
    : never;
}[keyof FlagValues<Table>];

/** Without properties that are undefined. */
type Defined<Options> = { [Name in keyof Options]: Exclude<Options[Name], undefined> };

/** The values of a command line that the library takes as they are. */
export type LibraryValues<Table extends OptionTable> = Defined<
  Pick<FlagValues<Table>, LibraryName<Table>>
>;

/**
 * Returns the values of a command line that the library takes as they are: not those of options that
 * the library does not have, and not the names of files whose contents it takes.
 */
export function libraryValues<Table extends OptionTable>(
  table: Table,
  values: object,
): LibraryValues<Table> {
  const taken = Object.entries(values).filter(([name]) => {
    const entry = table[name];
    return entry && !('isRequired' in entry || 'isFile' in entry || 'isFlagOnly' in entry);
  });
  return dropUndefined(Object.fromEntries(taken)) as LibraryValues<Table>;
}

/** Returns an object without its properties that are undefined. */
export function dropUndefined<Options extends object>(options: Options): Defined<Options> {
  const defined = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as Defined<Options>;
}

/** Returns the schema of the options that the library has. */
export function optionsSchema(table: OptionTable): z.ZodType {
  const entries = Object.entries(table).filter(([, entry]) => !('isFlagOnly' in entry));
  const required = entries.filter(([, entry]) => 'isRequired' in entry && entry.isRequired);
  return optionsObject<Record<string, unknown>>(
    Object.fromEntries(entries.map(([key, { code }]) => [key, code.schema])),
    required.map(([key]) => key),
  );
}

/** The names of the options that have a default value. */
type DefaultedName<Table extends OptionTable> = {
  [Name in keyof Table]: Table[Name] extends { isFlagOnly: true }
    ? never
    : Table[Name] extends { schema: z.ZodPrefault | z.ZodDefault }
      ? Name
      : never;
}[keyof Table];

/** Options with the default values of their table. */
export type WithDefaults<Table extends OptionTable, Options> = Omit<
  Options,
  DefaultedName<Table>
> & {
  [Name in DefaultedName<Table> & keyof Options]-?: Exclude<Options[Name], undefined>;
};

/** Settings; those with a default value in their table can be left out. */
export type WithoutDefaults<Table extends OptionTable, Settings> = Omit<
  Settings,
  DefaultedName<Table>
> & {
  [Name in DefaultedName<Table> & keyof Settings]?: Settings[Name] | undefined;
};

/** Leaves out options that are undefined, and adds the default values of their table. */
export function withDefaults<Table extends OptionTable, Options extends object>(
  table: Table,
  options: Options,
): Defined<WithDefaults<Table, Options>> {
  const defaults = Object.entries(table).flatMap(([name, entry]) => {
    if (!('schema' in entry) || 'isFlagOnly' in entry) return [];
    const { success, data } = entry.schema.safeParse(undefined);
    return success && data !== undefined ? [[name, data] as const] : [];
  });
  const given = dropUndefined(options);
  return { ...Object.fromEntries(defaults), ...given } as Defined<WithDefaults<Table, Options>>;
}
