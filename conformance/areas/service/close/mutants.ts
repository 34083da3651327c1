import { SERVICE_API_KEY_HEADER, resolvePointer } from '../../../../src/contract/index.ts';
import {
  chain,
  changeResponse,
  drop,
  editBody,
  respondInstead,
  isAccepted,
  jsonResponse,
  editAccepted,
  replaceParts,
  set,
  to,
  withBody,
  type Edit,
} from '../../../engine/mutants/combinators.ts';
import type {
  Mutant,
  ProxyRequest,
  Transform,
  TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import type { ServiceRequirementId } from '../requirements.ts';
import { sessionsIn, type ResultsObject } from '../results-api.ts';
import {
  clockAdvanceMs,
  closesUnscored,
  conversationIdIn,
  doubleOutcomes,
  emptyTraceResponse,
  errorResponse,
  fastClock,
  intrusiveOnly,
  mutant,
  onPages,
  onSessions,
} from '../transforms.ts';

const end = to('end');

const editsClose = (
  name: string,
  description: string,
  kills: ServiceRequirementId | readonly ServiceRequirementId[],
  edit: Edit,
): Mutant => mutant(name, description, kills, editAccepted('end', edit));

const isFirstClose = (body: ResultsObject): boolean => body['already_closed'] === undefined;

const onRepeatedClose =
  (edit: Edit): Edit =>
  (body, request) => {
    if (!isFirstClose(body)) edit(body, request);
  };

/** Replaces the number of queued evals in the responses to first closes. */
const replaceQueued =
  (count: number, replacement: number): Edit =>
  (body) => {
    if (isFirstClose(body) && resolvePointer(body, '/evaluations_queued') === count) {
      body['evaluations_queued'] = replacement;
    }
  };

const allCloses: readonly ServiceRequirementId[] = [
  'SERVICE-040',
  'SERVICE-045',
  'SERVICE-105',
  'SERVICE-106',
];

const responses: Mutant[] = [
  mutant(
    'end-204',
    'Returns an empty 204 response to end calls.',
    allCloses,
    replaceParts(end, { status: 204, headers: {}, body: '' }, isAccepted),
  ),
  mutant(
    'end-text',
    'Returns the text OK to end calls.',
    allCloses,
    replaceParts(end, { body: 'OK' }, isAccepted),
  ),
  mutant(
    'end-not-there',
    'Does not implement end calls.',
    allCloses,
    respondInstead(end, () => errorResponse(404)),
  ),
  editsClose(
    'conversation-id-missing',
    'Omits conversation_id.',
    'SERVICE-041',
    drop('/conversation_id'),
  ),
  editsClose(
    'conversation-id-other',
    'Returns an internal id as conversation_id.',
    'SERVICE-041',
    set('/conversation_id', 'conv-1'),
  ),
  editsClose('status-closed', 'Returns status closed.', 'SERVICE-042', set('/status', 'closed')),
  editsClose('status-missing', 'Omits status.', 'SERVICE-042', drop('/status')),
  editsClose('run-missing', 'Omits run.', 'SERVICE-043', drop('/run')),
  editsClose('run-null', 'Returns null as run.', 'SERVICE-043', set('/run', null)),
  editsClose(
    'queued-text',
    'Returns evaluations_queued as a string.',
    'SERVICE-044',
    set('/evaluations_queued', '2'),
  ),
  editsClose(
    'queued-missing',
    'Omits evaluations_queued.',
    'SERVICE-044',
    drop('/evaluations_queued'),
  ),
  editsClose(
    'repeat-not-told',
    'Omits already_closed on a repeated call.',
    'SERVICE-045',
    drop('/already_closed'),
  ),
  editsClose(
    'repeat-false',
    'Returns already_closed: false on a repeated call.',
    'SERVICE-045',
    onRepeatedClose(set('/already_closed', false)),
  ),
  mutant(
    'repeat-409',
    'Refuses a repeated end call.',
    'SERVICE-045',
    changeResponse(end, (response) =>
      response.body.includes('already_closed') ? errorResponse(409) : response,
    ),
  ),
  editsClose(
    'first-told-as-repeat',
    'Returns already_closed: true on the first call.',
    'SERVICE-046',
    set('/already_closed', true),
  ),
  mutant(
    'unknown-200',
    'Closes unknown conversations.',
    'SERVICE-048',
    changeResponse(end, (response) =>
      response.status === 404 ? jsonResponse(200, { status: 'evaluating' }) : response,
    ),
  ),
  mutant(
    'unknown-400',
    'Refuses unknown conversations with 400.',
    'SERVICE-048',
    replaceParts(end, { status: 400 }, ({ status }) => status === 404),
  ),
];

const queuedCounts: Mutant[] = [
  editsClose('queues-less', 'Queues only one of two evals.', 'SERVICE-049', replaceQueued(2, 1)),
  {
    ...editsClose(
      'queues-six',
      'Queues six evals.',
      ['SERVICE-049', 'SERVICE-050'],
      replaceQueued(2, 6),
    ),
    ...fastClock,
  },
  editsClose(
    'queues-none-as-two',
    'Queues evals although none are configured.',
    'SERVICE-051',
    replaceQueued(0, 2),
  ),
  editsClose(
    'queues-deleted',
    'Counts deleted evals as queued.',
    'SERVICE-053',
    replaceQueued(1, 2),
  ),
];

/** Renames runs in close responses and in the results. */
const renameRuns = (rename: (run: string, conversationId: string) => string): TransformFactory => {
  const edit = (body: ResultsObject, conversationId: unknown): void => {
    const { run } = body;
    if (typeof run === 'string') body['run'] = rename(run, String(conversationId));
  };
  return chain(
    editAccepted('end', (body) => edit(body, body['conversation_id'])),
    onSessions('production', (session) => edit(session, session['source_session_id'])),
  );
};

const isLiveRun = (run: string): boolean => run.startsWith('Live traces');

const runNames: Mutant[] = [
  mutant(
    'one-run',
    'Adds all days to one run.',
    'SERVICE-054',
    renameRuns((run) => (isLiveRun(run) ? 'Live traces 2026-01-01' : run)),
  ),
  mutant(
    'run-of-its-own',
    'Creates a run for each conversation.',
    'SERVICE-055',
    renameRuns((run, conversationId) => (isLiveRun(run) ? `${run} ${conversationId}` : run)),
  ),
  mutant(
    'run-other-name',
    'Uses Production as the default run name.',
    'SERVICE-056',
    renameRuns((run) => run.replace('Live traces', 'Production')),
  ),
  mutant(
    'run-without-date',
    'Omits the date from run names.',
    ['SERVICE-054', 'SERVICE-057'],
    renameRuns((run) => run.replace(/ \d{4}-\d\d-\d\d$/, '')),
  ),
  mutant(
    'run-name-ignored',
    'Ignores the configured run name.',
    'SERVICE-057',
    renameRuns((run) => run.replace(/^Check \S{8} (?=\d)/, 'Live traces ')),
  ),
];

/** Doubles the outcomes of conversations that were closed twice. */
function scoreOnEachClose(): Transform {
  const closes = new Map<string, number>();
  const doubleClosed = onSessions('production', (session) => {
    if ((closes.get(String(session['source_session_id'])) ?? 0) > 1) doubleOutcomes(session);
  })();
  return async (request, forward, clock) => {
    if (request.endpoint !== 'end') return doubleClosed(request, forward, clock);
    const response = await forward(request);
    const id = conversationIdIn(request.path);
    if (isAccepted(response) && id) closes.set(id, (closes.get(id) ?? 0) + 1);
    return response;
  };
}

/** Edits empty production pages of owners that closed a conversation without evals. */
const onUnscoredOwners =
  (edit: (page: ResultsObject, conversationId: string) => void): TransformFactory =>
  () => {
    const unscoredByKey = new Map<string, string>();
    return async (request, forward) => {
      const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
      const response = await forward(request);
      if (request.endpoint === 'end' && closesUnscored(response)) {
        unscoredByKey.set(key, conversationIdIn(request.path) ?? '');
      }
      const id = unscoredByKey.get(key);
      if (request.endpoint !== 'production' || id === undefined) return response;
      // Once the run has requested scoring, the page is no longer empty.
      if (!/"total":0\b/.test(response.body)) return response;
      return editBody(response, request, (page) => edit(page, id));
    };
  };

const createSession = (conversationId: string): ResultsObject => ({
  url: 'http://127.0.0.1/production-eval/run?sessionId=session',
  run: 'Live traces',
  source_session_id: conversationId,
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

const DAY_MS = 86_400_000;

/** Hides the only session of an owner after the clock was advanced by a day. */
function neverCloseIdle(): Transform {
  let advancedMs = 0;
  const hideIdle = onPages('production', (page) => {
    if (advancedMs >= DAY_MS && sessionsIn(page).length === 1) {
      Object.assign(page, { items: [], total: 0 });
    }
  })();
  return async (request, forward, clock) => {
    advancedMs += clockAdvanceMs(request);
    return hideIdle(request, forward, clock);
  };
}

/** Advances the clock twice as far, which has the same effect as an idle period of 12 hours. */
const doubleClockAdvance: TransformFactory = () => async (request, forward) => {
  const ms = clockAdvanceMs(request);
  return forward(ms === 0 ? request : withBody(request, JSON.stringify({ advance_ms: ms * 2 })));
};

const isProtobufOrGzip = ({ endpoint, headers }: ProxyRequest): boolean =>
  endpoint === 'traces' &&
  /protobuf|gzip/.test(`${headers['content-type']} ${headers['content-encoding']}`);

const effects: Mutant[] = [
  mutant(
    'scores-again',
    'Scores a conversation again on a repeated end call.',
    'SERVICE-047',
    scoreOnEachClose,
  ),
  mutant(
    'backlog-scored',
    'Scores unscored conversations without a request.',
    ['SERVICE-052', 'SERVICE-119'],
    onUnscoredOwners((page, id) => {
      Object.assign(page, { items: [createSession(id)], total: 1 });
    }),
  ),
  mutant(
    'unscored-counted',
    'Counts sessions without outcomes.',
    'SERVICE-119',
    onUnscoredOwners((page) => {
      page['total'] = 1;
    }),
  ),
  mutant(
    'never-idle',
    'Never closes idle conversations.',
    'SERVICE-058',
    neverCloseIdle,
    intrusiveOnly,
  ),
  mutant(
    'idle-too-soon',
    'Closes conversations after 12 idle hours.',
    'SERVICE-059',
    doubleClockAdvance,
    intrusiveOnly,
  ),
  mutant(
    'header-id-other',
    'Replaces the id in X-Conversation-Id by an internal one.',
    'SERVICE-105',
    () => async (request, forward) => {
      const { headers } = request;
      const hasId = headers['x-conversation-id'] !== undefined;
      return forward(
        hasId ? { ...request, headers: { ...headers, 'x-conversation-id': 'other' } } : request,
      );
    },
  ),
  mutant(
    'bytes-lost',
    'Accepts protobuf and gzip but stores nothing.',
    'SERVICE-106',
    respondInstead(isProtobufOrGzip, () => emptyTraceResponse),
  ),
];

/** Mutants of closing a conversation. */
export const closeMutants: readonly Mutant[] = [
  ...responses,
  ...queuedCounts,
  ...runNames,
  ...effects,
];
