import { seededRandom } from '../../../../../src/platform/random.ts';
import {
  always,
  editBody,
  isAccepted,
  withQuery,
  type When,
} from '../../../../engine/mutants/combinators.ts';
import type { Mutant, Transform, TransformFactory } from '../../../../engine/mutants/mutant.ts';
import type { ServiceRequirementId } from '../../requirements.ts';
import {
  objectsAt,
  queryParameter,
  sessionsIn,
  type ResultsEndpoint,
  type ResultsObject,
} from '../../results-api.ts';
import {
  fastClock,
  hasQuery,
  mutant,
  not,
  objectAt,
  onPages,
  onSessions,
  removeKey,
  rewriteQuery,
  setKey,
  wantsTraces,
} from '../../transforms.ts';
import { sharedMutantsOf, type SharedMutantOf } from './shared.ts';

type SessionEdit = (session: ResultsObject) => void;

export const onSummary =
  (edit: (summary: ResultsObject) => void): SessionEdit =>
  (session) =>
    edit(objectAt(session, 'outcome_summary'));

/** Edits the link of sessions that have one. */
export const onLink =
  (edit: (url: string) => string): SessionEdit =>
  (session) => {
    if (typeof session['url'] === 'string') session['url'] = edit(session['url']);
  };

const removeFirstOutcome: SessionEdit = (session) => {
  session['eval_outcomes'] = objectsAt(session, 'eval_outcomes').slice(1);
};

const countAllAsPassed = onSummary((summary) => {
  summary['passed_count'] = summary['total_evaluations'];
});

type SharedEdit = (
  name: string,
  description: string,
  breaks: Parameters<SharedMutantOf>[2],
  edit: SessionEdit,
  when?: When,
) => Mutant;

const sharedEditsOf = (endpoint: ResultsEndpoint): SharedEdit => {
  const create = sharedMutantsOf(endpoint);
  return (name, description, breaks, edit, when = always) =>
    create(name, description, breaks, onSessions(endpoint, edit, when));
};

function timeAndSummaryMutants(endpoint: ResultsEndpoint): Mutant[] {
  const edits = sharedEditsOf(endpoint);
  return [
    edits(
      'started-unix',
      'Returns started_at as a Unix timestamp.',
      'times',
      setKey('started_at', 1_795_167_000),
      wantsTraces,
    ),
    edits('ended-missing', 'Omits ended_at.', 'times', removeKey('ended_at')),
    edits(
      'ended-space',
      'Separates date and time by a space.',
      'times',
      setKey('ended_at', '2026-11-20 09:30:00'),
    ),
    edits(
      'ended-before',
      'Returns an ended_at before started_at.',
      'duration',
      setKey('ended_at', '2020-01-01T00:00:00Z'),
    ),
    edits(
      'rate-percent',
      'Returns pass_rate as a percentage.',
      'summary',
      onSummary(setKey('pass_rate', 50)),
    ),
    edits('rate-missing', 'Omits pass_rate.', 'summary', onSummary(removeKey('pass_rate'))),
    edits(
      'total-count-text',
      'Returns total_evaluations as a string.',
      'summary',
      onSummary(setKey('total_evaluations', '2')),
    ),
    edits(
      'rate-inverted',
      'Returns the share of failed evaluations as pass_rate.',
      'rate',
      onSummary((summary) => {
        summary['pass_rate'] = 1 - Number(summary['pass_rate']);
      }),
    ),
    edits(
      'rate-of-more',
      'Divides pass_rate by one evaluation too many.',
      'rate',
      onSummary((summary) => {
        const total = Number(summary['total_evaluations']) + 1;
        summary['pass_rate'] = Number(summary['passed_count']) / total;
      }),
    ),
  ];
}

function outcomeAndLinkMutants(endpoint: ResultsEndpoint): Mutant[] {
  const edits = sharedEditsOf(endpoint);
  return [
    edits('reasoning-missing', 'Omits reasoning.', 'outcomes', (session) =>
      objectsAt(session, 'eval_outcomes').forEach(removeKey('reasoning')),
    ),
    edits('category-null', 'Returns null as eval_category.', 'outcomes', (session) =>
      objectsAt(session, 'eval_outcomes').forEach(setKey('eval_category', null)),
    ),
    edits(
      'outcomes-null',
      'Returns null as eval_outcomes.',
      'outcomes',
      setKey('eval_outcomes', null),
      hasQuery('include_traces'),
    ),
    edits(
      'url-relative',
      'Returns links without a host.',
      'link',
      onLink((url) => url.replace(/^https?:\/\/[^/]+/, '')),
    ),
    edits(
      'url-of-one',
      'Returns the same link for every session.',
      'link',
      onLink((url) => url.replace(/[^/]+\?.*/, 'one?sessionId=one')),
    ),
    sharedMutantsOf(endpoint)(
      'url-same-session-id',
      'Uses the same session id in every link.',
      'link',
      () => onSessions(endpoint, numberLinks())(),
    ),
  ];
}

