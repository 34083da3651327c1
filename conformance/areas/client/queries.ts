/** The query parameters of results requests (spec 4.3, 4.4, 8). */
import {
  findQueryProblems,
  listQueryParameters,
  PAGE_LIMIT_MAX,
  parseIsoTime,
  serviceRoutes,
} from '../../../src/contract/index.ts';
import { findClosest } from '../../../src/platform/suggest.ts';
import { changeQuery, to } from '../../engine/mutants/combinators.ts';
import type { Subject } from '../../engine/requirement.ts';
import { type Exchange, toPrintable } from '../../engine/transcript/reading.ts';
import { isResultsEndpoint, queryIn } from '../service/results-api.ts';
import { checkRequests, type Fault, listSome, notObserved } from './checks.ts';
import { pagedRead } from './reference.ts';
import { changePath } from './transforms.ts';

export const NO_READ = notObserved(
  'The client never read results.',
  'Let the command read the results of a conversation or a simulation.',
);

const production = to('production');

export const queries: Subject = {
  requirements: {
    'CLIENT-050': {
      rule: 'The names of query parameters are spelled as in the specification.',
      statements: [
        '4.3.2',
        '4.3.5',
        '4.3.9',
        '4.3.11',
        '4.3.13',
        '4.4.2',
        '4.4.3',
        '4.4.4',
        '4.4.5',
      ],
      reason: 'The service ignores a misspelled filter and returns all sessions.',
      check: checkRequests(isRead, NO_READ, (exchange) =>
        unknownNames(exchange).flatMap((name) => {
          const expected = findIntendedName(name, exchange);
          if (expected === undefined) return [];
          const hint = `The service ignores ${toPrintable(name, 40)}, and responds as if it were not there. ${suggestParameter(expected)}`;
          return [{ expected, received: toPrintable(name), hint }];
        }),
      ),
      mutants: {
        'camel-case-filter': {
          description: 'Spells failed_only as failedOnly.',
          transform: changePath(production, (path) => path.replace('failed_only', 'failedOnly')),
        },
        'filter-by-outcome': {
          description: 'Asks for failed sessions with outcome=fail.',
          transform: changeQuery(production, (query) => {
            query.delete('failed_only');
            query.set('outcome', 'fail');
          }),
        },
        'filter-of-other-list': {
          description: 'Filters production results by agent.',
          transform: changeQuery(production, (query) => query.set('agent', 'shop')),
        },
      },
    },
    'CLIENT-051': {
      level: 'should',
      rule: 'A results request has only query parameters that the endpoint defines, each of them once. Parameters that resemble none, such as those against caching, are only noted.',
      statements: ['4.3.2', '4.4.2'],
      reason: 'The specification does not say how a service handles other or repeated parameters.',
      check: checkRequests(isRead, NO_READ, findUndefinedParameters),
      mutants: {
        'filter-by-conversation': {
          description: 'Filters production results by conversation_id, which is not a parameter.',
          transform: changeQuery(production, (query) => query.set('conversation_id', 'conv-1')),
        },
        'filter-twice': {
          description: 'Sends a filter twice.',
          transform: changePath(production, (path) => `${path}&failed_only=true`),
        },
      },
      legal: {
        'cache-buster': {
          description: 'Adds a parameter that resembles no filter.',
          transform: changeQuery(to('simulations'), (query) => query.set('_', '17')),
        },
      },
    },
    'CLIENT-052': {
      rule: 'A query parameter has a value of its type: ISO 8601 time, boolean, or integer of 0 or more.',
      statements: ['4.3.7', '4.3.8', '4.3.11', '4.3.13', '4.3.14', '4.3.15', '4.4.5', '4.4.6'],
      reason: 'The service refuses the request, or applies another filter.',
      check: checkRequests(isRead, NO_READ, findValueFaults),
      mutants: {
        'local-date': {
          description: 'Sends a date that is not ISO 8601.',
          transform: changeQuery(production, (query) => query.set('started_after', '20/11/2026')),
        },
        'plus-not-encoded': {
          description: 'Does not percent-encode the + of a UTC offset.',
          transform: changePath(production, (path) => path.replace('%2B', '+')),
        },
      },
      legal: {
        'python-boolean': {
          description: 'Spells booleans as Python does, and sends a time without an offset.',
          transform: changeQuery(production, (query) => {
            query.set('failed_only', 'True');
            query.set('started_after', '2026-01-01T00:00:00');
          }),
        },
      },
    },
    'CLIENT-053': {
      level: 'should',
      rule: '`limit` is at most 500.',
      section: '8',
      statements: ['4.3.16', '4.4.11', '8.a7'],
      reason:
        'The service returns at most 500 sessions. A client that expects more misses sessions.',
      check: checkRequests(
        (exchange) => isRead(exchange) && queryOf(exchange).has('limit'),
        notObserved('No results request has a limit.'),
        (exchange) => {
          const limit = Number(queryOf(exchange).get('limit'));
          if (!(limit > PAGE_LIMIT_MAX)) return undefined;
          return { expected: `limit of at most ${PAGE_LIMIT_MAX}`, received: String(limit) };
        },
      ),
      mutants: {
        'large-limit': {
          description: 'Requests pages of 1000 sessions.',
          transform: changeQuery(pagedRead, (query) => query.set('limit', '1000')),
        },
      },
    },
  },
};

/** Returns whether an exchange reads results. */
export function isRead({ endpoint }: Exchange): boolean {
  return isResultsEndpoint(endpoint);
}

