/** Which sessions consecutive pages of both results endpoints list (spec 2.6, 4.3, 4.4). */
import { formatValue } from '../../../../src/contract/index.ts';
import {
  checkEach,
  outcomeFinding,
  type Check,
  type Unjudged,
} from '../../../engine/checks/check.ts';
import { editBody, respondInstead, to, type When } from '../../../engine/mutants/combinators.ts';
import type { TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import { LESS_TRAFFIC, needsSessions, requirePlainRight, wrongValue } from '../findings.ts';
import { kindOf, queryParameter, sessionsIn, type ResultsEndpoint } from '../results-api.ts';
import {
  isResultsPage,
  isStep,
  queryOf,
  sessionsOf,
  skipOf,
  startedAtMs,
  totalOf,
} from '../transcript.ts';
import { refusal, hasQuery, rewriteQuery, setKey, wantsFailures } from '../transforms.ts';
import { both } from './both-endpoints.ts';
import {
  BEYOND_STEP,
  identify,
  ODD_PAGE_STEP,
  PAGE_STEP,
  PAGING,
  TIME_PRECISION_MS,
} from './evidence.ts';
import { echoesLimits, findTooManyItems, findWrongNumber, usesDefaults } from './pages.ts';
import { compareWithWhole, findWholeList, noWholeList } from './whole-list.ts';

const hasSkip = hasQuery('skip');

/** Matches reads that skip sessions without a limit. */
const isBeyondEnd: When = ({ path }) =>
  queryParameter(path, 'skip') !== undefined && queryParameter(path, 'limit') === undefined;

export const paging: Subject = {
  requirements: {
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
        'total-of-empty-page': editPages(
          'Returns 0 as total of a page without items.',
          (page) => {
            if (sessionsIn(page).length === 0) page['total'] = 0;
          },
          hasSkip,
        ),
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
  },
};

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
      const beyond = transcript.exchanges.filter(
        (page) => isResultsPage(endpoint)(page) && isStep(page, endpoint, BEYOND_STEP),
      );
      const totals = new Set(
        [whole.page, ...pages, ...beyond].map(totalOf).filter((total) => typeof total === 'number'),
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
        ...(isSame
          ? []
          : [
              {
                ...wrongValue(first, '/items', expectedItems, describeCount(listed)),
                ...findPagingHint(pages),
              },
            ]),
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

/** Advises on pages that all list the same sessions. */
function findPagingHint(pages: readonly Exchange[]): { hint?: string } {
  const starts = pages.map((page) => sessionsOf(page).slice(0, 1).map(identify).join());
  const isSame = starts.length > 1 && starts[0] !== '' && new Set(starts).size === 1;
  return isSame ? { hint: 'Apply `skip`: every page begins with the same session.' } : {};
}

function describeCount(identities: string[]): string {
  return `${identities.length} sessions, ${new Set(identities).size} of them different`;
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