/** Returns mutants of the fields of sessions that both endpoints have. */
export const sessionMutants = (endpoint: ResultsEndpoint): Mutant[] => [
  ...timeAndSummaryMutants(endpoint),
  ...outcomeAndLinkMutants(endpoint),
];

/** Gives each link a different run but the same session id. */
function numberLinks(): SessionEdit {
  let links = 0;
  return onLink((url) => url.replace(/[^/]+\?.*/, `run-${links++}?sessionId=one`));
}

const editsProduction = (
  name: string,
  description: string,
  kills: ServiceRequirementId | readonly ServiceRequirementId[],
  edit: SessionEdit,
  when?: When,
): Mutant => mutant(name, description, kills, onSessions('production', edit, when), fastClock);

/** Removes sessions of some runs from pages and totals. */
function hideRuns(marker: string): TransformFactory {
  return (): Transform => async (request, forward) => {
    const skip = Number(queryParameter(request.path, 'skip') ?? 0);
    const limit = Number(queryParameter(request.path, 'limit') ?? 50);
    const isValid = Number.isInteger(skip) && limit > 0 && limit <= 500;
    if (request.endpoint !== 'production' || !isValid) return forward(request);
    const response = await forward(
      withQuery(request, (query) => {
        query.set('limit', '500');
        query.delete('skip');
      }),
    );
    if (!isAccepted(response)) return response;
    return editBody(response, request, (page) => {
      const visible = sessionsIn(page).filter(({ run }) => !String(run).includes(marker));
      const items = visible.slice(skip, skip + limit);
      Object.assign(page, { items, total: visible.length, skip, limit });
    });
  };
}

/** Reduces a session to its first outcome. */
export function keepFirstOutcome(session: ResultsObject): void {
  const [first] = objectsAt(session, 'eval_outcomes');
  const passed = first?.['outcome'] === 'pass' ? 1 : 0;
  session['eval_outcomes'] = [first];
  session['outcome_summary'] = {
    total_evaluations: 1,
    passed_count: passed,
    failed_count: 1 - passed,
    pass_rate: passed,
  };
}

function addPassedOutcome(session: ResultsObject): void {
  const outcomes = objectsAt(session, 'eval_outcomes');
  const summary = objectAt(session, 'outcome_summary');
  const passed = Number(summary['passed_count']) + 1;
  const total = Number(summary['total_evaluations']) + 1;
  const added = { ...outcomes[0], eval_name: 'Another', outcome: 'pass' };
  session['eval_outcomes'] = [...outcomes, added];
  Object.assign(summary, {
    total_evaluations: total,
    passed_count: passed,
    pass_rate: passed / total,
  });
}

const isPolling: When = (request) => wantsTraces(request) && hasQuery('limit')(request);

/** Mutants of fields that only production sessions have. */
export const productionSessionMutants: readonly Mutant[] = [
  editsProduction('url-null', 'Returns null as url.', 'SERVICE-082', setKey('url', null)),
  editsProduction(
    'url-without-session',
    'Links to the run instead of the session.',
    'SERVICE-083',
    (session) => {
      session['url'] = String(session['url']).replace(/\?.*/, '');
    },
  ),
  editsProduction('url-other-path', 'Links to another page.', 'SERVICE-083', (session) => {
    session['url'] = String(session['url']).replace('production-eval', 'evaluations');
  }),
  editsProduction(
    'session-run-null',
    'Returns null as run when turns are requested.',
    'SERVICE-084',
    setKey('run', null),
    wantsTraces,
  ),
  editsProduction(
    'session-status-number',
    'Returns status as a number.',
    'SERVICE-084',
    setKey('status', 3),
  ),
  editsProduction(
    'session-id-missing',
    'Omits source_session_id unless turns are requested.',
    ['SERVICE-084', 'SERVICE-120'],
    removeKey('source_session_id'),
    not(wantsTraces),
  ),
  editsProduction('run-base-alone', 'Lists runs without their date.', 'SERVICE-085', (session) => {
    session['run'] = String(session['run']).replace(/^(Live traces) .*/, '$1');
  }),
  editsProduction(
    'own-session-id',
    'Lists sessions under internal ids.',
    ['SERVICE-087', 'SERVICE-120'],
    (session) => {
      session['source_session_id'] = `svc-${String(session['source_session_id'])}`;
    },
  ),
  editsProduction(
    'start-of-ingestion',
    'Uses the time of arrival as started_at.',
    'SERVICE-091',
    setKey('started_at', '2026-01-01T00:00:00.000Z'),
    (request) => wantsTraces(request) && !request.path.includes('limit=50&'),
  ),
  editsProduction(
    'counts-too-many',
    'Counts failed evaluations as passed.',
    'SERVICE-094',
    countAllAsPassed,
  ),
  editsProduction(
    'outcome-left-out',
    'Omits one outcome.',
    'SERVICE-095',
    removeFirstOutcome,
    wantsTraces,
  ),
  editsProduction('agent-null', 'Adds agent: null.', 'SERVICE-096', setKey('agent', null)),
  editsProduction(
    'scenario-empty',
    'Adds an empty scenario.',
    'SERVICE-096',
    setKey('scenario', ''),
  ),
  editsProduction('persona-null', 'Adds persona: null.', 'SERVICE-096', setKey('persona', null)),
  mutant(
    'upload-hidden',
    'Does not list uploaded transcripts.',
    'SERVICE-120',
    hideRuns(' upload '),
    fastClock,
  ),
  editsProduction(
    'outcome-forgotten',
    'Queues two evals but scores only one.',
    'SERVICE-122',
    keepFirstOutcome,
    isPolling,
  ),
  editsProduction(
    'outcome-unqueued',
    'Scores an eval that it did not queue.',
    'SERVICE-122',
    addPassedOutcome,
    isPolling,
  ),
];

