import { instantMs, isoTime, systemClock } from '../../../../src/platform/clock.ts';
import { edited, isAccepted } from '../../../engine/mutants/combinators.ts';
import type { ProxyRequest, Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import { itemsIn, listOf, onItems, param, requeried, type Item, type Results } from '../edits.ts';
import type { Row } from './mutant-rows.ts';

type Matches = (text: string, part: string) => boolean;
type TextsOf = (item: Item) => unknown[];

const textsOf: Record<'run' | 'agent' | 'eval', TextsOf> = {
  run: ({ run }) => [run],
  agent: ({ agent }) => [agent],
  eval: (item) => listOf(item, 'eval_outcomes').map(({ eval_name: name }) => name),
};

/** Filters what the service lists without a parameter, by a rule of its own. */
const filteredBy =
  (of: Results, name: string, isKept: (item: Item, value: string) => boolean): TransformFactory =>
  (): Transform =>
  async (asked, forward) => {
    const value = param(asked, name);
    if (asked.endpoint !== of || value === null || param(asked, 'limit') !== '500') {
      return forward(asked);
    }
    const answer = await forward(without(asked, name));
    return isAccepted(answer)
      ? edited(answer, asked, (page) => {
          const items = itemsIn(page).filter((item) => isKept(item, value));
          page['items'] = items;
          page['total'] = items.length;
        })
      : answer;
  };

function without(asked: ProxyRequest, name: string): ProxyRequest {
  const [route = '', text = ''] = asked.path.split('?');
  const query = new URLSearchParams(text);
  query.delete(name);
  return { ...asked, path: `${route}?${query.toString()}` };
}

const matching = (
  of: Results,
  name: 'run' | 'agent' | 'eval',
  matches: Matches,
): TransformFactory =>
  filteredBy(of, name, (item, part) =>
    textsOf[name](item).some((text) => matches(String(text).toLowerCase(), part.toLowerCase())),
  );

/** Whether a pattern is found, one character of which stands for others. */
const found =
  (wildcard: string, stands: string): Matches =>
  (text, part) => {
    const pieces = part.split(wildcard).map((piece) => piece.replaceAll(/[^a-z0-9 ]/g, '\\$&'));
    return new RegExp(pieces.join(stands)).test(text);
  };

const rowsOf = (of: Results, name: 'run' | 'agent' | 'eval'): Row[] => {
  const rule = name === 'eval' ? 'eval' : 'name';
  const row = (word: string, breaks: string, matches: Matches): Row => [
    `${name}-${word}`,
    breaks,
    [rule],
    matching(of, name, matches),
  ];
  return [
    row('by-end', `Finds ${name} by its end alone.`, (text, part) => text.endsWith(part)),
    row('percent', `Takes % in ${name} for any text.`, found('%', '.*')),
    // One endpoint is enough to see what is alike in both.
    ...(of === 'simulations'
      ? []
      : [
          row('by-start', `Finds ${name} by its start alone.`, (text, part) =>
            text.startsWith(part),
          ),
          name === 'eval'
            ? row('underscore', 'Takes _ in eval for any character.', found('_', '.'))
            : row('pattern', `Takes ${name} for a regular expression.`, found('.', '.')),
        ]),
  ];
};

/** Finds sessions by a field, too, that is not what the filter is about. */
const elsewhere = (of: Results, name: 'run' | 'agent', key: string): TransformFactory =>
  filteredBy(of, name, (item, part) =>
    [item[name], item[key]].some((text) => String(text).toLowerCase().includes(part.toLowerCase())),
  );

const byEnd = (of: Results, name: string, isKept: (endMs: number, limitMs: number) => boolean) =>
  filteredBy(of, name, (item, limit) =>
    isKept(instantMs(String(item['ended_at'])) ?? 0, instantMs(limit) ?? 0),
  );

/** Cuts a bound that is not to come to its day. */
const byDay = (of: Results, name: string): TransformFactory =>
  requeried(of, (query) => {
    const atMs = instantMs(query.get(name) ?? '');
    if (atMs === undefined || atMs > systemClock.nowMs()) return;
    query.set(name, `${isoTime(atMs).slice(0, 10)}T00:00:00Z`);
  });

const times = (of: Results): Row[] => [
  [
    'after-by-end',
    'Holds started_after against the end.',
    ['after'],
    byEnd(of, 'started_after', (endMs, limitMs) => endMs >= limitMs),
  ],
  [
    'before-by-end',
    'Holds started_before against the end.',
    ['before'],
    byEnd(of, 'started_before', (endMs, limitMs) => endMs <= limitMs),
  ],
  ['after-by-day', 'Cuts started_after to its day.', ['after'], byDay(of, 'started_after')],
  ['before-by-day', 'Cuts started_before to its day.', ['before'], byDay(of, 'started_before')],
];

/** Mutants of how filters match. */
export const matches = (of: Results): Row[] => {
  const [name, key] =
    of === 'production'
      ? (['run', 'source_session_id'] as const)
      : (['agent', 'scenario'] as const);
  return [
    ...rowsOf(of, name),
    ...rowsOf(of, 'eval'),
    [
      `${name}-elsewhere`,
      `Looks for ${name} in ${key} as well.`,
      ['name'],
      elsewhere(of, name, key),
    ],
    ...times(of),
    [
      'failed-one-alone',
      'Lists one failing outcome of a session.',
      ['failingOnly'],
      onItems(
        of,
        (item) => {
          item['eval_outcomes'] = listOf(item, 'eval_outcomes').slice(0, 1);
        },
        ({ path }) => path.includes('failed_only=true'),
      ),
    ],
  ];
};
