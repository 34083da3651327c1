import type { CheckReport } from '../../src/contract/index.ts';
import { hanging, shortList, unbroken } from './layout.ts';
import type { ListingOptions } from './listing.ts';

/** What of the dialect stands in the summary: enough to know the sandbox by. */
const DIALECT_SHOWN = 4;

/** What is only worth knowing, a line or two for each: notes, dialect, and where all of it is told. */
export function summaryBlock(report: CheckReport, { style, width }: ListingOptions): string[] {
  const { requirements, blockedBy, observedBehavior } = report;
  const notes = requirements.filter(({ verdict }) => verdict === 'note').map(({ id }) => id);
  const said = Object.entries(observedBehavior).map(([name, value]) => `${name} ${value}`);
  const unjudged = blockedBy
    ? 0
    : requirements.filter(({ verdict }) => /^not_(applicable|observed)$/.test(verdict)).length;
  if (notes.length + said.length + unjudged === 0) return [];
  const shown = said.slice(0, DIALECT_SHOWN);
  const rest = said.length - shown.length;
  const row = (name: string, parts: readonly string[]): string[] =>
    unbroken(parts, (text) => hanging(name.padEnd(9), text, width)).map((line, index) =>
      index === 0 ? line.replace(name, () => style('bold', name)) : line,
    );
  return [
    [
      ...(notes.length === 0 ? [] : hangingIds(shortList(notes), { style, width })),
      ...(said.length === 0 ? [] : row('Dialect', [...shown, ...(rest ? [`${rest} more`] : [])])),
      ...row('More', [moreWords(notes.length, unjudged, said.length)]),
    ].join('\n'),
  ];
}

function hangingIds(ids: string, { style, width }: ListingOptions): string[] {
  const [first = '', ...more] = hanging('Noted    ', ids, width);
  return [first.replace('Noted', () => style('bold', 'Noted')), ...more];
}

/** "--verbose tells the notes, why 13 got no verdict, and the whole dialect". */
function moreWords(notes: number, unjudged: number, said: number): string {
  const parts = [
    ...(notes === 0 ? [] : ['the notes']),
    ...(unjudged === 0 ? [] : [`why ${unjudged} got no verdict`]),
    ...(said === 0 ? [] : ['the whole dialect']),
  ];
  return `--verbose tells ${parts.join(', ').replace(/, ([^,]*)$/, ' and $1')}`;
}