const editsSimulations = (
  name: string,
  description: string,
  kills: ServiceRequirementId,
  edit: SessionEdit,
  when?: When,
): Mutant =>
  mutant(`simulation-${name}`, description, kills, onSessions('simulations', edit, when));

/** Matches sessions of the deleted simulation, the only one with this agent. */
const isOfDeleted = ({ agent }: ResultsObject): boolean => String(agent).startsWith('Check Other');

const hideDeletedSimulations: TransformFactory = onPages('simulations', (page, request) => {
  page['items'] = sessionsIn(page).filter((session) => !isOfDeleted(session));
  const isFiltered = ['failed_only', 'agent', 'eval'].some((name) => hasQuery(name)(request));
  const total = Number(page['total']);
  if (!isFiltered && total > 0) page['total'] = total - 1;
});

const sharedOfSimulations = sharedMutantsOf('simulations');

/** Mutants of fields that only simulation sessions have. */
export const simulationSessionMutants: readonly Mutant[] = [
  editsSimulations('url-number', 'Returns url as a number.', 'SERVICE-137', (session) => {
    if (!isOfDeleted(session)) session['url'] = 17;
  }),
  editsSimulations('url-other-path', 'Links to another page.', 'SERVICE-137', (session) => {
    if (!isOfDeleted(session)) {
      session['url'] = String(session['url']).replace('/simulation/', '/sim/');
    }
  }),
  editsSimulations(
    'url-null',
    'Returns null as url of existing simulations.',
    'SERVICE-137',
    setKey('url', null),
  ),
  editsSimulations('deleted-link', 'Links to a deleted simulation.', 'SERVICE-138', (session) => {
    if (isOfDeleted(session)) {
      session['url'] = 'http://127.0.0.1/simulation/gone?sessionId=gone';
    }
  }),
  mutant(
    'simulation-deleted-hidden',
    'Does not list sessions of deleted simulations.',
    ['SERVICE-135', 'SERVICE-138', 'SERVICE-155'],
    hideDeletedSimulations,
  ),
  ...['simulation', 'scenario', 'persona', 'status'].map((key) =>
    editsSimulations(`${key}-null`, `Returns null as ${key}.`, 'SERVICE-139', setKey(key, null)),
  ),
  editsSimulations(
    'agent-null',
    'Returns null as agent when turns are requested.',
    'SERVICE-139',
    setKey('agent', null),
    wantsTraces,
  ),
  mutant(
    'agent-url-unknown',
    'Does not search the URL of agents.',
    'SERVICE-147',
    rewriteQuery(
      'simulations',
      (query) => query.set('agent', seededRandom('none').id(12)),
      ({ path }) => path.includes('.example'),
    ),
  ),
  mutant(
    'simulation-total-less',
    'Counts one session less without parameters.',
    'SERVICE-155',
    onPages(
      'simulations',
      (page) => {
        page['total'] = Math.max(0, Number(page['total']) - 1);
      },
      ({ path }) => path.endsWith('/'),
    ),
  ),
  sharedOfSimulations(
    'counts-too-many',
    'Counts failed evaluations as passed.',
    'counts',
    onSessions('simulations', countAllAsPassed),
  ),
  sharedOfSimulations(
    'outcome-left-out',
    'Omits one outcome.',
    'allOutcomes',
    onSessions('simulations', removeFirstOutcome, wantsTraces),
  ),
];
