import * as z from 'zod';
import { flagsOf, nameValues, variablesOf, type FlagValues } from '../src/options/table.ts';
import type { Option, OptionTable } from '../src/options/option.ts';
import { configOption, type ValueOrigin } from './flags/config-option.ts';
import { parseValues } from './flags/parse.ts';
import type { CommandProcess } from './process.ts';

// Every schema of the command line parses one value, so compiling it would only cost time.
z.config({ jitless: true });

/** A positional argument of a command. Help and errors show its name in capitals. */
interface Argument<Schema extends z.ZodType = z.ZodType> {
  schema: Schema;
  help: string;
  isRequired: boolean;
}

/** A line that a reader can run, and what it does. */
export interface Example {
  command: string;
  note?: string;
}

/** What the list of all commands says. */
export interface CommandSummary {
  name: string;
  /** One imperative line without a full stop. */
  summary: string;
}

/** The description of a command for the parser, the help, and docs/cli.md. */
export interface CommandDescription extends CommandSummary {
  /** Paragraphs after the summary. */
  description?: readonly string[];
  /** The name of the words after `--`, if the command takes them. */
  rest?: string;
  arguments: Readonly<Record<string, Argument>>;
  /** The options that the command line or the configuration file can set, by flag. */
  options: Readonly<Record<string, Option>>;
  examples: readonly Example[];
  /** Environment variables that the command sets, and those that set its options. */
  environment?: Readonly<Record<string, string>>;
  /** Paragraphs after the environment variables. */
  notes?: readonly string[];
  /** What the exit codes of this command mean. The help adds those that all commands share. */
  exitCodes?: Readonly<Record<number, string>>;
  /** Explains an argument that the command does not take. */
  hintUnexpected?: (word: string, args: readonly string[]) => string | undefined;
}

/** What a command gets in addition to its values. */
export interface Invocation {
  process: CommandProcess;
  /** The words after `--`. */
  rest: readonly string[];
  origin: ValueOrigin;
}

/** A command, ready to run. */
export interface Command extends CommandDescription {
  /**
   * Runs with the values of the command line and the configuration file, and returns the exit code.
   *
   * @throws {UsageError} if a value is invalid.
   */
  run: (values: unknown, invocation: Invocation) => Promise<number>;
}

/** A command as its file defines it. Its name and summary are in commands/index.ts. */
export type CommandDefinition = Omit<Command, keyof CommandSummary>;

type Arguments = Readonly<Record<string, Argument>>;

/** The validated values of arguments. */
type ArgumentValues<Each extends Arguments> = z.infer<
  z.ZodObject<{ [Name in keyof Each]: Each[Name]['schema'] }>
>;

/** The validated values of arguments and options, by their names in code. */
export type ValuesOf<Each extends Arguments, Table extends OptionTable> = ArgumentValues<Each> &
  FlagValues<Table>;

/** Creates a command from its description and the function that runs it. */
export function defineCommand<const Each extends Arguments, const Table extends OptionTable>(
  definition: Omit<CommandDescription, keyof CommandSummary | 'arguments' | 'options'> & {
    arguments: Each;
    options: Table;
    run: (values: ValuesOf<Each, Table>, invocation: Invocation) => number | Promise<number>;
  },
): CommandDefinition {
  const { arguments: positionals, options: table } = definition;
  const flags = flagsOf(table);
  return {
    ...definition,
    options: { ...flags, config: configOption },
    environment: { ...variablesOf(table), ...definition.environment },
    async run(values, invocation) {
      const parsed = parseValues(positionals, flags, values);
      const named = { ...parsed, ...nameValues(table, parsed) };
      return definition.run(named as ValuesOf<Each, Table>, invocation);
    },
  };
}

/** Creates a required positional argument. */
export function argument<Schema extends z.ZodType>(schema: Schema, help: string): Argument<Schema> {
  return { schema, help, isRequired: true };
}

/** Creates an optional positional argument. */
export function optionalArgument<Schema extends z.ZodType>(
  schema: Schema,
  help: string,
): Argument<z.ZodOptional<Schema>> {
  return { schema: schema.optional(), help, isRequired: false };
}
