import type { RequirementId } from '../../../engine/requirement.ts';
import {
  mutantsOf,
  variantsOf,
  type Mutant,
  type TransformFactory,
  type Variant,
} from '../../../engine/mutants/mutant.ts';
import { valueAt } from '../../../../src/contract/index.ts';
import { chain } from '../../../engine/mutants/combinators.ts';
import { asks, idIn, listOf, onItems, partOf, type Item, type Results } from '../edits.ts';
import { put, written, type Row } from '../results/mutant-rows.ts';

const mutant = mutantsOf('service');
const variant = variantsOf('service');
const traced = asks('include_traces', 'true');
// The judge waits for what does not come.
const slow = { clockFactor: 20 };

const onSummary =
  (edit: (summary: Item) => void) =>
  (item: Item): void =>
    edit(partOf(item, 'outcome_summary'));

const onTurns =
  (edit: (turn: Item, index: number, all: Item[]) => void) =>
  (item: Item): void =>
    listOf(item, 'traces').forEach(edit);

/** Edits the link where there is one. */
const onLink =
  (edit: (url: string) => string) =>
  (item: Item): void => {
    if (typeof item['url'] === 'string') item['url'] = edit(item['url']);
  };

const sums = (of: Results): Row[] => [
  [
    'rate-inverted',
    'Gives the share that failed.',
    ['rate'],
    onItems(
      of,
      onSummary((summary) => put('pass_rate', 1 - Number(summary['pass_rate']))(summary)),
    ),
  ],
  [
    'rate-of-more',
    'Divides by one more than there are.',
    ['rate'],
    onItems(
      of,
      onSummary((summary) => {
        const total = Number(summary['total_evaluations']) + 1;
        summary['pass_rate'] = Number(summary['passed_count']) / total;
      }),
    ),
  ],
  [
    'ended-before',
    'Lets sessions end before they start.',
    ['ends'],
    onItems(of, put('ended_at', '2020-01-01T00:00:00Z')),
  ],
];

const turnsAndLinks = (of: Results): Row[] => [
  [
    'sequence-alike',
    'Gives each turn the same number.',
    ['sequence'],
    onItems(of, onTurns(put('session_sequence', 1))),
  ],
  [
    'sequence-text',
    'Numbers turns by text.',
    ['sequence'],
    onItems(
      of,
      onTurns((turn, index) => put('session_sequence', String(index + 1))(turn)),
    ),
  ],
  [
    'sequence-reversed',
    'Numbers turns from the last.',
    ['sequence'],
    onItems(
      of,
      onTurns((turn, index, all) => put('session_sequence', all.length - index)(turn)),
    ),
  ],
  [
    'url-relative',
    'Links without a host.',
    ['link'],
    onItems(
      of,
      onLink((url) => url.replace(/^https?:\/\/[^/]+/, '')),
    ),
  ],
  [
    'url-of-one',
    'Links to the same session everywhere.',
    ['link'],
    onItems(
      of,
      onLink((url) => url.replace(/[^/]+\?.*/, 'one?sessionId=one')),
    ),
  ],
  [
    'url-same-session-id',
    'Links to one session id in whatever run.',
    ['link'],
    (() => {
      let links = 0;
      return onItems(
        of,
        onLink((url) => url.replace(/[^/]+\?.*/, `run-${links++}?sessionId=one`)),
      );
    })(),
  ],
];

/** Rows that have been there for production, of simulations. */
const counts: Row[] = [
  [
    'counts-too-many',
    'Counts failed evals as passed, too.',
    ['counts'],
    onItems(
      'simulations',
      onSummary((summary) => put('passed_count', summary['total_evaluations'])(summary)),
    ),
  ],
  [
    'outcome-left-out',
    'Leaves an outcome out.',
    ['listed'],
    onItems(
      'simulations',
      (item) => put('eval_outcomes', listOf(item, 'eval_outcomes').slice(1))(item),
      traced,
    ),
  ],
];

