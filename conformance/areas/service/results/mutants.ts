import { edited, instead, json, replaces, to } from '../../../engine/mutants/combinators.ts';
import type { ProxyResponse, Mutant, TransformFactory } from '../../../engine/mutants/mutant.ts';
import {
  asks,
  itemsIn,
  listOf,
  not,
  onItems,
  onPages,
  param,
  partOf,
  requeried,
  type Results,
} from '../edits.ts';
import { failing, filters } from './filter-mutants.ts';
import { matches } from './match-mutants.ts';
import { put, take, written, type Row } from './mutant-rows.ts';

const no = (status: number): ProxyResponse => json(status, { message: 'No.' });

const pages = (of: Results): Row[] => [
  [
    'failed-only-400',
    'Does not know failed_only.',
    ['answered'],
    instead(to(of, asks('failed_only', 'true')), () => no(400)),
  ],
  [
    'traces-400',
    'Does not know include_traces.',
    ['answered'],
    instead(to(of, asks('include_traces', 'false')), () => no(400)),
  ],
  [
    'filter-text',
    'Answers a filter by eval with text.',
    ['answered'],
    replaces(to(of, asks('eval')), { body: 'none' }),
  ],
  ['total-missing', 'Gives no total.', ['envelope'], onPages(of, take('total'))],
  ['total-text', 'Gives the total as text.', ['envelope'], onPages(of, put('total', '12'))],
  ['skip-missing', 'Gives no skip.', ['envelope'], onPages(of, take('skip'))],
  ['limit-null', 'Makes the limit null.', ['envelope'], onPages(of, put('limit', null))],
  [
    'items-object',
    'Gives no list of items.',
    ['envelope'],
    onPages(of, put('items', {}), asks('skip')),
  ],
];

const windows = (of: Results): Row[] => [
  [
    'limit-20',
    'Has pages of 20 unless asked.',
    ['defaults'],
    onPages(of, put('limit', 20), not(asks('limit'))),
  ],
  [
    'skip-1',
    'Counts sessions from 1.',
    ['defaults'],
    onPages(of, put('skip', 1), not(asks('limit'))),
  ],
  [
    'cap-400',
    'Refuses a limit over 500.',
    ['cap'],
    instead(to(of, asks('limit', '501')), () => no(400)),
  ],
  [
    'limit-echo',
    'Says another limit than was asked for.',
    ['window'],
    onPages(of, put('limit', 50), asks('limit')),
  ],
  [
    'limit-ignored',
    'Does not read limit.',
    ['window', 'paging'],
    requeried(of, (query) => query.delete('limit'), asks('skip')),
  ],
  [
    'skip-ignored',
    'Does not read skip.',
    ['window', 'paging'],
    requeried(of, (query) => query.delete('skip'), asks('skip')),
  ],
  ['skip-off-by-one', 'Skips one more than it says.', ['paging'], skipsMore(of)],
  [
    'total-of-page',
    'Counts the page, not the whole.',
    ['paging'],
    onPages(of, (page) => put('total', itemsIn(page).length)(page), asks('skip')),
  ],
  [
    'oldest-first',
    'Lists the oldest first.',
    ['order'],
    onPages(of, (page) => put('items', itemsIn(page).reverse())(page)),
  ],
];

function skipsMore(of: Results): TransformFactory {
  const more = requeried(of, (query) => {
    const skip = Number(query.get('skip'));
    if (skip > 0) query.set('skip', String(skip + 1));
  });
  return () => {
    const inner = more();
    return async (asked, forward, clock) => {
      const answer = await inner(asked, forward, clock);
      const skip = param(asked, 'skip');
      if (asked.endpoint !== of || skip === null || answer === 'dropped') return answer;
      return edited(answer, asked, put('skip', Number(skip)));
    };
  };
}

const sessions = (of: Results): Row[] => [
  [
    'started-unix',
    'Gives Unix time.',
    ['times'],
    onItems(of, put('started_at', 1_795_167_000), asks('include_traces', 'true')),
  ],
  ['ended-missing', 'Does not say when it ended.', ['times'], onItems(of, take('ended_at'))],
  [
    'ended-space',
    'Puts a space between date and time.',
    ['times'],
    onItems(of, put('ended_at', '2026-11-20 09:30:00')),
  ],
  [
    'rate-percent',
    'Gives the rate in percent.',
    ['summary'],
    onItems(of, (item) => put('pass_rate', 50)(partOf(item, 'outcome_summary'))),
  ],
  [
    'rate-missing',
    'Gives no rate.',
    ['summary'],
    onItems(of, (item) => take('pass_rate')(partOf(item, 'outcome_summary'))),
  ],
  [
    'total-count-text',
    'Gives a count as text.',
    ['summary'],
    onItems(of, (item) => put('total_evaluations', '2')(partOf(item, 'outcome_summary'))),
  ],
  [
    'reasoning-missing',
    'Gives no reasons.',
    ['outcomes'],
    onItems(of, (item) => listOf(item, 'eval_outcomes').forEach(take('reasoning'))),
  ],
  [
    'category-null',
    'Makes the category null.',
    ['outcomes'],
    onItems(of, (item) => listOf(item, 'eval_outcomes').forEach(put('eval_category', null))),
  ],
  [
    'outcomes-null',
    'Makes the outcomes null.',
    ['outcomes'],
    onItems(of, put('eval_outcomes', null), asks('include_traces')),
  ],
  [
    'traces-empty',
    'Always has traces.',
    ['absent'],
    onItems(of, put('traces', []), not(asks('include_traces', 'true'))),
  ],
  [
    'traces-null',
    'Makes traces null where nobody asked.',
    ['absent'],
    onItems(of, put('traces', null), not(asks('include_traces', 'true'))),
  ],
  ['traces-missing', 'Never has traces.', ['present'], onItems(of, take('traces'))],
  [
    'sequence-missing',
    'Does not number turns.',
    ['present'],
    onItems(of, (item) => listOf(item, 'traces').forEach(take('session_sequence'))),
  ],
];

const overfull = (of: Results): Row[] => [
  [
    'cap-501',
    'Gives as many as are asked for.',
    ['cap'],
    onPages(
      of,
      (page) => {
        const items = itemsIn(page);
        page['items'] = [...items, ...items.slice(0, 1)];
      },
      asks('limit', '501'),
    ),
  ],
  [
    'page-51',
    'Has pages of 51 unless asked.',
    ['defaults'],
    requeried(
      of,
      (query) => query.set('limit', '51'),
      (asked) => asked.path.endsWith('/'),
    ),
  ],
];

/** Mutants of the rules that both results endpoints share. */
export const serviceResultMutants: readonly Mutant[] = (
  ['production', 'simulations'] as const
).flatMap((of) => [
  ...written(of, [...pages(of), ...windows(of), ...sessions(of)], { clockFactor: 20 }),
  ...written(of, [...filters(of), ...matches(of), ...failing(of)], { clockFactor: 20 }),
  ...written(of, overfull(of), { intrusive: true }),
]);
