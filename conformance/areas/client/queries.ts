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
          const hint = 'The service ignores a parameter with this name.';
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
      level: 'may',
      rule: 'A results request has only query parameters that the endpoint defines.',
      statements: ['4.3.2', '4.4.2'],
      reason: 'The specification does not say how a service handles other parameters.',
      check: checkRequests(isRead, NO_READ, (exchange) => {
        const others = unknownNames(exchange).filter((name) => !findIntendedName(name, exchange));
        if (others.length === 0) return undefined;
        const received = listSome(others.map((name) => toPrintable(name, 40)));
        const isId = others.some((name) =>
          /^(conversation|session|source_session)_?id$/i.test(name),
        );
        const hint = isId
          ? 'No parameter selects a conversation: look for its source_session_id in the items.'
          : undefined;
        return { expected: 'no other parameters', received, hint };
      }),
      legal: {
        'cache-buster': {
          description: 'Adds a parameter that resembles no filter.',
          transform: changeQuery(to('simulations'), (query) => query.set('_', '17')),
        },
      },
    },
    'CLIENT-052': {
      rule: 'A query parameter occurs once, with a value of its type: ISO 8601 time, boolean, or integer of 0 or more.',
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
        'filter-twice': {
          description: 'Sends a filter twice.',
          transform: changePath(production, (path) => `${path}&failed_only=true`),
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
  return findQueryProblems(routeOf(exchange), queryOf(exchange)).map((problem): Fault => {
    const { parameter } = problem;
    if ('occurrences' in problem) {
      return {
        expected: `${parameter} once`,
        received: `${parameter} ${problem.occurrences} times`,
      };
    }
    const { expected, value } = problem;
    const hint = isTime(value.replaceAll(' ', '+'))
      ? 'Percent-encode + as %2B: in a query, + means a space.'
      : undefined;
    return { expected: `${parameter} is ${expected}`, received: toPrintable(value, 40), hint };
  });
}