/** What is left of a session of which one eval was forgotten. */
function oneOutcome(item: Item): void {
  const [first] = listOf(item, 'eval_outcomes');
  const passed = first?.['outcome'] === 'pass' ? 1 : 0;
  item['eval_outcomes'] = [first];
  item['outcome_summary'] = {
    total_evaluations: 1,
    passed_count: passed,
    failed_count: 1 - passed,
    pass_rate: passed,
  };
}

function oneOutcomeMore(item: Item): void {
  const outcomes = listOf(item, 'eval_outcomes');
  const summary = partOf(item, 'outcome_summary');
  const passed = Number(summary['passed_count']) + 1;
  const total = Number(summary['total_evaluations']) + 1;
  item['eval_outcomes'] = [...outcomes, { ...outcomes[0], eval_name: 'Another', outcome: 'pass' }];
  Object.assign(summary, {
    total_evaluations: total,
    passed_count: passed,
    pass_rate: passed / total,
  });
}

const queued = (name: string, breaks: string, edit: (item: Item) => void): Mutant =>
  mutant(
    name,
    breaks,
    'SERVICE-122',
    onItems('production', edit, (asked) => traced(asked) && asks('limit')(asked)),
    slow,
  );

const told = (
  name: string,
  breaks: string,
  kills: RequirementId | readonly RequirementId[],
  edit: (turns: Item[]) => Item[],
): Mutant =>
  mutant(
    name,
    breaks,
    kills,
    onItems('simulations', (item) => put('traces', edit(listOf(item, 'traces')))(item), traced),
  );

/** Mutants of how things go together. */
export const serviceSumMutants: readonly Mutant[] = [
  ...written('production', [...sums('production'), ...turnsAndLinks('production')], slow),
  ...written(
    'simulations',
    [...sums('simulations'), ...turnsAndLinks('simulations'), ...counts],
    slow,
  ),
  queued('outcome-forgotten', 'Queues two evals, and scores by one.', oneOutcome),
  queued('outcome-unqueued', 'Scores by an eval that it did not queue.', oneOutcomeMore),
  told(
    'simulation-traces-empty',
    'Has no turns of any simulation.',
    ['SERVICE-162', 'SERVICE-163'],
    () => [],
  ),
  told('simulation-turn-lost', 'Loses the last turn.', 'SERVICE-162', (turns) =>
    turns.slice(0, -1),
  ),
  told('simulation-turn-cut', 'Cuts what the agent said.', 'SERVICE-162', (turns) =>
    turns.map((turn) => ({ ...turn, agent_response: 'There' })),
  ),
];

/** Leaves one session that passed without its last evaluation: it came to nothing. */
const oneLess: TransformFactory = () => {
  let chosen: unknown;
  return onItems('production', (item) => {
    const { source_session_id: id, outcome_summary: summary } = item;
    const isFit = valueAt(summary, '/failed_count') === 0 && idIn(String(id)) !== undefined;
    if (isFit) chosen ??= id;
    if (id === chosen && id !== undefined) oneOutcome(item);
  })();
};

const roundsRate = onSummary((summary) => {
  summary['pass_rate'] = Math.round(Number(summary['pass_rate']) * 10) / 10;
});

function otherwise(item: Item): void {
  roundsRate(item);
  onLink((url) => url.replace('/production-eval', '/#/production-eval'))(item);
  if (Array.isArray(item['traces'])) item['traces'] = listOf(item, 'traces').reverse();
}

/** Legal variants of it. */
export const serviceSumVariants: readonly Variant[] = [
  variant('eval-without-outcome', 'Has no outcome of an eval that broke.', oneLess, slow),
  variant(
    'written-otherwise',
    'Rounds rates to one digit, lists the last turn first, and has its pages behind a #.',
    chain(onItems('simulations', roundsRate), onItems('production', otherwise)),
  ),
];
