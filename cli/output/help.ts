/** The help of a command, made from the same data as docs/cli.md. */
import type { CommandDescription } from '../command.ts';
import { commandLineOptions } from '../flags/command-line.ts';
import { isOnByDefault, type Option } from '../../src/options/option.ts';
import { completeExitCodes } from './global-help.ts';
import {
  formatExamples,
  formatExitCodes,
  joinParagraphs,
  section,
  type Row,
} from './help-layout.ts';
import { fill } from './message.ts';

/** Returns the help of `sandbox-kit COMMAND --help`. */
export function formatCommandHelp(command: CommandDescription): string {
  const { summary, description = [], environment = {}, notes = [], exitCodes } = command;
  const argumentRows = Object.entries(command.arguments).map(([name, { help }]): Row => [
    name.toUpperCase(),
    help,
  ]);
  const groups = groupOptions(command);
  const names = [...groups.values()].flat().map(([name, option]) => spellOption(name, option));
  const optionSections = [...groups].map(([heading, options]) =>
    section(
      heading === 'Options' ? heading : `${heading} options`,
      options.map(([name, option]): Row => [spellOption(name, option), describeOption(option)]),
      names,
    ),
  );
  return joinParagraphs([
    `Usage: ${usageOf(command)}`,
    fill(`${summary}.`),
    ...description.map(fill),
    section('Arguments', argumentRows),
    ...optionSections,
    formatExamples(command.examples),
    section('Environment variables', Object.entries(environment)),
    ...notes.map(fill),
    exitCodes ? formatExitCodes(completeExitCodes(exitCodes)) : '',
  ]);
}

/** Returns the options that the command line accepts, by the heading of their group. */
export function groupOptions({ options }: CommandDescription): Map<string, [string, Option][]> {
  return Map.groupBy(
    Object.entries(commandLineOptions(options)),
    ([, { group = 'Options' }]) => group,
  );
}

/** Returns the usage line of a command, such as `sandbox-kit check [URL] [options]`. */
export function usageOf(command: CommandDescription): string {
  const positionals = Object.entries(command.arguments).map(([name, { isRequired }]) =>
    isRequired ? name.toUpperCase() : `[${name.toUpperCase()}]`,
  );
  const hasOptions = Object.keys(commandLineOptions(command.options)).length > 0;
  const parts = ['sandbox-kit', command.name, ...positionals, hasOptions ? '[options]' : ''];
  return [...parts, command.rest === undefined ? '' : `-- ${command.rest}`]
    .filter((part) => part !== '')
    .join(' ');
}

/** Returns the flag of an option, such as `--json` or `--no-voice`. */
export const flagOf = (name: string, option: Option): string =>
  `${isOnByDefault(option) ? '--no-' : '--'}${name}`;

/** Returns the spelling of an option, such as `--json FILE` or `--no-voice`. */
export function spellOption(name: string, option: Option): string {
  const flag = flagOf(name, option);
  return option.placeholder === '' ? flag : `${flag} ${option.placeholder}`;
}

/** Returns the help of an option with its default. */
export function describeOption({ help, defaultText }: Option): string {
  return defaultText === undefined ? help : `${help} (default: ${defaultText})`;
}
