import type { CheckReport } from '../../src/contract/index.ts';

/** What a report says first: its verdict, or that it stands against nothing but the baseline. */
export type Headline = CheckReport['verdict'] | 'baseline-stale';

/** What a report says first. */
export function headlineOf({
  verdict,
  requirements,
  staleKnownFailures = [],
}: CheckReport): Headline {
  const isOpen = requirements.some((one) => one.verdict === 'fail' && one.accepted === undefined);
  return verdict === 'not-conforming' && staleKnownFailures.length > 0 && !isOpen
    ? 'baseline-stale'
    : verdict;
}

/** What is wrong with a baseline whose entries are met by now. */
export function staleSentence(ids: readonly string[]): string {
  const are = ids.length === 1 ? 'is' : 'are';
  return `The baseline is stale: ${ids.join(', ')} ${are} met by now; take ${ids.length === 1 ? 'it' : 'them'} out of it.`;
}
