import {
  editBody,
  respondInstead,
  isAccepted,
  replaceParts,
  to,
} from '../../../../engine/mutants/combinators.ts';
import type { Mutant, Transform, TransformFactory } from '../../../../engine/mutants/mutant.ts';
import {
  queryParameter,
  sessionsIn,
  type ResultsEndpoint,
  type ResultsObject,
} from '../../results-api.ts';
import {
  errorResponse,
  hasQuery,
  intrusiveOnly,
  not,
  onPages,
  removeKey,
  rewriteQuery,
  setKey,
} from '../../transforms.ts';
import { sharedMutantsOf } from './shared.ts';

/** Skips one session more than the query asks for, but echoes the requested number. */
function skipOneMore(endpoint: ResultsEndpoint): TransformFactory {
  const increaseSkip = rewriteQuery(endpoint, (query) => {
    const skip = Number(query.get('skip'));
    if (skip > 0) query.set('skip', String(skip + 1));
  });
  return () => {
    const transform = increaseSkip();
    return async (request, forward, clock) => {
      const response = await transform(request, forward, clock);
      const skip = queryParameter(request.path, 'skip');
      if (request.endpoint !== endpoint || skip === undefined || response === 'dropped') {
        return response;
      }
      return editBody(response, request, setKey('skip', Number(skip)));
    };
  };
}

/** Shows owners without sessions the last sessions that another owner received. */
const mixOwners =
  (endpoint: ResultsEndpoint): TransformFactory =>
  (): Transform => {
    let lastSessions: ResultsObject[] = [];
    return async (request, forward) => {
      const response = await forward(request);
      const hasNoQuery = request.path.endsWith('/');
      if (request.endpoint !== endpoint || !isAccepted(response) || !hasNoQuery) return response;
      return editBody(response, request, (page) => {
        const sessions = sessionsIn(page);
        if (sessions.length > 0) lastSessions = sessions;
        else Object.assign(page, { items: lastSessions, total: lastSessions.length });
      });
    };
  };

function responseMutants(endpoint: ResultsEndpoint): Mutant[] {
  const mutant = sharedMutantsOf(endpoint);
  return [
    mutant(
      'failed-only-400',
      'Refuses failed_only.',
      'response',
      respondInstead(to(endpoint, hasQuery('failed_only', 'true')), () => errorResponse(400)),
    ),
    mutant(
      'traces-400',
      'Refuses include_traces=false.',
      'response',
      respondInstead(to(endpoint, hasQuery('include_traces', 'false')), () => errorResponse(400)),
    ),
    mutant(
      'filter-text',
      'Returns text when the query has an eval filter.',
      'response',
      replaceParts(to(endpoint, hasQuery('eval')), { body: 'none' }),
    ),
    mutant('total-missing', 'Omits total.', 'pageFields', onPages(endpoint, removeKey('total'))),
    mutant(
      'total-text',
      'Returns total as a string.',
      'pageFields',
      onPages(endpoint, setKey('total', '12')),
    ),
    mutant('skip-missing', 'Omits skip.', 'pageFields', onPages(endpoint, removeKey('skip'))),
    mutant(
      'limit-null',
      'Returns null as limit.',
      'pageFields',
      onPages(endpoint, setKey('limit', null)),
    ),
    mutant(
      'items-object',
      'Returns an object as items.',
      'pageFields',
      onPages(endpoint, setKey('items', {}), hasQuery('skip')),
    ),
  ];
}

function defaultMutants(endpoint: ResultsEndpoint): Mutant[] {
  const mutant = sharedMutantsOf(endpoint);
  const hasNoLimit = not(hasQuery('limit'));
  return [
    mutant(
      'limit-20',
      'Uses a default limit of 20.',
      'defaults',
      onPages(endpoint, setKey('limit', 20), hasNoLimit),
    ),
    mutant(
      'skip-1',
      'Uses a default skip of 1.',
      'defaults',
      onPages(endpoint, setKey('skip', 1), hasNoLimit),
    ),
    mutant(
      'page-51',
      'Lists 51 sessions by default.',
      'defaults',
      rewriteQuery(
        endpoint,
        (query) => query.set('limit', '51'),
        ({ path }) => path.endsWith('/'),
      ),
      intrusiveOnly,
    ),
    mutant(
      'cap-400',
      'Refuses a limit over 500.',
      'cap',
      respondInstead(to(endpoint, hasQuery('limit', '501')), () => errorResponse(400)),
    ),
    mutant(
      'cap-501',
      'Lists more than 500 sessions.',
      'cap',
      onPages(
        endpoint,
        (page) => {
          const sessions = sessionsIn(page);
          page['items'] = [...sessions, ...sessions.slice(0, 1)];
        },
        hasQuery('limit', '501'),
      ),
      intrusiveOnly,
    ),
  ];
}

function pagingMutants(endpoint: ResultsEndpoint): Mutant[] {
  const mutant = sharedMutantsOf(endpoint);
  return [
    mutant(
      'limit-echo',
      'Echoes a limit other than the requested one.',
      'limits',
      onPages(endpoint, setKey('limit', 50), hasQuery('limit')),
    ),
    mutant(
      'limit-ignored',
      'Ignores limit.',
      ['limits', 'paging'],
      rewriteQuery(endpoint, (query) => query.delete('limit'), hasQuery('skip')),
    ),
    mutant(
      'skip-ignored',
      'Ignores skip.',
      ['limits', 'paging'],
      rewriteQuery(endpoint, (query) => query.delete('skip'), hasQuery('skip')),
    ),
    mutant('skip-off-by-one', 'Skips one session too many.', 'paging', skipOneMore(endpoint)),
    mutant(
      'total-of-page',
      'Counts only the sessions of the page as total.',
      'paging',
      onPages(
        endpoint,
        (page) => {
          page['total'] = sessionsIn(page).length;
        },
        hasQuery('skip'),
      ),
    ),
    mutant(
      'oldest-first',
      'Lists the oldest session first.',
      'order',
      onPages(endpoint, (page) => {
        page['items'] = sessionsIn(page).reverse();
      }),
    ),
    mutant('owners-mixed', 'Shows the sessions of other owners.', 'owner', mixOwners(endpoint)),
  ];
}

/** Returns mutants of responses, page fields, paging, order, and owners. */
export const pageMutants = (endpoint: ResultsEndpoint): Mutant[] => [
  ...responseMutants(endpoint),
  ...defaultMutants(endpoint),
  ...pagingMutants(endpoint),
];
