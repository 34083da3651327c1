import { wrap } from '../../src/report-kit/terminal.ts';
import type { PeerChoice } from '../proof/peer-runs.ts';
import type { ListingOptions } from './listing.ts';

// The mutants are loaded when they are asked for: a check needs none of them.

/** The ids of all mutants of a sandbox, or of the service, that traffic can show. */
export async function mutantIds(of: 'sandbox' | 'service'): Promise<string[]> {
  const { mutants, serviceMutants } = await import('../areas/mutants.ts');
  const all = of === 'service' ? serviceMutants : mutants;
  return all.filter(({ run }) => !run).map(({ id }) => id);
}

/** What a self-test of some peers would run, for people. */
export async function peerList(choice: PeerChoice, options: ListingOptions): Promise<string> {
  const { choosePeers } = await import('../proof/peer-runs.ts');
  const { mutants, variants, deadPeers } = choosePeers(choice);
  const groups: [string, { id: string; says: string }[]][] = [
    [
      'Mutants: each breaks one rule',
      mutants.map(({ id, description, kills }) => ({
        id,
        says: `${description} [${kills.join(' ')}]`,
      })),
    ],
    [
      'Variants: odd, but legal',
      variants.map(({ id, description }) => ({ id, says: description })),
    ],
    [
      'Dead peers: no sandbox and no service at all',
      deadPeers.map(({ id, description }) => ({ id, says: description })),
    ],
  ];
  return groups.map(([title, rows]) => group(title, rows, options)).join('');
}

function group(
  title: string,
  rows: readonly { id: string; says: string }[],
  { style, width }: ListingOptions,
): string {
  if (rows.length === 0) return '';
  const lines = rows.flatMap(({ id, says }) => [
    `  ${style('bold', id)}`,
    ...wrap(says, width - 6).map((line) => `      ${line}`),
  ]);
  return `${[style('bold', title), ...lines].join('\n')}\n`;
}
