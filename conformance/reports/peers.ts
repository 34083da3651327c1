import { wrap } from '../../src/shared/paint.ts';
import type { ListingOptions } from './listing.ts';

// The mutants are loaded when they are asked for: a check needs none of them.

/** The ids of all mutants. */
export async function mutantIds(): Promise<string[]> {
  const { mutants } = await import('../mutants/index.ts');
  return mutants.map(({ id }) => id);
}

/** What a self-test of the peers with `only` in their id would run, for people. */
export async function peerList(
  only: string,
  options: ListingOptions,
  withService = false,
): Promise<string> {
  const { deadPeers, serviceMutants, serviceVariants, ...sandbox } =
    await import('../mutants/index.ts');
  const mutants = [...sandbox.mutants, ...(withService ? serviceMutants : [])];
  const variants = [...sandbox.variants, ...(withService ? serviceVariants : [])];
  const groups: [string, { id: string; says: string }[]][] = [
    [
      'Mutants: each breaks one rule',
      mutants.map(({ id, breaks, kills }) => ({ id, says: `${breaks} [${kills.join(' ')}]` })),
    ],
    ['Variants: odd, but legal', variants.map(({ id, is }) => ({ id, says: is }))],
    ['Dead peers: no sandbox at all', deadPeers.map(({ id, is }) => ({ id, says: is }))],
  ];
  return groups.map(([title, rows]) => group(title, rows, only, options)).join('');
}

function group(
  title: string,
  all: readonly { id: string; says: string }[],
  only: string,
  { paint, width }: ListingOptions,
): string {
  const rows = all.filter(({ id }) => id.includes(only));
  if (rows.length === 0) return '';
  const lines = rows.flatMap(({ id, says }) => [
    `  ${paint('bold', id)}`,
    ...wrap(says, width - 6).map((line) => `      ${line}`),
  ]);
  return `${[paint('bold', title), ...lines].join('\n')}\n`;
}
