/** Parses a command line with yargs-parser, and runs the command. */
import parse, { type Options as ParserOptions } from 'yargs-parser';
import { kitVersion } from '../library/kit-version.ts';
import type { Option } from '../src/options/option.ts';
import type { Command } from './command.ts';
import { commandEntries, loadCommands } from './commands/index.ts';
import { applyConfigFile } from './config/apply-config-file.ts';
import { didYouMean, exitCodes, UsageError } from './errors.ts';
import { commandLineOptions, readNumber } from './flags/command-line.ts';
import { rejectUnexpected } from './flags/unexpected.ts';
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
  const common = parse([...args], commonOptions) as ParsedValues;
  // A command may follow options: `--json - check`.
  const name = common._.find((word) => word !== '-');
  const command = commands.find((each) => each.name === name);
  if (!command) return runWithoutCommand(common, process.stdout);
  return runCommand(command, { args, process });
}

/** Returns the options and arguments of a command, and why they can't be parsed. */
function parseCommand(
  command: Command,
  words: readonly string[],
): { values: ParsedValues; error: Error | null } {
  const options = Object.entries(commandLineOptions(command.options));
  const namesOf = (isIncluded: (option: Option) => unknown): string[] =>
    options.filter(([, option]) => isIncluded(option)).map(([name]) => name);
  const forNames = <Value>(names: readonly string[], value: Value): Record<string, Value> =>
    Object.fromEntries(names.map((name) => [name, value]));
  const { argv, error } = parse.detailed([...words], {
    ...commonOptions,
    boolean: [...commonOptions.boolean, ...namesOf(({ type }) => type === 'boolean')],
    string: namesOf(({ type }) => type !== 'boolean'),
    // One word after an option is its value, also - for stdout. Further words are arguments.
    narg: forNames(
      namesOf(({ type, isGreedy }) => type !== 'boolean' && !isGreedy),
      1,
    ),
    array: namesOf(({ isGreedy }) => isGreedy),
    coerce: {
      ...forNames(
        namesOf(({ type }) => type === 'number'),
        readNumber,
      ),
      ...forNames(
        namesOf(({ isList }) => isList),
        (value: unknown) => [value].flat(),
      ),
    },
  });
  const values = argv as ParsedValues;
  // The first word is the name of the command.
  const [name = '', ...others] = values._;
  const positionals = Object.keys(command.arguments);
  const named = Object.fromEntries(
    positionals.flatMap((each, index) => {
      const word = others[index];
      return word === undefined ? [] : [[each, word]];
    }),
  );
  const rest = others.slice(positionals.length);
  return { values: { ...values, ...named, _: [name, ...rest] }, error };
}

async function runCommand(
  command: Command,
  { args, process }: { args: readonly string[]; process: CommandProcess },
): Promise<number> {
  const { values, error } = parseCommand(command, args);
  if (values.help) {
    const { formatCommandHelp } = await import('./output/help.ts');
    process.stdout.write(formatCommandHelp(command));
  } else if (values.version) process.stdout.write(`${kitVersion()}\n`);
  else {
    rejectUnexpected(command, args, values);
    if (error) throw new UsageError(error.message);
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
