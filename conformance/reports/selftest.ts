import { mutants, serviceMutants } from '../areas/mutants.ts';
import type { SelftestResult, SelftestRow } from '../proof/selftest.ts';
import type { PeerChoice } from '../proof/peer-runs.ts';
import { formatCount, formatDuration } from '../../src/report-kit/format.ts';
import { labeled, wrap, type TextLayout } from '../../src/report-kit/terminal.ts';

/** Lays out the result of a self-test: which requirement catches which mutant, and what went wrong. */
export function selftestText(result: SelftestResult, layout: TextLayout): string {
  const { style, width } = layout;
  if (result.cause !== undefined) return `${wrap(result.cause, width).join('\n')}\n`;
  const matrix = Object.entries(result.matrix).flatMap(([id, mutants]) =>
    labeled(`  ${style('bold', id.padEnd(11))}  `, mutants.join(', '), width),
  );
  const unexpected = result.rows
    .filter(({ ok }) => !ok)
    .flatMap((row) => unexpectedRow(row, style));
  return [
    style('bold', 'Requirements and the mutants that they catch'),
    ...matrix,
    '',
    ...(unexpected.length === 0 ? [] : [style('red', 'Unexpected results'), ...unexpected, '']),
    ...tally(result, layout),
    '',
  ].join('\n');
}

function unexpectedRow(
  { kind, id, expected, actual }: SelftestRow,
  style: TextLayout['style'],
): string[] {
  return [
    `  ${style('red', id)} (${kind})`,
    `    expected  ${expected.join(', ') || 'no failure'}`,
    `    actual    ${actual.join(', ') || 'no failure'}`,
  ];
}

const sentences: Record<SelftestRow['kind'], string> = {
  mutant: 'mutants caught, each by exactly its own requirements',
  variant: 'legal variants without a failure',
  'dead peer': 'unreachable or broken peers reported with exactly one cause',
};

function tally({ rows, ms, unkilled, seed, ok }: SelftestResult, { style }: TextLayout): string[] {
  const kinds: SelftestRow['kind'][] = ['mutant', 'variant', 'dead peer'];
  const lines = kinds.flatMap((kind) => {
    const all = rows.filter((row) => row.kind === kind);
    const correct = all.filter((row) => row.ok);
    return all.length === 0 ? [] : [`${correct.length} of ${all.length} ${sentences[kind]}`];
  });
  const verdict = ok ? style('green', 'PROVEN') : style('red', 'NOT PROVEN');
  const count = formatCount(unkilled.length, 'requirement');
  const have = unkilled.length === 1 ? 'has' : 'have';
  const rest = unkilled.length === 0 ? [] : [`${count} ${have} no mutant in this run`];
  return [...lines, ...rest, `${verdict}  ${formatDuration(ms)}, seed ${seed}`];
}

/** Returns the ids of all mutants of a sandbox or of the service that traffic can show. */
export function mutantIds(of: 'sandbox' | 'service'): string[] {
  const all = of === 'service' ? serviceMutants : mutants;
  return all.filter(({ run }) => !run).map(({ id }) => id);
}

/** Lists the peers that a self-test would run. Loads the proxies on demand: `check` needs none. */
export async function peerList(choice: PeerChoice, layout: TextLayout): Promise<string> {
  const { choosePeers } = await import('../proof/peer-runs.ts');
  const { mutants, variants, deadPeers } = choosePeers(choice);
  const mutantRows = mutants.map(({ id, description, kills }) => ({
    id,
    description: `${description} [${kills.join(' ')}]`,
  }));
  return [
    peerGroup('Mutants: each breaks one rule', mutantRows, layout),
    peerGroup('Variants: unusual but legal', variants, layout),
    peerGroup('Unreachable or broken peers', deadPeers, layout),
  ].join('');
}

function peerGroup(
  title: string,
  rows: readonly { id: string; description: string }[],
  { style, width }: TextLayout,
): string {
  if (rows.length === 0) return '';
  const lines = rows.flatMap(({ id, description }) => [
    `  ${style('bold', id)}`,
    ...labeled('      ', description, width),
  ]);
  return `${[style('bold', title), ...lines].join('\n')}\n`;
}
