import { instantMs, isoTime } from '../../../../src/platform/clock.ts';
import { edited, isAccepted } from '../../../engine/mutants/combinators.ts';
import type { Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import {
  asks,
  itemsIn,
  listOf,
  onItems,
  onPages,
  param,
  partOf,
  requeried,
  type Item,
  type Results,
} from '../edits.ts';
import { put, type Row } from './mutant-rows.ts';

const isUpper = (text: string | null): boolean => text !== null && text !== text.toLowerCase();

/** Finds nothing by a word that has capitals. */
const caseMatters = (of: Results, name: string): TransformFactory =>
  onPages(
    of,
    (page) => {
      page['items'] = [];
      page['total'] = 0;
    },
    (asked) => isUpper(param(asked, name)) && !asked.path.includes('.example'),
  );

/** Does not read a parameter, but while paging. */
const ignores = (of: Results, key: string): TransformFactory =>
  requeried(of, (query) => query.delete(key), asks('limit', '500'));

/** Mutants of the filters by name and time, and of whose sessions are shown. */
export const filters = (of: Results): Row[] => {
  const name = of === 'production' ? 'run' : 'agent';
  return [
    [`${name}-ignored`, `Does not read ${name}.`, ['name'], ignores(of, name)],
    [`${name}-case`, `Minds the case of ${name}.`, ['name'], caseMatters(of, name)],
    ['eval-ignored', 'Does not read eval.', ['eval'], ignores(of, 'eval')],
    ['eval-case', 'Minds the case of eval.', ['eval'], caseMatters(of, 'eval')],
    [
      'after-exclusive',
      'Keeps what started after the time alone.',
      ['after'],
      requeried(of, moved('started_after', 1), asks('limit', '500')),
    ],
    ['after-ignored', 'Does not read started_after.', ['after'], ignores(of, 'started_after')],
    [
      'before-exclusive',
      'Keeps what started before the time alone.',
      ['before'],
      requeried(of, moved('started_before', -1), asks('limit', '500')),
    ],
    ['before-ignored', 'Does not read started_before.', ['before'], ignores(of, 'started_before')],
    ['owners-mixed', 'Shows the sessions of all owners.', ['owner'], ownersMixed(of)],
  ];
};

const failed = asks('failed_only', 'true');

/** Mutants of failed_only. */
export const failing = (of: Results): Row[] => [
  [
    'failed-ignored',
    'Does not read failed_only.',
    ['failing', 'failingOnly', 'failingTotal'],
    ignores(of, 'failed_only'),
  ],
  [
    'failed-one-less',
    'Overlooks a failing session.',
    ['failing', 'failingTotal'],
    onPages(
      of,
      (page) => {
        page['items'] = itemsIn(page).slice(1);
        page['total'] = Number(page['total']) - 1;
      },
      failed,
    ),
  ],
  [
    'failed-lists-all',
    'Lists what passed as well.',
    ['failingOnly'],
    onItems(
      of,
      (item) => {
        const outcomes = listOf(item, 'eval_outcomes');
        item['eval_outcomes'] = [...outcomes, { ...outcomes[0], outcome: 'pass' }];
      },
      failed,
    ),
  ],
  [
    'failed-lists-passed',
    'Lists what passed in place of what failed.',
    ['failingOnly'],
    onItems(of, (item) => listOf(item, 'eval_outcomes').forEach(put('outcome', 'pass')), failed),
  ],
  [
    'failed-summary',
    'Counts only what failed.',
    ['wholeSummary'],
    onItems(
      of,
      (item) => {
        const summary = partOf(item, 'outcome_summary');
        Object.assign(summary, {
          total_evaluations: summary['failed_count'],
          passed_count: 0,
          pass_rate: 0,
        });
      },
      failed,
    ),
  ],
  [
    'failed-total',
    'Counts all sessions.',
    ['failingTotal'],
    onPages(of, (page) => put('total', Number(page['total']) + 5)(page), failed),
  ],
];

/** A time of the query, so many milliseconds later. */
const moved =
  (name: string, ms: number) =>
  (query: URLSearchParams): void => {
    const atMs = instantMs(query.get(name) ?? '');
    if (atMs !== undefined) query.set(name, isoTime(atMs + ms));
  };

/** Answers a reader that has no sessions with those of the last one that had some. */
const ownersMixed =
  (of: Results): TransformFactory =>
  (): Transform => {
    let last: Item[] = [];
    return async (asked, forward) => {
      const answer = await forward(asked);
      if (asked.endpoint !== of || !isAccepted(answer)) return answer;
      return edited(answer, asked, (page) => {
        const own = itemsIn(page);
        const isBare = asked.path.endsWith('/');
        if (own.length > 0 && isBare) last = own;
        if (own.length > 0 || !isBare) return;
        page['items'] = last;
        page['total'] = last.length;
      });
    };
  };
