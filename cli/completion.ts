/** Completes a command line for the script that `sandbox-kit completion` prints. */
import * as z from 'zod';
import type { CommandDescription, CommandSummary } from './command.ts';
import type { CommandEntry } from './commands/index.ts';
import { commandLineOptions } from './flags/command-line.ts';
import { innerSchema } from './flags/inner-schema.ts';
import { flagOf } from './output/help.ts';
import type { Option } from '../src/options/option.ts';
import { choicesOf } from '../src/options/values.ts';

/** A word that can come next, and what it means. */
interface Candidate {
  word: string;
  meaning: string;
}

/**
 * Returns the words that can complete the last one of a command line. Returns none if a file name or
 * free text is expected, so that the shell completes file names.
 */
export async function findCompletions(
  line: readonly string[],
  entries: readonly CommandEntry[],
): Promise<Candidate[]> {
  // bash splits `--area=chat` into three words.
  const words = line.slice(1).filter((word) => word !== '=');
  const current = line.at(-1) === '=' ? '' : (words.pop() ?? '');
  if (words.includes('--')) return [];
  const entry = entries.find(({ name }) => words.includes(name));
  const candidates = entry
    ? completeCommand(await entry.load(), words.slice(words.indexOf(entry.name) + 1), current)
    : completeStart(entries, current);
  return candidates.filter(({ word }) => word.startsWith(current));
}

const globalOptions: readonly Candidate[] = [
  { word: '--help', meaning: 'Show the help' },
  { word: '--version', meaning: 'Show the version' },
];

function completeStart(entries: readonly CommandSummary[], current: string): readonly Candidate[] {
  if (current.startsWith('-')) return globalOptions;
  return entries.map(({ name, summary }) => ({ word: name, meaning: summary }));
}

function completeCommand(
  { arguments: positionals, options }: CommandDescription,
  words: readonly string[],
  current: string,
): Candidate[] {
  const known = commandLineOptions(options);
  const previous = words.at(-1) ?? '';
  const option = known[previous.replace(/^--/, '')];
  if (previous.startsWith('--') && option && option.type !== 'boolean') {
    return toCandidates(listChoices(option.schema), current);
  }
  if (current.startsWith('-')) {
    const isUsed = (word: string): boolean => words.includes(word);
    return [
      ...Object.entries(known).flatMap(([name, each]): Candidate[] => {
        const word = flagOf(name, each);
        return isUsed(word) && !each.isList ? [] : [{ word, meaning: each.help }];
      }),
      { word: '--help', meaning: 'Show the help of the command' },
    ];
  }
  const [first] = Object.values(positionals);
  const hasArgument = countArguments(words, known) > 0;
  return first && !hasArgument ? toCandidates(listChoices(first.schema), current) : [];
}

/** Counts the words that are neither options nor their values. */
function countArguments(
  words: readonly string[],
  options: Readonly<Record<string, Option>>,
): number {
  return words.filter((word, index) => {
    const before = words[index - 1] ?? '';
    const option = before.startsWith('--') ? options[before.slice(2)] : undefined;
    const isValue = option !== undefined && option.type !== 'boolean';
    return !word.startsWith('-') && !isValue;
  }).length;
}

/** Completes the last part of a list such as `chat,he`. */
function toCandidates(choices: readonly string[], current: string): Candidate[] {
  const [, earlier = ''] = /^(.*,)?[^,]*$/.exec(current) ?? [];
  return choices
    .filter((choice) => !earlier.split(',').includes(choice))
    .map((choice) => ({ word: earlier + choice, meaning: '' }));
}

/** Returns the words that a schema accepts; none if it accepts other text. */
function listChoices(schema: z.ZodType): readonly string[] {
  const offered = choicesOf(schema);
  if (offered) return offered;
  if (schema instanceof z.ZodEnum) return schema.options.map(String);
  const inner = innerSchema(schema);
  return inner ? listChoices(inner) : [];
}

/** Writes candidates in the form that the script of a shell expects. */
export function formatCompletions(candidates: readonly Candidate[], isZsh: boolean): string {
  return candidates
    .map(({ word, meaning }) => {
      if (!isZsh) return `${word}\n`;
      const escaped = word.replaceAll(':', '\\:');
      return meaning === '' ? `${escaped}\n` : `${escaped}:${meaning}\n`;
    })
    .join('');
}
