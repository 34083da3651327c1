import {
  formatValue,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  resolvePointer,
} from '../../../../../src/contract/index.ts';
import { isObject } from '../../../../../src/platform/json.ts';
import {
  checkEach,
  unjudgedAs,
  explainNoValidResponse,
  outcomeFinding,
  type Check,
  type Finding,
} from '../../../../engine/checks/check.ts';
import { checkAccepted } from '../../../../engine/checks/responses.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
} from '../../../../engine/transcript/reading.ts';
import { requireControlApi, wrongValue } from '../../findings.ts';
import type { ResultsEndpoint, ResultsObject } from '../../results-api.ts';
import { isStep, type ResultsStep } from '../../steps.ts';
import { isResultsPage, lastAccepted, queryOf, sessionsOf, startedAtMs } from '../../transcript.ts';

const OVER_CAP: ResultsStep = 'over the cap';

/** Requires a JSON object for every read except the one with a limit over the cap. */
export function answersReads(endpoint: ResultsEndpoint): Check {
  return checkAccepted(endpoint, (step) => step !== OVER_CAP, explainNoValidResponse(endpoint));
}

/** Requires the four fields of a page (spec 2.6). */
export function hasPageFields(endpoint: ResultsEndpoint): Check {
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

/** Requires at most 500 sessions for a higher limit. The echoed limit is not specified. */
export function capsLimit(endpoint: ResultsEndpoint): Check {
  return checkEach(
    (page) => isStep(page, endpoint, OVER_CAP) && page.response !== undefined,
    (page) =>
      isAccepted(page) && isObject(page.json)
        ? findTooManyItems(page, PAGE_LIMIT_MAX)
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

/** Returns a text that identifies a session, whichever filters and options a page uses. */
export function identify(session: ResultsObject): string {
  const { url, source_session_id: id, simulation, agent, scenario, started_at: at } = session;
  return JSON.stringify([url ?? null, id ?? null, simulation, agent, scenario, at]);
}

/**
 * Returns the page with all sessions of the run. It is undefined if the page is incomplete or if
 * sessions appeared or disappeared during the reads.
 */
export function findWholePage(
  transcript: Transcript,
  endpoint: ResultsEndpoint,
): Exchange | undefined {
  const whole = lastAccepted(transcript, endpoint, 'whole');
  const again = lastAccepted(transcript, endpoint, 'whole again');
  if (!whole || !again || !isResultsPage(endpoint)(whole)) return undefined;
  const identities = (page: Exchange): string => sessionsOf(page).map(identify).sort().join();
  const total = resolvePointer(whole.json, '/total');
  const isComplete =
    typeof total !== 'number' || sessionsOf(whole).length >= Math.min(total, PAGE_LIMIT_MAX);
  return identities(whole) === identities(again) && isComplete ? whole : undefined;
}

/** Why a page could not be compared with all sessions of the run. */
export const noWholePage = unjudgedAs(
  'not_observed',
  'No complete list to compare with: there were no sessions, or the list changed during the run.',
);

/** Requires consecutive pages to list every session once, with the same total. */
export function pagesCompletely(endpoint: ResultsEndpoint): Check {
  return {
    evidence(transcript) {
      const whole = findWholePage(transcript, endpoint);
      if (!whole || sessionsOf(whole).length <= 1) return [];
      return transcript.exchanges.filter(
        (page) => isResultsPage(endpoint)(page) && isStep(page, endpoint, 'page'),
      );
    },
    judge(pages, transcript) {
      const whole = findWholePage(transcript, endpoint);
      const [first] = pages;
      if (!whole || !first) return [];
      const expected = sessionsOf(whole).map(identify).sort();
      const listed = pages.flatMap(sessionsOf).map(identify).sort();
      const totals = new Set(
        [whole, ...pages]
          .map(({ json }) => resolvePointer(json, '/total'))
          .filter((total) => typeof total === 'number'),
      );
      const isSame = expected.join() === listed.join();
      const isTotalRight = totals.size < 2 && hasRightTotal(whole, expected.length);
      const expectedItems = `${expected.length} sessions on ${pages.length} pages, each once`;
      const expectedTotal = `${expected.length} on every page`;
      return [
        ...(isSame ? [] : [wrongValue(first, '/items', expectedItems, describeCount(listed))]),
        ...(isTotalRight
          ? []
          : [wrongValue(first, '/total', expectedTotal, [...totals].join(', '))]),
      ];
    },
    unjudged: noWholePage,
  };
}

function hasRightTotal(whole: Exchange, count: number): boolean {
  const total = resolvePointer(whole.json, '/total');
  return count >= PAGE_LIMIT_MAX || !Number.isInteger(total) || total === count;
}

const describeCount = (identities: string[]): string =>
  `${identities.length} sessions, ${new Set(identities).size} of them different`;

const HOUR_MS = 3_600_000;

/**
 * Requires sessions that start more than an hour apart to be in order. The specification does not
 * say which time "newest" refers to, so overlapping sessions may be in any order.
 */
export function listsNewestFirst(endpoint: ResultsEndpoint): Check {
  const startsOf = (page: Exchange): number[] =>
    sessionsOf(page).flatMap((session) => startedAtMs(session) ?? []);
  const isPage = isResultsPage(endpoint);
  return checkEach(
    (page) => {
      if (!isPage(page) || page.intent !== 'valid') return false;
      const starts = startsOf(page);
      const latest = Math.max(...starts);
      return starts.some((ms) => ms < latest - HOUR_MS);
    },
    (page) => {
      const starts = startsOf(page);
      const index = starts.findIndex((ms, position) =>
        starts.slice(position + 1).some((later) => later > ms + HOUR_MS),
      );
      if (index < 0) return [];
      return [wrongValue(page, `/items/${index}/started_at`, 'no newer session after this one')];
    },
    unjudgedAs('not_observed', 'No page has sessions that start more than an hour apart.'),
  );
}

/** Requires that a page of another owner lists no session of the run. */
export function hidesOtherOwners(endpoint: ResultsEndpoint): Check {
  return checkEach(
    (page, transcript) =>
      isResultsPage(endpoint)(page) &&
      isStep(page, endpoint, 'another owner') &&
      findWholePage(transcript, endpoint) !== undefined,
    (page, transcript) => {
      const whole = findWholePage(transcript, endpoint);
      const ownSessions = new Set((whole ? sessionsOf(whole) : []).map(identify));
      const foreign = sessionsOf(page).find((session) => ownSessions.has(identify(session)));
      if (!foreign) return [];
      return [
        wrongValue(page, '/items', 'no session of another owner', formatValue(foreign['url'])),
      ];
    },
    requireControlApi(noWholePage),
  );
}
