/** The command line as yargs-parser gets it. Loads no schema library, so that `--help` starts fast. */
import type { Option } from '../../src/options/option.ts';

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
