/** The command line as yargs-parser gets it. Loads no schema library, so that `--help` starts fast. */
import type { Option } from '../../options/option.ts';

type Options = Readonly<Record<string, Option>>;

/** Returns the options that the command line accepts. */
export function commandLineOptions(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, { isSecret }]) => !isSecret));
}

/** Reads a number. Returns other text unchanged, so that the message about it can quote it. */
export function readNumber(text: unknown): unknown {
  const number = typeof text === 'string' && text.trim() !== '' ? Number(text) : NaN;
  return Number.isNaN(number) ? text : number;
}

/**
 * Repeats each option that takes several words: `--merge a b` becomes `--merge a --merge b`, because
 * yargs-parser would treat the second word as a positional argument.
 */
export function repeatGreedyOptions(args: readonly string[], options: Options): string[] {
  const end = args.indexOf('--');
  const repeated: string[] = [];
  let current: string | undefined;
  for (const [index, arg] of args.entries()) {
    const isWord = !arg.startsWith('-') && (end === -1 || index < end);
    const [name = ''] = arg.split('=');
    if (!isWord) current = options[name.slice(2)]?.isGreedy ? name : undefined;
    else if (current !== undefined && repeated.at(-1) !== current) repeated.push(current);
    repeated.push(arg);
  }
  return repeated;
}

/**
 * Joins `--json -` to `--json=-`, and `--duration -5s` to `--duration=-5s`, because yargs-parser would treat
 * the second word as a positional argument or as short options.
 */
export function joinDashValues(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  const joined: string[] = [];
  for (const [index, arg] of args.entries()) {
    const previous = joined.at(-1) ?? '';
    const isBeforeEnd = end === -1 || index < end;
    if (isBeforeEnd && /^-(\d.*)?$/s.test(arg) && /^--[a-z][a-z-]*$/.test(previous)) {
      joined[joined.length - 1] = `${previous}=${arg}`;
    } else joined.push(arg);
  }
  return joined;
}
