import { serviceApiKeyHeader } from '../../../../src/contract/index.ts';
import {
  chain,
  edited,
  instead,
  isAccepted,
  json,
  onAccepted,
  set,
} from '../../../engine/mutants/combinators.ts';
import {
  mutantsOf,
  type ProxyRequest,
  type Forward,
  type Mutant,
  type Transform,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { advanceOf, idIn, itemsIn, listOf, onItems, onPages, partOf, type Item } from '../edits.ts';

const mutant = mutantsOf('service');
const intrusive = { intrusive: true } as const;

/** Edits the run wherever it stands: in close responses and in the results. */
const renamed = (rename: (run: string, id: string) => string): TransformFactory => {
  const edit = (body: Item, id: unknown): void => {
    const { run } = body;
    if (typeof run === 'string') body['run'] = rename(run, String(id));
  };
  return chain(
    onAccepted('end', (body) => edit(body, body['conversation_id'])),
    onItems('production', (item) => edit(item, item['source_session_id'])),
  );
};

const live = (run: string): boolean => run.startsWith('Live traces');

const runs: Mutant[] = [
  mutant(
    'one-run',
    'Has one run for all days.',
    'SERVICE-054',
    renamed((run) => (live(run) ? 'Live traces 2026-01-01' : run)),
  ),
  mutant(
    'run-of-its-own',
    'Has a run for each conversation.',
    'SERVICE-055',
    renamed((run, id) => (live(run) ? `${run} ${id}` : run)),
  ),
  mutant(
    'run-other-name',
    'Calls the run Production.',
    'SERVICE-056',
    renamed((run) => run.replace('Live traces', 'Production')),
  ),
  mutant(
    'run-without-date',
    'Leaves the date out.',
    ['SERVICE-054', 'SERVICE-057'],
    renamed((run) => run.replace(/ \d{4}-\d\d-\d\d$/, '')),
  ),
  mutant(
    'run-name-ignored',
    'Does not read the run name of the settings.',
    'SERVICE-057',
    renamed((run) => run.replace(/^Check \S{8} (?=\d)/, 'Live traces ')),
  ),
];

/** Scores again whatever is closed again. */
function scoresAgain(): Transform {
  const ended = new Map<string, number>();
  const double = onItems('production', (item) => {
    if ((ended.get(String(item['source_session_id'])) ?? 0) < 2) return;
    const outcomes = listOf(item, 'eval_outcomes');
    item['eval_outcomes'] = [...outcomes, ...outcomes];
    const summary = partOf(item, 'outcome_summary');
    for (const key of ['total_evaluations', 'passed_count', 'failed_count']) {
      summary[key] = Number(summary[key]) * 2;
    }
  })();
  return async (asked, forward, clock) => {
    if (asked.endpoint !== 'end') return double(asked, forward, clock);
    const answer = await forward(asked);
    const id = idIn(asked.path);
    if (isAccepted(answer) && id) ended.set(id, (ended.get(id) ?? 0) + 1);
    return answer;
  };
}

/** Lists what was closed while there were no evals, as soon as there are some. */
function scoresBacklog(): Transform {
  const unscored = new Map<string, string>();
  return async (asked, forward) => {
    const key = asked.headers[serviceApiKeyHeader] ?? '';
    const answer = await forward(asked);
    if (asked.endpoint === 'end' && /"evaluations_queued":0(?!.*already)/.test(answer.body)) {
      unscored.set(key, idIn(asked.path) ?? '');
    }
    const id = unscored.get(key);
    if (asked.endpoint !== 'production' || id === undefined) return answer;
    // What was scored because somebody asked for it is no backlog any more.
    if (!/"total":0\b/.test(answer.body)) return answer;
    return edited(answer, asked, (page) => {
      page['items'] = [session(id)];
      page['total'] = 1;
    });
  };
}

const session = (id: string): Item => ({
  url: 'http://127.0.0.1/production-eval/run?sessionId=session',
  run: 'Live traces',
  source_session_id: id,
  status: 'completed',
  started_at: '2026-01-01T00:00:00Z',
  ended_at: '2026-01-01T00:00:00Z',
  outcome_summary: { total_evaluations: 1, passed_count: 1, failed_count: 0, pass_rate: 1 },
  eval_outcomes: [
    {
      eval_name: 'Any',
      eval_category: '',
      eval_type: 'session_level',
      outcome: 'pass',
      reasoning: '',
    },
  ],
});

/** Counts conversations that nothing scored. */
function countsUnscored(): Transform {
  const bare = new Set<string>();
  return async (asked, forward) => {
    const key = asked.headers[serviceApiKeyHeader] ?? '';
    const answer = await forward(asked);
    if (/"evaluations_queued":0(?!.*already)/.test(answer.body)) bare.add(key);
    if (asked.endpoint !== 'production' || !bare.has(key)) return answer;
    if (!/"total":0\b/.test(answer.body)) return answer;
    return edited(answer, asked, set('/total', 1));
  };
}

const DAY_MS = 86_400_000;

/** Hides the sessions of whoever reads after the clock was moved by a day. */
function neverIdle(): Transform {
  let movedMs = 0;
  const hide = onPages('production', (page) => {
    if (movedMs < DAY_MS || itemsIn(page).length !== 1) return;
    page['items'] = [];
    page['total'] = 0;
  })();
  return async (asked, forward, clock) => {
    movedMs += advanceOf(asked);
    return hide(asked, forward, clock);
  };
}

/** Closes after 12 hours: the clock is moved on twice as far. */
const idleSoon: TransformFactory = () => async (asked, forward) =>
  advanceOf(asked) === 0 ? forward(asked) : advanced(asked, forward, advanceOf(asked) * 2);

function advanced(
  { bytes: _old, ...asked }: ProxyRequest,
  forward: Forward,
  ms: number,
): ReturnType<Forward> {
  return forward({ ...asked, body: JSON.stringify({ advance_ms: ms }) });
}

const LOST = ['protobuf', 'gzip'];

const states: Mutant[] = [
  mutant('scores-again', 'Scores again what is closed again.', 'SERVICE-047', scoresAgain),
  mutant(
    'backlog-scored',
    'Scores the backlog by itself.',
    ['SERVICE-052', 'SERVICE-119'],
    scoresBacklog,
  ),
  mutant(
    'unscored-counted',
    'Counts sessions that have no outcomes.',
    'SERVICE-119',
    countsUnscored,
  ),
  mutant('never-idle', 'Closes nothing by itself.', 'SERVICE-058', neverIdle, intrusive),
  mutant('idle-too-soon', 'Closes after twelve hours.', 'SERVICE-059', idleSoon, intrusive),
  mutant(
    'header-id-other',
    'Files spans under an id of its own.',
    'SERVICE-105',
    () => async (asked, forward) => {
      const { 'x-conversation-id': id, ...headers } = asked.headers;
      return forward(
        id === undefined
          ? asked
          : { ...asked, headers: { ...headers, 'x-conversation-id': 'other' } },
      );
    },
  ),
  mutant(
    'bytes-lost',
    'Takes protobuf and gzip, and keeps nothing of it.',
    'SERVICE-106',
    instead(
      (asked) =>
        asked.endpoint === 'traces' &&
        LOST.some((word) =>
          `${asked.headers['content-type']} ${asked.headers['content-encoding']}`.includes(word),
        ),
      () => json(200, {}),
    ),
  ),
];

/** Mutants of what closing a conversation sets off. */
export const serviceStateMutants: readonly Mutant[] = [...runs, ...states];
