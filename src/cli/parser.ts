/** Parses a command line with yargs-parser, and runs the command. */
import parse, { type Options as ParserOptions } from 'yargs-parser';
import { kitVersion } from '../library/kit-version.ts';
import type { Command } from './command.ts';
import { commandEntries, loadCommands } from './commands/index.ts';
import { didYouMean, exitCodes, UsageError } from './errors.ts';
import { commandLineOptions, readNumber, repeatGreedyOptions } from './flags/command-line.ts';
import { formatGlobalHelp } from './output/global-help.ts';
import type { CommandProcess, OutputStream } from './process.ts';

/** What yargs-parser returns: options by name, and other words in `_`. */
interface ParsedValues extends Record<string, unknown> {
  _: string[];
  '--'?: string[];
  help?: boolean;
  version?: boolean;
}

/** The options of every command, and how all words are read. */
const commonOptions = {
  alias: { help: ['h'] },
  boolean: ['help', 'version'],
  configuration: {
    // `--prompt TEXT URL` must not take the URL as a second prompt.
    'greedy-arrays': false,
    'camel-case-expansion': false,
    'dot-notation': false,
    'parse-positional-numbers': false,
    'populate--': true,
  },
} satisfies ParserOptions;

/**
 * Runs the command that a command line names, and returns the exit code. The commands are those that
 * occur in it.
 */
export async function parseAndRun(
  args: readonly string[],
  commands: readonly Command[],
  process: CommandProcess,
): Promise<number> {
  const { options = {} } = commands.find(({ name }) => name === args[0]) ?? {};
  const words = repeatGreedyOptions(args, options);
  const common = parseWords(words, commonOptions);
  const command = commands.find(({ name }) => name === common._[0]);
  if (!command) return runWithoutCommand(common, process.stdout);
  return runCommand(command, { args: words, values: parseCommand(command, words), process });
}

/** @throws {UsageError} if the words can't be parsed. */
function parseWords(words: readonly string[], options: ParserOptions): ParsedValues {
  const { argv, error } = parse.detailed([...words], options);
  if (error) throw new UsageError(error.message);
  return argv as ParsedValues;
}

/** Returns the options and arguments of a command. */
function parseCommand(command: Command, words: readonly string[]): ParsedValues {
  const options = Object.entries(commandLineOptions(command.options));
  const namesOf = (type: string): string[] =>
    options.flatMap(([name, option]) => (option.type === type ? [name] : []));
  const values = parseWords(words, {
    ...commonOptions,
    boolean: [...commonOptions.boolean, ...namesOf('boolean')],
    string: options.flatMap(([name, { type }]) => (type === 'boolean' ? [] : [name])),
    array: options.flatMap(([name, { isList }]) => (isList ? [name] : [])),
    coerce: Object.fromEntries(namesOf('number').map((name) => [name, readNumber])),
  });
  // The first word is the name of the command.
  const [name = '', ...others] = values._;
  const positionals = Object.keys(command.arguments);
  const named = Object.fromEntries(
    positionals.flatMap((each, index) => {
      const word = others[index];
      return word === undefined ? [] : [[each, word]];
    }),
  );
  return { ...values, ...named, _: [name, ...others.slice(positionals.length)] };
}

async function runCommand(
  command: Command,
  {
    args,
    values,
    process,
  }: { args: readonly string[]; values: ParsedValues; process: CommandProcess },
): Promise<number> {
  if (values.help) {
    const { formatCommandHelp } = await import('./output/help.ts');
    process.stdout.write(formatCommandHelp(command));
  } else if (values.version) process.stdout.write(`${kitVersion()}\n`);
  else {
    const { rejectUnexpected } = await import('./flags/parse.ts');
    rejectUnexpected(command, args, values);
    const { applyConfigFile } = await import('./config/apply-config-file.ts');
    const configured = await applyConfigFile(command, loadCommands, values, process);
    const { origin } = configured;
    return command.run(configured.values, { process, rest: values['--'] ?? [], origin });
  }
  return exitCodes.ok;
}

function runWithoutCommand(values: ParsedValues, stdout: OutputStream): number {
  const [word] = values._;
  if (word !== undefined) {
    const names = commandEntries.map(({ name }) => name);
    const hint = didYouMean(word, names, 'Run sandbox-kit --help to list all commands.');
    throw new UsageError(`Unknown command ${JSON.stringify(word)}. ${hint}`);
  }
  if (values.help) stdout.write(formatGlobalHelp(commandEntries));
  else if (values.version) stdout.write(`${kitVersion()}\n`);
  else {
    const option = Object.keys(values).find((name) => !['_', '$0', '--'].includes(name));
    const help = 'Run sandbox-kit --help to list all commands.';
    throw new UsageError(
      option === undefined
        ? `Specify a command, for example sandbox-kit demo. ${help}`
        : `Unknown option --${option}. ${didYouMean(`--${option}`, ['--help', '--version'], help)}`,
    );
  }
  return exitCodes.ok;
}
