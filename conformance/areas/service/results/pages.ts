/** The fields and the size of the pages of both results endpoints (spec 2.6, 4.3, 4.4, 8). */
import {
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  resolvePointer,
} from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import {
  checkEach,
  explainNoValidResponse,
  outcomeFinding,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import { checkAccepted } from '../../../engine/checks/responses.ts';
import { replaceParts, respondInstead, to } from '../../../engine/mutants/combinators.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import { isAccepted, type Exchange } from '../../../engine/transcript/reading.ts';
import { UPPER_CASE_HEADER } from '../authentication/keys.ts';
import { wrongValue } from '../findings.ts';
import { queryParameter, resultsPaths, sessionsIn, type ResultsEndpoint } from '../results-api.ts';
import { isResultsPage, isStep, queryOf, sessionsOf, totalOf } from '../transcript.ts';
import {
  refusal,
  hasQuery,
  intrusiveOnly,
  not,
  onPages,
  removeKey,
  rewriteQuery,
  setKey,
} from '../transforms.ts';
import { both } from './both-endpoints.ts';
import {
  BEYOND_STEP,
  NO_FRACTION_STEP,
  OFFSET_STEP,
  OVER_CAP,
  PAGING,
  SECOND_KEY_STEP,
  WRONG_TYPE,
} from './evidence.ts';

const hasLimit = hasQuery('limit');
const hasSkip = hasQuery('skip');

/** A mutant that refuses reads with a value of a query parameter. */
const refuseQuery = (
  endpoint: ResultsEndpoint,
  description: string,
  query: string,
  value: string,
): MutantEntry => ({
  description,
  transform: respondInstead(to(endpoint, hasQuery(query, value)), () => refusal(400)),
});

export const pages: Subject = {
  requirements: {
    ...both('SERVICE-070', 'SERVICE-130', ({ endpoint, kind, either, forEndpoint }) => ({
      rule: `\`GET ${resultsPaths[endpoint]}\` returns a JSON object with a 2xx status.`,
      ...either(
        { section: '4.4', statements: ['1.13', '4.4.1', '4.4.2', '4.4.12', '4.4.19', '9.2'] },
        { section: '4.3', statements: ['1.13', '4.3.1', '4.3.2', '4.3.17', '9.2'] },
      ),
      reason: `Builds and reports cannot read any ${kind} result.`,
      probes: [either('service/production', 'service/simulations')],
      check: answersReads(endpoint),
      mutants: forEndpoint({
        'failed-only-400': refuseQuery(endpoint, 'Refuses failed_only.', 'failed_only', 'true'),
        'traces-400': refuseQuery(
          endpoint,
          'Refuses include_traces=false.',
          'include_traces',
          'false',
        ),
        'filter-text': {
          description: 'Returns text when the query has an eval filter.',
          transform: replaceParts(to(endpoint, hasQuery('eval')), { body: 'none' }),
        },
      }),
    })),
    ...both('SERVICE-071', 'SERVICE-131', ({ endpoint, kind, either, forEndpoint, editPages }) => ({
      rule: `A ${kind} page has an \`items\` array and the integers \`total\`, \`skip\`, and \`limit\`.`,
      statements: ['2.6.10', '2.6.11', '2.6.12', '2.6.13', either('4.4.12', '4.3.17')],
      reason: WRONG_TYPE,
      check: hasPageFields(endpoint),
      mutants: forEndpoint({
        'total-missing': editPages('Omits total.', removeKey('total')),
        'total-text': editPages('Returns total as a string.', setKey('total', '12')),
        'skip-missing': editPages('Omits skip.', removeKey('skip')),
        'limit-null': editPages('Returns null as limit.', setKey('limit', null)),
        'items-object': editPages('Returns an object as items.', setKey('items', {}), hasSkip),
      }),
    })),
    ...both('SERVICE-075', 'SERVICE-132', ({ endpoint, kind, either, forEndpoint, editPages }) => ({
      rule: `Without \`skip\` and \`limit\`, a ${kind} page has \`skip: 0\`, \`limit: 50\`, and at most 50 items.`,
      section: '8',
      statements: [...either(['4.4.9', '4.4.10'], ['4.3.14', '4.3.15']), '8.a6', '8.a8'],
      reason: PAGING,
      probes: ['service/many'],
      check: usesDefaults(endpoint),
      mutants: forEndpoint({
        'limit-20': editPages('Uses a default limit of 20.', setKey('limit', 20), not(hasLimit)),
        'skip-1': editPages('Uses a default skip of 1.', setKey('skip', 1), not(hasLimit)),
        'page-51': {
          description: 'Lists 51 sessions by default.',
          transform: rewriteQuery(
            endpoint,
            (query) => query.set('limit', '51'),
            ({ path }) => path.endsWith('/'),
          ),
          ...intrusiveOnly,
        },
      }),
    })),
    ...both('SERVICE-077', 'SERVICE-133', ({ endpoint, kind, either, forEndpoint, editPages }) => ({
      rule: `A \`limit\` over 500 returns 500 ${kind} sessions, or all if there are fewer, instead of an error.`,
      section: '8',
      statements: [either('4.4.11', '4.3.16'), '8.a7'],
      reason: PAGING,
      observability: 'provoked',
      probes: ['service/many'],
      check: capsLimit(endpoint),
      mutants: forEndpoint({
        'cap-400': refuseQuery(endpoint, 'Refuses a limit over 500.', 'limit', '501'),
        'cap-to-default': {
          description: 'Uses the default limit instead of one over 500.',
          transform: rewriteQuery(
            endpoint,
            (query) => query.set('limit', '50'),
            hasQuery('limit', '501'),
          ),
          ...intrusiveOnly,
        },
        'cap-501': {
          ...editPages(
            'Lists more than 500 sessions.',
            (page) => {
              const sessions = sessionsIn(page);
              page['items'] = [...sessions, ...sessions.slice(0, 1)];
            },
            hasQuery('limit', '501'),
          ),
          ...intrusiveOnly,
        },
      }),
    })),
    ...both('SERVICE-078', 'SERVICE-134', ({ endpoint, kind, either, forEndpoint, editPages }) => ({
      rule: `A ${kind} page repeats the requested \`skip\` and \`limit\` and has at most \`limit\` items.`,
      statements: either(['4.4.9', '4.4.10'], ['4.3.14', '4.3.15']),
      reason: PAGING,
      check: echoesLimits(endpoint),
      mutants: forEndpoint({
        'limit-echo': editPages(
          'Echoes a limit other than the requested one.',
          setKey('limit', 50),
          hasLimit,
        ),
        'limit-ignored': {
          description: 'Ignores limit.',
          transform: rewriteQuery(endpoint, (query) => query.delete('limit'), hasSkip),
          alsoKills: [either('SERVICE-080', 'SERVICE-135')],
        },
        'skip-ignored': {
          description: 'Ignores skip.',
          transform: rewriteQuery(endpoint, (query) => query.delete('skip'), hasSkip),
          alsoKills: [either('SERVICE-080', 'SERVICE-135')],
        },
      }),
    })),
  },
  legal: {
    'reads-206': {
      description: 'Returns results with 206.',
      transform: replaceParts(
        ({ endpoint }) => endpoint === 'production' || endpoint === 'simulations',
        { status: 206 },
        ({ status }) => status === 200,
      ),
    },
    'limit-echo-501': {
      description: 'Echoes the requested limit even if it is over the cap.',
      transform: onPages(
        'production',
        (page, { path }) => {
          page['limit'] = Number(queryParameter(path, 'limit'));
        },
        hasLimit,
      ),
    },
  },
};

/** Requires a JSON object for every read except those that other requirements judge. */
function answersReads(endpoint: ResultsEndpoint): Check {
  return checkAccepted(
    endpoint,
    (step) =>
      ![
        OVER_CAP,
        OFFSET_STEP,
        NO_FRACTION_STEP,
        BEYOND_STEP,
        SECOND_KEY_STEP,
        UPPER_CASE_HEADER,
      ].includes(step),
    explainNoValidResponse(endpoint),
  );
}

/** Requires the four fields of a page (spec 2.6). */
function hasPageFields(endpoint: ResultsEndpoint): Check {
  const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
  return checkEach(
    (page) =>
      page.endpoint === endpoint &&
      page.intent === 'valid' &&
      isAccepted(page) &&
      isObject(page.json),
    (page) => [
      ...(Array.isArray(resolvePointer(page.json, '/items'))
        ? []
        : [wrongValue(page, '/items', 'an array')]),
      ...['/total', '/skip', '/limit']
        .filter((pointer) => !isCount(resolvePointer(page.json, pointer)))
        .map((pointer) => wrongValue(page, pointer, 'an integer of 0 or more')),
    ],
    explainNoValidResponse(endpoint),
  );
}

/** Finds a number that differs from the expected one. Other types violate another requirement. */
export function findWrongNumber(page: Exchange, pointer: string, expected: number): Finding[] {
  const value = resolvePointer(page.json, pointer);
  return typeof value === 'number' && value !== expected
    ? [wrongValue(page, pointer, String(expected))]
    : [];
}

/** Finds a page with more sessions than it may have. */
export function findTooManyItems(page: Exchange, max: number): Finding[] {
  const { length } = sessionsOf(page);
  return length <= max ? [] : [wrongValue(page, '/items', `at most ${max}`, String(length))];
}

/** Finds a page over the cap that is not full although more sessions are there. */
function findTooFewItems(page: Exchange): Finding[] {
  const { length } = sessionsOf(page);
  const total = totalOf(page);
  const possible = typeof total === 'number' ? Math.min(total, PAGE_LIMIT_MAX) : 0;
  if (length >= possible) return [];
  return [wrongValue(page, '/items', `${possible} sessions, of ${String(total)}`, String(length))];
}

/** Requires the default limit and skip on pages that request neither. */
export function usesDefaults(endpoint: ResultsEndpoint): Check {
  const isPage = isResultsPage(endpoint);
  return checkEach(
    (page) =>
      isPage(page) &&
      page.intent === 'valid' &&
      queryOf(page, 'limit') === undefined &&
      queryOf(page, 'skip') === undefined,
    (page) => [
      ...findWrongNumber(page, '/limit', PAGE_LIMIT_DEFAULT),
      ...findWrongNumber(page, '/skip', 0),
      ...findTooManyItems(page, PAGE_LIMIT_DEFAULT),
    ],
    explainNoValidResponse(endpoint),
  );
}

/** Requires a page of 500 sessions, or all of them, for a higher limit. The echoed limit is not specified. */
function capsLimit(endpoint: ResultsEndpoint): Check {
  return checkEach(
    (page) => isStep(page, endpoint, OVER_CAP) && page.response !== undefined,
    (page) =>
      isAccepted(page) && isObject(page.json)
        ? [...findTooManyItems(page, PAGE_LIMIT_MAX), ...findTooFewItems(page)]
        : [outcomeFinding(page, `a 2xx response with at most ${PAGE_LIMIT_MAX} sessions`)],
    explainNoValidResponse(endpoint),
  );
}

/** Requires pages to repeat the requested limit and skip, and to have at most `limit` items. */
export function echoesLimits(endpoint: ResultsEndpoint): Check {
  const isPage = isResultsPage(endpoint);
  return checkEach(
    (page) =>
      isPage(page) &&
      page.intent === 'valid' &&
      page.step !== OVER_CAP &&
      queryOf(page, 'limit') !== undefined,
    (page) => {
      const limit = Number(queryOf(page, 'limit'));
      return [
        ...findWrongNumber(page, '/limit', limit),
        ...findWrongNumber(page, '/skip', Number(queryOf(page, 'skip') ?? 0)),
        ...findTooManyItems(page, limit),
      ];
    },
    explainNoValidResponse(endpoint),
  );
}
