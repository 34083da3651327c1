/** Runs a command line with a process that is passed to it. */
import yargs, { type Argv } from 'yargs';
import type { Command } from './command.ts';
import { COMPLETION_OPTION } from './completion-scripts.ts';
import { commandEntries, loadCommands } from './commands/index.ts';
import { didYouMean, exitCodes, OutputError, SandboxKitError, UsageError } from './errors.ts';
import {
  commandLineOptions,
  joinDashValues,
  readNumber,
  repeatGreedyOptions,
} from './flags/command-line.ts';
import { kitVersion } from '../library/kit-version.ts';
import { formatGlobalHelp } from './output/global-help.ts';
import { fill } from './output/help-layout.ts';
import type { CommandProcess, OutputStream } from './process.ts';
import { maskUrls } from '../platform/base-url.ts';
import { isError } from '../platform/error-origin.ts';

/** Runs sandbox-kit with command line arguments, and returns the exit code. Reports errors to stderr. */
export async function runCommandLine(
  commandLine: readonly string[],
  process: CommandProcess,
): Promise<number> {
  try {
    if (commandLine[0] === COMPLETION_OPTION) {
      await printCompletions(commandLine.slice(1), process);
      return exitCodes.ok;
    }
    const args = joinDashValues(expandHelp(commandLine));
    const commands = await loadMentionedCommands(args);
    const { options = {} } = commands.find(({ name }) => name === args[0]) ?? {};
    return await parseAndRun(repeatGreedyOptions(args, options), commands, process);
  } catch (error) {
    return reportError(error, process.stderr);
  }
}

/** Turns `help check` into `check --help`, and `help` into `--help`. */
const expandHelp = (args: readonly string[]): readonly string[] =>
  args[0] === 'help' ? [...args.slice(1, 2), '--help'] : args;

/** Prints the words that can complete a command line. */
async function printCompletions(
  line: readonly string[],
  { env, stdout }: CommandProcess,
): Promise<void> {
  const { findCompletions, formatCompletions } = await import('./completion.ts');
  const { readVariable } = await import('./flags/environment.ts');
  // Only the script for zsh sets this variable.
  const isZsh = readVariable('COMP_LINE', env) !== undefined;
  const candidates = await findCompletions(line, commandEntries);
  stdout.write(formatCompletions(candidates, isZsh));
}

/** Loads the commands whose names occur in the arguments: the one to run, and few others. */
function loadMentionedCommands(args: readonly string[]): Promise<Command[]> {
  const mentioned = commandEntries.filter(({ name }) => args.includes(name));
  return Promise.all(mentioned.map(({ load }) => load()));
}

/** Parses the arguments, runs the command that they name, and returns the exit code. */
async function parseAndRun(
  args: readonly string[],
  commands: readonly Command[],
  process: CommandProcess,
): Promise<number> {
  let exitCode: number = exitCodes.ok;
  await createParser(args, commands, async (values, command) => {
    exitCode = command
      ? await runCommand(command, { args, values, process })
      : runWithoutCommand(values, process.stdout);
  }).parseAsync();
  return exitCode;
}

/**
 * Creates the yargs parser for these commands. Yargs only parses: the help comes from the description
 * of a command, and `rejectUnexpected` replaces the strict mode, whose messages name no option.
 */
function createParser(
  args: readonly string[],
  commands: readonly Command[],
  run: (values: ParsedValues, command?: Command) => Promise<void>,
): Argv {
  const parser = yargs([...args])
    .scriptName('sandbox-kit')
    .parserConfiguration({
      // `--prompt TEXT URL` must not take the URL as a second prompt.
      'greedy-arrays': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'parse-positional-numbers': false,
      'populate--': true,
    })
    .help(false)
    .version(false)
    .option('help', { type: 'boolean', alias: 'h' })
    .option('version', { type: 'boolean' })
    // `process.exit` would lose output that is still being written.
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new UsageError(message ?? 'Invalid arguments.');
    })
    .command('$0', false, {}, (values) => run(values as ParsedValues));
  return commands.reduce(
    (all, command) =>
      all.command({
        command: [command.name, ...Object.keys(command.arguments).map((name) => `[${name}]`)].join(
          ' ',
        ),
        builder: (each) => addOptions(each, command),
        handler: (values) => run(values as ParsedValues, command),
      }),
    parser,
  );
}

function addOptions(parser: Argv, command: Command): Argv {
  const withArguments = Object.keys(command.arguments).reduce(
    (all, name) => all.positional(name, { type: 'string' }),
    parser,
  );
  return Object.entries(commandLineOptions(command.options)).reduce(
    (all, [name, { type, isList }]) =>
      all.option(
        name,
        type === 'boolean'
          ? { type }
          : { type: 'string', array: isList, ...(type === 'number' && { coerce: readNumber }) },
      ),
    withArguments,
  );
}

/** What yargs parses: options by name, and other words in `_`. */
interface ParsedValues extends Record<string, unknown> {
  _: string[];
  '--'?: string[];
  help?: boolean;
  version?: boolean;
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

/** Writes the message of an error, and returns the exit code. */
export function reportError(error: unknown, stderr: OutputStream): number {
  if (error instanceof UsageError || error instanceof SandboxKitError) {
    const items = error instanceof UsageError ? error.items : [];
    // A URL in the wrong place may contain a password.
    const message = maskUrls(error.message);
    const lines = [fill(`sandbox-kit: ${message}`), ...items.map((item) => `  ${maskUrls(item)}`)];
    stderr.write(`${lines.join('\n')}\n`);
    return error instanceof OutputError ? exitCodes.notJudged : exitCodes.usage;
  }
  const stack = isError(error) ? error.stack : String(error);
  stderr.write(
    `sandbox-kit: Internal error. Please report it with this stack trace:\n${stack ?? ''}\n`,
  );
  return exitCodes.internal;
}
