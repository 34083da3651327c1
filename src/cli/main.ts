/** The entry point of the command line. */
import type { Command } from './command.ts';
import { commandEntries } from './commands/index.ts';
import { exitCodes, OutputError, SandboxKitError, UsageError } from './errors.ts';
import { joinDashValues } from './flags/command-line.ts';
import { kitVersion } from '../library/kit-version.ts';
import { formatGlobalHelp } from './output/global-help.ts';
import { fill } from './output/help-layout.ts';
import { ignoreClosedPipes } from './signals.ts';
import { maskUrls } from '../platform/base-url.ts';
import { isError } from '../platform/error-origin.ts';

/** The option with which the script of `sandbox-kit completion` asks for completions. */
const COMPLETION_OPTION = '--get-yargs-completions';

/** Runs sandbox-kit with command line arguments, and sets the exit code of the process. */
async function main(commandLine: readonly string[]): Promise<void> {
  ignoreClosedPipes();
  process.on('uncaughtException', (error) => {
    reportError(error);
    process.exit();
  });
  try {
    if (commandLine[0] === COMPLETION_OPTION) {
      await printCompletions(commandLine.slice(1));
      return;
    }
    const args = joinDashValues(expandHelp(commandLine));
    const answer = answerWithoutParser(args);
    if (answer !== undefined) {
      process.stdout.write(answer);
      return;
    }
    const commands = await loadMentionedCommands(args);
    const { runCommandLine } = await import('./parser.ts');
    await runCommandLine(args, commands);
  } catch (error) {
    reportError(error);
  }
}

/** Returns the output of `--help` and `--version`, which are faster without loading the parser. */
function answerWithoutParser([option, ...others]: readonly string[]): string | undefined {
  if (others.length > 0) return undefined;
  if (option === '--help' || option === '-h') return formatGlobalHelp(commandEntries);
  return option === '--version' ? `${kitVersion()}\n` : undefined;
}

/** Turns `help check` into `check --help`, and `help` into `--help`. */
const expandHelp = (args: readonly string[]): readonly string[] =>
  args[0] === 'help' ? [...args.slice(1, 2), '--help'] : args;

/** Prints the words that can complete a command line. */
async function printCompletions(line: readonly string[]): Promise<void> {
  const { findCompletions, formatCompletions } = await import('./completion.ts');
  const { readVariable } = await import('./flags/environment.ts');
  // Only the script for zsh sets this variable.
  const isZsh = readVariable('COMP_LINE') !== undefined;
  const candidates = await findCompletions(line, commandEntries);
  process.stdout.write(formatCompletions(candidates, isZsh));
}

/** Loads the commands whose names occur in the arguments: the one to run, and few others. */
function loadMentionedCommands(args: readonly string[]): Promise<Command[]> {
  const mentioned = commandEntries.filter(({ name }) => args.includes(name));
  return Promise.all(mentioned.map(({ load }) => load()));
}

function reportError(error: unknown): void {
  if (error instanceof UsageError || error instanceof SandboxKitError) {
    const items = error instanceof UsageError ? error.items : [];
    // A URL in the wrong place may contain a password.
    const message = maskUrls(error.message);
    const lines = [fill(`sandbox-kit: ${message}`), ...items.map((item) => `  ${maskUrls(item)}`)];
    process.stderr.write(`${lines.join('\n')}\n`);
    process.exitCode = error instanceof OutputError ? exitCodes.notJudged : exitCodes.usage;
    return;
  }
  const stack = isError(error) ? error.stack : String(error);
  process.stderr.write(
    `sandbox-kit: Internal error. Please report it with this stack trace:\n${stack ?? ''}\n`,
  );
  process.exitCode = exitCodes.internal;
}

await main(process.argv.slice(2));
