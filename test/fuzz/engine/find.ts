/** An input that violates a rule. */
export interface Find {
  message: string;
  /** The seed of the round, and the path of the input in it, which fast-check defines. */
  seed: number;
  path: string;
  /** The smallest input that still violates a rule, as it is sent. */
  input: string;
  /** How many times the input became smaller. */
  shrinks: number;
  /** Whether the input alone is enough, or the inputs before it are needed. */
  isAlone: boolean;
}

/** Returns the command that sends an input again; without its path, all inputs of its round. */
export const formatRepeatCommand = (
  name: string,
  { seed, path }: { seed: number; path?: string },
): string =>
  `node test/fuzz/run.ts ${name} --seed ${seed}${path === undefined ? '' : ` --path ${path}`}`;

/** Describes a find for people. */
export function formatFind(name: string, find: Find): string {
  const { message, seed, path, input, shrinks, isAlone } = find;
  const about = isAlone ? `smaller ${shrinks} times` : 'not smaller: it needs the inputs before it';
  return [
    `FOUND in ${name}: ${message}`,
    `The input (${about}):`,
    input,
    `Repeat it: ${formatRepeatCommand(name, isAlone ? { seed, path } : { seed })}`,
  ].join('\n');
}
