/** The help of the command line, made from the same data as docs/cli.md. */
import { wrap } from '../../report-kit/terminal.ts';
import type { CommandDescription, Example } from '../command.ts';
import { commandLineOptions, isOnByDefault, type Option } from '../flags/option.ts';

/** Every help text fits this width. */
const WIDTH = 80;
const NAME_WIDTH_MAX = 28;

const globalExamples: readonly Example[] = [
  { command: 'sandbox-kit demo', note: 'Show everything in a minute' },
  { command: 'sandbox-kit agent', note: 'Start a sandbox to build against' },
  { command: 'sandbox-kit check http://127.0.0.1:8080', note: 'Check a sandbox' },
  { command: 'sandbox-kit check --help', note: 'Show the options of check' },
];

const globalEnvironment: Readonly<Record<string, string>> = {
  SANDBOX_KIT_API_KEY: 'Bearer key of the sandbox',
  SANDBOX_KIT_SERVICE_API_KEY: 'API key of the service',
};

/** The exit codes of every command. */
export const globalExitCodes: Readonly<Record<number, string>> = {
  0: 'OK',
  1: 'findings',
  2: 'usage error',
  3: 'not judged',
  70: 'internal error',
};

/** Returns the help of `sandbox-kit --help`. */
export function formatGlobalHelp(commands: readonly CommandDescription[]): string {
  const rows = commands.map((command): Row => [command.name, command.summary]);
  return joinBlocks([
    'Usage: sandbox-kit COMMAND [options]',
    'Test agents against the interface of an evaluation service.',
    section('Commands', rows),
    section('Options', [
      ['--help', 'Show the help of sandbox-kit or of a command'],
      ['--version', 'Show the version'],
    ]),
    formatExamples(globalExamples),
    section('Environment variables', Object.entries(globalEnvironment)),
    formatExitCodes(globalExitCodes),
  ]);
}

/** Returns the help of `sandbox-kit COMMAND --help`. */
export function formatCommandHelp(command: CommandDescription): string {
  const { summary, description = [], environment = {}, notes = [], exitCodes } = command;
  const argumentRows = Object.entries(command.arguments).map(([name, { help }]): Row => [
    name.toUpperCase(),
    help,
  ]);
  const groups = Map.groupBy(
    Object.entries(commandLineOptions(command.options)),
    ([, { group = 'Options' }]) => group,
  );
  const names = Object.entries(commandLineOptions(command.options)).map(([name, option]) =>
    spellOption(name, option),
  );
  const optionSections = [...groups].map(([heading, options]) =>
    section(
      heading === 'Options' ? heading : `${heading} options`,
      options.map(([name, option]): Row => [spellOption(name, option), describeOption(option)]),
      names,
    ),
  );
  return joinBlocks([
    `Usage: ${usageOf(command)}`,
    fill(`${summary}.`),
    ...description.map(fill),
    section('Arguments', argumentRows),
    ...optionSections,
    formatExamples(command.examples),
    section('Environment variables', Object.entries(environment)),
    ...notes.map(fill),
    exitCodes ? formatExitCodes(exitCodes) : '',
  ]);
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

/** Returns the spelling of an option, such as `--json FILE` or `--no-voice`. */
export function spellOption(name: string, option: Option): string {
  const prefix = isOnByDefault(option) ? '--no-' : '--';
  return `${prefix}${name}${option.placeholder === '' ? '' : ` ${option.placeholder}`}`;
}

/** Returns the help of an option with its default. */
export function describeOption({ help, defaultText }: Option): string {
  return defaultText === undefined ? help : `${help} (default: ${defaultText})`;
}

type Row = readonly [name: string, text: string];

/** Formats rows in two columns. `alignedNames` sets the width of the first one. */
function section(
  heading: string,
  rows: readonly Row[],
  alignedNames = rows.map(([name]) => name),
): string {
  if (rows.length === 0) return '';
  const widths = alignedNames.map(({ length }) => length).filter((it) => it <= NAME_WIDTH_MAX);
  const indent = 2 + Math.max(0, ...widths) + 2;
  const lines = rows.flatMap(([name, text]) => {
    const [first = '', ...rest] = wrapUnbroken(text, WIDTH - indent);
    const label = `  ${name}  `.padEnd(indent);
    const head =
      label.length > indent ? [`  ${name}`, ' '.repeat(indent) + first] : [label + first];
    return [...head, ...rest.map((line) => ' '.repeat(indent) + line)];
  });
  return [`${heading}:`, ...lines].join('\n');
}

/** Wraps text without breaking a short default. */
function wrapUnbroken(text: string, width: number): string[] {
  const joined = text.replaceAll(/\(default: [^)]{1,28}\)/g, (it) => it.replaceAll(' ', '\0'));
  return wrap(joined, width).map((line) => line.replaceAll('\0', ' '));
}

/** Writes the notes next to the commands if all fit, or else above them. */
function formatExamples(examples: readonly Example[]): string {
  const column = Math.max(...examples.map(({ command }) => command.length));
  const isInline = examples.every(({ note = '' }) => 2 + column + 4 + note.length <= WIDTH);
  const lines = examples.flatMap(({ command, note }) => {
    if (note === undefined) return [`  ${command}`];
    return isInline ? [`  ${command.padEnd(column)}  # ${note}`] : [`  # ${note}`, `  ${command}`];
  });
  return ['Examples:', ...lines].join('\n');
}

function formatExitCodes(codes: Readonly<Record<number, string>>): string {
  const text = Object.entries(codes)
    .map(([code, meaning]) => `${code} ${meaning}`)
    .join(', ');
  return fill(`Exit codes: ${text}.`);
}

const fill = (paragraph: string): string => wrap(paragraph, WIDTH).join('\n');

const joinBlocks = (blocks: readonly string[]): string =>
  `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
