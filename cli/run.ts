/** Runs a command line with a process that is passed to it. */
import type { Command } from './command.ts';
import { COMPLETION_OPTION } from './completion-scripts.ts';
import { commandEntries } from './commands/index.ts';
import { CommandError, exitCodes, SandboxKitError } from './errors.ts';
import { kitVersion } from '../library/kit-version.ts';
import { formatGlobalHelp } from './output/global-help.ts';
import { fill, WIDTH } from './output/message.ts';
import type { CommandProcess } from './process.ts';
import { maskUrls } from '../src/platform/base-url.ts';
import { typeCommandsIn } from '../src/report-kit/program-name.ts';
import { labeled } from '../src/report-kit/terminal.ts';
import { findProgramName } from './output/program-name.ts';
import { isError } from '../src/platform/error-origin.ts';

/** Runs sandbox-kit with command line arguments, and returns the exit code. Reports errors to stderr. */
export async function runCommandLine(
  commandLine: readonly string[],
  process: CommandProcess,
): Promise<number> {
  try {
    if (commandLine[0] === COMPLETION_OPTION) {
      const { printCompletions } = await import('./completion.ts');
      await printCompletions(commandLine.slice(1), commandEntries, process);
      return exitCodes.ok;
    }
    const args = expandHelp(commandLine);
    const answer = answerWithoutParser(args);
    if (answer !== undefined) {
      process.stdout.write(answer);
      return exitCodes.ok;
    }
    const commands = await loadMentionedCommands(args);
    const { parseAndRun } = await import('./parser.ts');
    return await parseAndRun(args, commands, process);
  } catch (error) {
    return reportError(error, process);
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

/** Loads the commands whose names occur in the arguments: the one to run, and few others. */
function loadMentionedCommands(args: readonly string[]): Promise<Command[]> {
  const mentioned = commandEntries.filter(({ name }) => args.includes(name));
  return Promise.all(mentioned.map(({ load }) => load()));
}

/** Writes the message of an error, and returns the exit code. */
export function reportError(
  error: unknown,
  { stderr, env }: Pick<CommandProcess, 'stderr' | 'env'>,
): number {
  const typed = (text: string): string => typeCommandsIn(text, findProgramName(env));
  if (error instanceof CommandError || error instanceof SandboxKitError) {
    const { items, exitCode } =
      error instanceof CommandError ? error : { items: [], exitCode: exitCodes.usage };
    const problems = error instanceof SandboxKitError ? error.problems : [];
    const message = problems.length > 0 ? `${problems.length} problems:` : error.message;
    const lines = [
      ...[fill(`sandbox-kit: ${typed(message)}`), ...items.map((item) => `  ${item}`)],
      ...problems.flatMap((problem) => labeled('  ', typed(problem), WIDTH)),
      // A URL in the wrong place may contain a password.
    ].map(maskUrls);
    stderr.write(`${lines.join('\n')}\n`);
    return exitCode;
  }
  const stack = isError(error) ? error.stack : String(error);
  stderr.write(
    `sandbox-kit: Internal error. Please report it with this stack trace:\n${stack ?? ''}\n`,
  );
  return exitCodes.internal;
}
