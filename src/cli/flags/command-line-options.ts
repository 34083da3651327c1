import type { Option } from './option.ts';

type Options = Readonly<Record<string, Option>>;

/** Returns the options that the command line accepts. */
export function commandLineOptions(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, { isSecret }]) => !isSecret));
}
