import type { SelftestResult, SelftestRow } from '../proof/selftest.ts';
import { wrap } from '../../src/report-kit/terminal.ts';
import type { ListingOptions } from './listing.ts';

/** The kill matrix for people: which requirement catches which fault, and what went wrong. */
export function selftestText(result: SelftestResult, options: ListingOptions): string {
  const { style, width } = options;
  if (result.cause !== undefined) return `${wrap(result.cause, width).join('\n')}\n`;
  const matrix = Object.entries(result.matrix).flatMap(([id, mutants]) => {
    const [first = '', ...more] = wrap(mutants.join(', '), width - 15);
    return [
      `  ${style('bold', id.padEnd(11))}  ${first}`,
      ...more.map((line) => `${' '.repeat(15)}${line}`),
    ];
  });
  const wrong = result.rows.filter(({ ok }) => !ok).flatMap((row) => wrongRow(row, options));
  return [
    style('bold', 'Requirement and the faults that it catches'),
    ...matrix,
    '',
    ...(wrong.length === 0 ? [] : [style('red', 'Not as it must be'), ...wrong, '']),
    ...tally(result, options),
    '',
  ].join('\n');
}

function wrongRow(
  { kind, id, expected, actual }: SelftestRow,
  { style }: ListingOptions,
): string[] {
  return [
    `  ${style('red', id)} (${kind})`,
    `    expected  ${expected.join(', ') || 'nothing red'}`,
    `    actual    ${actual.join(', ') || 'nothing red'}`,
  ];
}

const sentences: Record<SelftestRow['kind'], string> = {
  mutant: 'faults caught, each by exactly its requirements',
  variant: 'odd but legal sandboxes left in peace',
  'dead peer': 'dead peers told by their one cause',
};

function tally(
  { rows, ms, unkilled, seed, ok }: SelftestResult,
  { style }: ListingOptions,
): string[] {
  const kinds: SelftestRow['kind'][] = ['mutant', 'variant', 'dead peer'];
  const lines = kinds.flatMap((kind) => {
    const all = rows.filter((row) => row.kind === kind);
    const right = all.filter((row) => row.ok);
    return all.length === 0 ? [] : [`${right.length} of ${all.length} ${sentences[kind]}`];
  });
  const verdict = ok ? style('green', 'PROVEN') : style('red', 'NOT PROVEN');
  const rest =
    unkilled.length === 0 ? [] : [`no fault in this run for ${unkilled.length} requirements`];
  return [...lines, ...rest, `${verdict}  ${(ms / 1000).toFixed(1)} s, seed ${seed}`];
}
