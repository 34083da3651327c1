/** The pages of both results endpoints: their fields and size (spec 2.6, 4.3, 4.4, 8). */
import {
  formatValue,
  listAt,
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
  type Unjudged,
} from '../../../engine/checks/check.ts';
import { checkAccepted } from '../../../engine/checks/responses.ts';
import {
  editBody,
  replaceParts,
  respondInstead,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import type { TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { MutantEntry, Subject } from '../../../engine/requirement.ts';
import {
  describeOutcome,
  isAccepted,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { UPPER_CASE_HEADER } from '../authentication/keys.ts';
import {
  LESS_TRAFFIC,
  needsSessions,
  requireControlApi,
  requireIntrusiveRun,
  requirePlainRight,
  wrongValue,
} from '../findings.ts';
import {
  kindOf,
  queryParameter,
  resultsEndpoints,
  resultsPaths,
  sessionsIn,
  type ResultsEndpoint,
  type ResultsObject,
} from '../results-api.ts';
import {
  isResultsPage,
  isStep,
  queryOf,
  seededSessions,
  sessionsOf,
  skipOf,
  startedAtMs,
  totalOf,
} from '../transcript.ts';
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
  identify,
  isSeededPage,
  NO_FRACTION_STEP,
  ODD_PAGE_STEP,
  OFFSET_STEP,
  OVER_CAP,
  PAGE_STEP,
  PAGING,
  SECOND_KEY_STEP,
  TIME_PRECISION_MS,
  WRONG_TYPE,
} from './evidence.ts';
import { compareWithWhole, findWholeList, noWholeList } from './whole-list.ts';

const hasLimit = hasQuery('limit');
const hasSkip = hasQuery('skip');
const wantsFailures = hasQuery('failed_only', 'true');

/** Matches reads that skip sessions without a limit. */
const isBeyondEnd: When = ({ path }) =>
  queryParameter(path, 'skip') !== undefined && queryParameter(path, 'limit') === undefined;

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

/** Why no page with many sessions was judged: the service lists none of those that the run seeded. */
const noManySessions = (endpoint: ResultsEndpoint): Check['unjudged'] =>
  requireIntrusiveRun(
    requireControlApi(({ exchanges }) => {
      const part = endpoint === 'production' ? 'runs' : 'simulations';
      const seed = exchanges.find((exchange) => isStep(exchange, 'admin', 'many'));
      const place = seed ? ` (exchange ${seed.id}: ${describeOutcome(seed)})` : '';
      return {
        verdict: 'not_observed',
        reason: `The service lists no session of \`${part}\` in the seed document that the run sent${place}.`,
        remedy: `Store \`${part}\` of seed documents in \`POST /__admin/seed\`; docs/check.md shows the whole format.`,
      };
    }),
  );

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
    ...both('SERVICE-080', 'SERVICE-135', ({ endpoint, kind, either, forEndpoint, editPages }) => ({
      rule: `Consecutive ${kind} pages list every session exactly once and have the same \`total\`.`,
      ...either(
        { section: '4.4', statements: ['2.6.11', '4.4.9', '4.4.16'] },
        { section: '4.3', statements: ['2.6.11', '4.3.14', '4.3.r3'] },
      ),
      reason: PAGING,
      probes: either(['service/production'], []),
      check: pagesExactly(endpoint),
      mutants: forEndpoint({
        'skip-off-by-one': {
          description: 'Skips one session too many.',
          transform: changeSkip(endpoint, (skip) => (skip > 0 ? skip + 1 : skip)),
        },
        'skip-rounded': {
          description: 'Skips a multiple of limit.',
          transform: changeSkip(endpoint, (skip, limit) => skip - (limit > 0 ? skip % limit : 0)),
        },
        'total-of-page': editPages(
          'Counts only the sessions of the page as total.',
          (page) => {
            page['total'] = sessionsIn(page).length;
          },
          (request) => hasSkip(request) && !wantsFailures(request),
        ),
      }),
    })),
    ...both('SERVICE-206', 'SERVICE-207', ({ endpoint, kind, either, forEndpoint }) => ({
      rule: `A ${kind} page beyond the last session has no items, even without \`limit\`.`,
      section: either('4.4', '4.3'),
      statements: either(['2.6.12', '4.4.9'], ['2.6.12', '4.3.14', '4.3.r3']),
      reason: 'A program that reads one page too many would fail or see sessions twice.',
      observability: 'provoked',
      check: requirePlainRight(
        [echoesLimits(endpoint), usesDefaults(endpoint)],
        endsAfterLastPage(endpoint),
      ),
      mutants: forEndpoint({
        'beyond-404': {
          description: 'Refuses a skip beyond the last session.',
          transform: respondInstead(to(endpoint, isBeyondEnd), () => refusal(404)),
        },
        'beyond-wraps': {
          description: 'Starts again at the first session beyond the last one.',
          transform: changeSkip(endpoint, (skip, limit) => (limit === 0 ? 0 : skip)),
        },
      }),
    })),
    ...both('SERVICE-208', 'SERVICE-209', ({ endpoint, kind, either, forEndpoint, editPages }) => ({
      rule: `\`total\` of a ${kind} page counts the sessions of all pages, not only of one.`,
      section: '2.6',
      statements: ['2.6.11', either('4.4.12', '4.3.17')],
      reason: PAGING,
      observability: 'provoked',
      probes: ['service/many'],
      check: countsManySessions(endpoint),
      mutants: forEndpoint({
        'total-50': {
          ...editPages('Counts at most 50 sessions.', (page) => {
            page['total'] = Math.min(Number(page['total']), 50);
          }),
          ...intrusiveOnly,
        },
      }),
    })),
    ...both('SERVICE-193', 'SERVICE-194', ({ endpoint, either, forEndpoint, editPages }) => ({
      rule: `${either('Production', 'Simulation')} sessions are sorted from newest to oldest even if they start within one second.`,
      ...either(
        { section: '4.4', statements: ['1.14', '4.4.13'] },
        { section: '4.3', statements: ['1.14', '4.3.4'] },
      ),
      reason: 'Sessions of parallel simulations would change their places from page to page.',
      observability: 'provoked',
      probes: ['service/many'],
      check: sortsWithinSecond(endpoint),
      mutants: forEndpoint({
        'order-by-second': {
          ...editPages('Sorts only by whole seconds.', (page) => {
            const [first, second, ...others] = sessionsIn(page);
            if (first && second && others.length > 40) page['items'] = [second, first, ...others];
          }),
          ...intrusiveOnly,
        },
      }),
    })),
    'SERVICE-155': {
      rule: 'Without parameters, `total` counts every simulation session of the owner.',
      statements: ['4.3.3'],
      reason: 'Missing sessions would go unnoticed.',
      observability: 'provoked',
      check: countsAllSessions(),
      mutants: {
        'simulation-total-less': {
          description: 'Counts one session less without parameters.',
          transform: onPages(
            'simulations',
            (page) => {
              page['total'] = Math.max(0, Number(page['total']) - 1);
            },
            ({ path }) => path.endsWith('/'),
          ),
        },
      },
    },
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
function findWrongNumber(page: Exchange, pointer: string, expected: number): Finding[] {
  const value = resolvePointer(page.json, pointer);
  return typeof value === 'number' && value !== expected
    ? [wrongValue(page, pointer, String(expected))]
    : [];
}

function findTooManyItems(page: Exchange, max: number): Finding[] {
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
function usesDefaults(endpoint: ResultsEndpoint): Check {
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
function echoesLimits(endpoint: ResultsEndpoint): Check {
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

/** Requires an empty page for a skip beyond the last session. */
function endsAfterLastPage(endpoint: ResultsEndpoint): Check {
  return checkEach(
    (page) => isStep(page, endpoint, BEYOND_STEP) && page.response !== undefined,
    (page) => {
      if (!isAccepted(page)) return [outcomeFinding(page, 'a 2xx response without items')];
      const skip = Number(queryOf(page, 'skip'));
      return [
        ...findWrongNumber(page, '/skip', skip),
        ...findTooManyItems(page, 0).map((finding) => ({ ...finding, hint: BEYOND_HINT })),
      ];
    },
    noWholeList(endpoint),
  );
}

const BEYOND_HINT =
  'Apply skip even without limit, and return no items if it is at least the number of sessions.';

/** Returns the keys of the sessions of the seed with many sessions. */
function readManyKeys(endpoint: ResultsEndpoint, { exchanges }: Transcript): string[] {
  const seed = exchanges.find(
    (exchange) => isStep(exchange, 'admin', 'many') && isAccepted(exchange),
  );
  const groups = listAt(seed?.sent, endpoint === 'production' ? '/runs' : '/simulations');
  return groups
    .flatMap((group) => listAt(group, '/sessions'))
    .map((session) => manyKeyOf(endpoint, isObject(session) ? session : {}));
}

/** Returns what identifies a session of that seed: its id or scenario, which is its start. */
function manyKeyOf(endpoint: ResultsEndpoint, session: ResultsObject): string {
  const key = session[endpoint === 'production' ? 'source_session_id' : 'scenario'];
  return typeof key === 'string' ? key : '';
}

/** Returns the keys of the seeded sessions on a page, each once, in the order of the page. */
function listManyKeys(endpoint: ResultsEndpoint, page: Exchange, transcript: Transcript): string[] {
  const known = new Set(readManyKeys(endpoint, transcript));
  const listed = new Set(sessionsOf(page).map((session) => manyKeyOf(endpoint, session)));
  return [...listed].filter((key) => known.has(key));
}

const isManyPage = (endpoint: ResultsEndpoint, page: Exchange): boolean =>
  isResultsPage(endpoint)(page) &&
  isStep(page, endpoint, 'many', OVER_CAP) &&
  page.probe === 'service/many';

/**
 * Returns how many sessions the run has seeded for the owner of a page. Returns undefined for owners
 * with other sessions, and if the page lists none of them, because a service need not support every
 * kind of seed data.
 */
export function countManySessions(page: Exchange, transcript: Transcript): number | undefined {
  const endpoint = resultsEndpoints.find((name) => name === page.endpoint);
  if (!endpoint || !isManyPage(endpoint, page)) return undefined;
  const isListed = listManyKeys(endpoint, page, transcript).length > 0;
  return isListed ? readManyKeys(endpoint, transcript).length : undefined;
}

/** Requires the number of seeded sessions as the total of pages that list only some of them. */
function countsManySessions(endpoint: ResultsEndpoint): Check {
  return checkEach(
    (page, transcript) =>
      page.endpoint === endpoint && countManySessions(page, transcript) !== undefined,
    (page, transcript) => findWrongNumber(page, '/total', countManySessions(page, transcript) ?? 0),
    noManySessions(endpoint),
  );
}

/** Requires seeded sessions in their order, which is the same by start, by end, and by creation. */
function sortsWithinSecond(endpoint: ResultsEndpoint): Check {
  return checkEach(
    (page, transcript) =>
      isManyPage(endpoint, page) && listManyKeys(endpoint, page, transcript).length > 1,
    (page, transcript) => {
      const keys = listManyKeys(endpoint, page, transcript);
      // The keys are times in one format, so their order as text is their order in time.
      const index = keys.findIndex((key, position) => key < (keys[position + 1] ?? ''));
      if (index < 0) return [];
      const expected = `no session that starts at ${keys[index + 1]} after one that starts at ${keys[index]}`;
      return [wrongValue(page, `/items/${index}/started_at`, expected)];
    },
    noManySessions(endpoint),
  );
}

/**
 * Requires consecutive pages to list every session once, with the same total. If sessions were added
 * between the pages, every session is on at least one of them.
 */
function pagesCompletely(endpoint: ResultsEndpoint): Check {
  return {
    evidence(transcript) {
      const whole = findWholeList(transcript, endpoint);
      // If sessions disappear between two pages, the second page skips others.
      if (!whole || whole.isShrinking || sessionsOf(whole.page).length <= 1) return [];
      return transcript.exchanges.filter(
        (page) => isResultsPage(endpoint)(page) && isStep(page, endpoint, PAGE_STEP),
      );
    },
    judge(pages, transcript) {
      const whole = findWholeList(transcript, endpoint);
      const [first] = pages;
      if (!whole || !first) return [];
      const expected = sessionsOf(whole.page).map(identify).sort();
      const listed = pages.flatMap(sessionsOf).map(identify).sort();
      const totals = new Set(
        [whole.page, ...pages].map(totalOf).filter((total) => typeof total === 'number'),
      );
      const isStable = whole.changed.size === 0;
      // A session that appears between two pages moves others to the second one.
      const isSame = isStable
        ? expected.join() === listed.join()
        : expected.every((identity) => listed.includes(identity));
      const isTotalRight = isStable
        ? totals.size < 2 && hasRightTotal(whole.page, expected.length)
        : [...totals].every(
            (total) => total >= expected.length && total <= expected.length + whole.changed.size,
          );
      const expectedItems = `${expected.length} sessions on ${pages.length} pages, each once`;
      const expectedTotal = `${expected.length} on every page`;
      return [
        ...(isSame ? [] : [wrongValue(first, '/items', expectedItems, describeCount(listed))]),
        ...(isTotalRight
          ? []
          : [wrongValue(first, '/total', expectedTotal, [...totals].join(', '))]),
      ];
    },
    unjudged: (transcript) => explainNoPages(endpoint, transcript),
  };
}

/** Explains why there are no pages to compare with the list of all sessions. */
function explainNoPages(endpoint: ResultsEndpoint, transcript: Transcript): Unjudged {
  const whole = findWholeList(transcript, endpoint);
  const kind = kindOf(endpoint);
  const verdict = 'not_observed';
  if (whole?.isShrinking) {
    const reason = `A ${kind} session was on the first list of all sessions (exchange ${whole.page.id}), but not on the last one.`;
    return { verdict, reason, remedy: LESS_TRAFFIC };
  }
  if (whole && sessionsOf(whole.page).length === 1) {
    const reason = `The service listed only one ${kind} session, which is too few for several pages.`;
    return needsSessions(reason)(transcript);
  }
  return noWholeList(endpoint)(transcript);
}

/** Requires complete pages, and that a page at an odd `skip` begins where it should. */
function pagesExactly(endpoint: ResultsEndpoint): Check {
  const [pages, oddPage] = [pagesCompletely(endpoint), skipsExactly(endpoint)];
  const isOdd = (page: Exchange): boolean => isStep(page, endpoint, ODD_PAGE_STEP);
  return {
    ...pages,
    evidence: (transcript) => [...pages.evidence(transcript), ...oddPage.evidence(transcript)],
    judge: (evidence, transcript) => [
      ...pages.judge(
        evidence.filter((page) => !isOdd(page)),
        transcript,
      ),
      ...oddPage.judge(evidence.filter(isOdd), transcript),
    ],
  };
}

/**
 * Requires that a page does not list the sessions that it skips. Those that start within a second of a
 * listed one are undecided, because times may be rounded. Without the whole list, nothing is judged.
 */
function skipsExactly(endpoint: ResultsEndpoint): Check {
  return compareWithWhole(
    endpoint,
    (page, whole) => whole.changed.size === 0 && isStep(page, endpoint, ODD_PAGE_STEP),
    (page, { sessions }) => {
      const skip = skipOf(page);
      const firstMs = startedAtMs(sessions[skip] ?? {}) ?? Infinity;
      const skipped = new Set(
        sessions
          .slice(0, skip)
          .filter((session) => (startedAtMs(session) ?? 0) - firstMs >= TIME_PRECISION_MS)
          .map(identify),
      );
      const index = sessionsOf(page).findIndex((session) => skipped.has(identify(session)));
      if (index < 0) return [];
      const expected = `none of the newest ${skip} sessions, because skip is ${skip}`;
      const received = formatValue(sessionsOf(page)[index]?.['url']);
      return [wrongValue(page, `/items/${index}`, expected, received)];
    },
  );
}

function hasRightTotal(whole: Exchange, count: number): boolean {
  const total = totalOf(whole);
  return !Number.isInteger(total) || total === count;
}

function describeCount(identities: string[]): string {
  return `${identities.length} sessions, ${new Set(identities).size} of them different`;
}

function countsAllSessions(): Check {
  return checkEach(
    isSeededPage('defaults'),
    (page, transcript) => {
      const { length } = seededSessions(transcript);
      const total = totalOf(page);
      return typeof total !== 'number' || total === length
        ? []
        : [wrongValue(page, '/total', String(length))];
    },
    requireControlApi(noWholeList('simulations')),
  );
}

/** Skips another number of sessions than the query asks for, but echoes the requested number. */
export function changeSkip(
  endpoint: ResultsEndpoint,
  change: (skip: number, limit: number) => number,
): TransformFactory {
  const rewrite = rewriteQuery(endpoint, (query) => {
    if (!query.has('skip')) return;
    const skip = change(Number(query.get('skip')), Number(query.get('limit')));
    query.set('skip', String(skip));
  });
  return () => {
    const transform = rewrite();
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