/** Returns the query parameters of a request. */
export function queryOf({ request }: Exchange): URLSearchParams {
  return queryIn(request.path);
}

/** Returns the names in the query of a request that are not parameters of its endpoint. */
function unknownNames(exchange: Exchange): string[] {
  const known = parametersOf(exchange);
  return [...new Set(queryOf(exchange).keys())].filter((name) => !known.includes(name));
}

const routeOf = ({ endpoint }: Exchange) =>
  endpoint === 'simulations'
    ? serviceRoutes.listSimulationSessions
    : serviceRoutes.listProductionSessions;

/** Parameters that clients expect to select a conversation. */
const ID_NAME = /^(conversation|session|source_session)_?id$/i;

/** Finds repeated parameters, and those that the endpoint does not define. */
function findUndefinedParameters(exchange: Exchange): Fault[] {
  const repeated = findQueryProblems(routeOf(exchange), queryOf(exchange)).filter(
    (problem) => 'occurrences' in problem,
  );
  return [
    ...repeated.map(({ parameter, occurrences }) => ({
      expected: `${parameter} once`,
      received: `${parameter} ${occurrences} times`,
      hint: 'The service may read any of the values. Send the parameter once.',
    })),
    ...findOtherParameters(exchange),
  ];
}

/** Finds parameters that are not a misspelling of one that the endpoint defines. */
function findOtherParameters(exchange: Exchange): Fault[] {
  const others = unknownNames(exchange).filter((name) => !findIntendedName(name, exchange));
  if (others.length === 0) return [];
  const expected = 'no other parameters';
  const list = (names: readonly string[]): string =>
    listSome(names.map((name) => toPrintable(name, 40)));
  const ids = others.filter((name) => ID_NAME.test(name));
  // Parameters without a meaning, such as those that prevent caching, do no harm.
  if (ids.length === 0) return [{ expected, received: list(others), isNote: true }];
  return [
    {
      expected,
      received: `${list(ids)}, so the list has the sessions of all conversations`,
      hint: 'No parameter selects a conversation: look for its source_session_id in the items.',
    },
  ];
}

const parametersOf = (exchange: Exchange): string[] =>
  listQueryParameters(routeOf(exchange)).map(({ name }) => name);

/** Wrong names that clients use for a parameter, and its right name. */
const SYNONYMS: Readonly<Record<string, string>> = {
  offset: 'skip',
  page: 'skip',
  cursor: 'skip',
  count: 'limit',
  size: 'limit',
  page_size: 'limit',
  per_page: 'limit',
  from: 'started_after',
  since: 'started_after',
  after: 'started_after',
  to: 'started_before',
  until: 'started_before',
  before: 'started_before',
  failed: 'failed_only',
  only_failed: 'failed_only',
  traces: 'include_traces',
  evaluation: 'eval',
  eval_name: 'eval',
  agent_name: 'agent',
  run_name: 'run',
};

/** Names with which clients ask for failed sessions, as in `outcome=fail`. */
const OUTCOME_NAMES: ReadonlySet<string> = new Set(['outcome', 'result', 'status', 'verdict']);

/** Says how to use the parameter that a client probably meant. */
function suggestParameter(name: string): string {
  switch (name) {
    case 'skip':
      return 'Send skip, the number of sessions before the page.';
    case 'failed_only':
      return 'Send failed_only=true.';
    case 'agent':
      return 'Simulations are filtered by agent: the name or the URL, or a part of them.';
    case 'run':
      return 'Production results are filtered by run: the name, or a part of it.';
    default:
      return `Send ${name}.`;
  }
}

const toSnakeCase = (name: string): string =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();

/** Returns the parameter that a client probably meant by an unknown name. */
function findIntendedName(name: string, exchange: Exchange): string | undefined {
  const known = parametersOf(exchange);
  const snake = toSnakeCase(name);
  const synonym = SYNONYMS[snake];
  if (OUTCOME_NAMES.has(snake) && /^fail/i.test(queryOf(exchange).get(name) ?? '')) {
    return 'failed_only';
  }
  if (synonym !== undefined && known.includes(synonym)) return synonym;
  // Each of `agent` and `run` is a parameter of only one endpoint.
  if (name === 'run') return 'agent';
  if (name === 'agent') return 'run';
  return known.includes(snake) ? snake : findClosest(snake, known);
}

const isTime = (value: string): boolean => parseIsoTime(value) !== undefined;

function findValueFaults(exchange: Exchange): Fault[] {
  return findQueryProblems(routeOf(exchange), queryOf(exchange)).flatMap((problem): Fault[] => {
    // CLIENT-051 reports repeated parameters.
    if ('occurrences' in problem) return [];
    const { parameter, expected, value } = problem;
    const hint = suggestValue(parameter, value);
    return [{ expected: `${parameter} is ${expected}`, received: toPrintable(value, 40), hint }];
  });
}

/** Advises on a wrong value by its form. */
function suggestValue(name: string, value: string): string | undefined {
  if (!name.startsWith('started_')) return undefined;
  if (isTime(value.replaceAll(' ', '+'))) {
    return 'Percent-encode + as %2B: in a query, + means a space.';
  }
  const format = 'Write the time like 2026-11-27T10:00:00Z';
  if (/^\d{10}(\.\d+)?$/.test(value)) return `${format}, not in seconds since 1970.`;
  return /^\d{13}$/.test(value) ? `${format}, not in milliseconds since 1970.` : `${format}.`;
}
