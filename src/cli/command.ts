import type * as z from 'zod';
import { configOption, type ValueOrigin } from './flags/config-file.ts';
import type { Option } from './flags/option.ts';
import { parseValues } from './flags/parse.ts';
import type { CommandProcess } from './process.ts';

/** A positional argument of a command. Help and errors show its name in capitals. */
export interface Argument<Schema extends z.ZodType = z.ZodType> {
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
  options: Readonly<Record<string, Option>>;
  examples: readonly Example[];
  /** Environment variables that the command reads or sets. */
  environment?: Readonly<Record<string, string>>;
  /** Paragraphs after the environment variables. */
  notes?: readonly string[];
  /** What the exit codes of this command mean; 2 and 70 are the same for all. */
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

type Schemas<Fields extends Readonly<Record<string, { schema: z.ZodType }>>> = {
  [Name in keyof Fields]: Fields[Name]['schema'];
};

/** The validated values of options or arguments. */
export type ValuesOf<Fields extends Readonly<Record<string, { schema: z.ZodType }>>> = z.infer<
  z.ZodObject<Schemas<Fields>>
>;

/** Creates a command from its description and the function that runs it. */
export function defineCommand<
  const Arguments extends Readonly<Record<string, Argument>>,
  const Options extends Readonly<Record<string, Option>>,
>(
  definition: Omit<CommandDescription, keyof CommandSummary | 'arguments' | 'options'> & {
    arguments: Arguments;
    options: Options;
    run: (
      values: ValuesOf<Arguments & Options>,
      invocation: Invocation,
    ) => number | Promise<number>;
  },
): CommandDefinition {
  return {
    ...definition,
    options: { ...definition.options, config: configOption },
    async run(values, invocation) {
      const { arguments: positionals, options } = definition;
      const parsed = parseValues(positionals, options, values);
      return definition.run(parsed as ValuesOf<Arguments & Options>, invocation);
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
