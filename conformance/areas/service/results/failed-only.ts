/** The filter `failed_only` of both results endpoints (spec 2.6, 4.3, 4.4). */
import { resolvePointer } from '../../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { editBody, isSuccess, withQuery } from '../../../engine/mutants/combinators.ts';
import type { Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import type { Exchange } from '../../../engine/transcript/reading.ts';
import { requirePlainRight, wrongValue, needsSessions } from '../findings.ts';
import { matchesEval } from './name-filters.ts';
import { objectsAt, sessionsIn, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import {
  isResultsPage,
  isStep,
  queryOf,
  sessionsOf,
  summaryNumber,
  totalOf,
} from '../transcript.ts';
import {
  hasQuery,
  objectAt,
  onPages,
  onSummary,
  rewriteQuery,
  setKey,
  wantsFailures,
} from '../transforms.ts';
import { both } from './both-endpoints.ts';
import {
  DECLINED_STEP,
  describeSummary,
  FILTERED_PAGE_STEP,
  identify,
  NO_FRACTION_STEP,
  PAGING,
} from './evidence.ts';
import { compareWithWhole } from './whole-list.ts';
import { keepFirstOutcome } from './scored-conversations.ts';
import { addIgnoredHint } from './filter-hints.ts';
import { filtersSessions, ignoreParameter, WRONG_FILTER, type FilterRule } from './filtering.ts';

const hasSkip = hasQuery('skip');

const noFailures = needsSessions(
  'No failing session was listed.',
  'Use a key that sees a session with a failing eval.',
);

export const failedOnly: Subject = {
  requirements: {
    ...both('SERVICE-112', 'SERVICE-149', ({ endpoint, kind, either, forEndpoint, editPages }) => ({
      rule: `\`failed_only=true\` keeps exactly the ${kind} sessions that have a failing eval.`,
      ...either(
        { section: '4.4', statements: ['4.3.11', '4.4.5'] },
        { section: '4.3', statements: ['4.3.11'] },
      ),
      reason: WRONG_FILTER,
      probes: either(['service/production'], []),
      check: addIgnoredHint(endpoint, filtersSessions(endpoint, ['failed only'], hasFailure)),
      mutants: forEndpoint({
        'failed-ignored': {
          description: 'Ignores failed_only.',
          transform: ignoreParameter(endpoint, 'failed_only'),
          alsoKills: either(['SERVICE-113', 'SERVICE-116'], ['SERVICE-150', 'SERVICE-152']),
        },
        'failed-one-less': {
          ...editPages(
            'Omits one failing session.',
            (page) => {
              page['items'] = sessionsIn(page).slice(1);
              page['total'] = Math.max(0, Number(page['total']) - 1);
            },
            wantsFailures,
          ),
          alsoKills: [either('SERVICE-116', 'SERVICE-152')],
        },
      }),
    })),
    ...both('SERVICE-179', 'SERVICE-180', ({ endpoint, kind, either, forEndpoint, editPages }) => ({
      rule: `\`failed_only=false\` keeps every ${kind} session.`,
      ...either(
        { section: '4.4', statements: ['4.3.11', '4.4.5'] },
        { section: '4.3', statements: ['4.3.11'] },
      ),
      reason: WRONG_FILTER,
      observability: 'provoked',
      check: filtersSessions(endpoint, [DECLINED_STEP], () => true),
      mutants: forEndpoint({
        'false-as-true': editPages(
          'Keeps only failing sessions with failed_only=false.',
          (page) => {
            const items = sessionsIn(page).filter(hasFailure);
            Object.assign(page, { items, total: items.length });
          },
          hasQuery('failed_only', 'false'),
        ),
      }),
    })),
    ...both(
      'SERVICE-113',
      'SERVICE-150',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `With \`failed_only=true\`, \`eval_outcomes\` of a ${kind} session has exactly its \`failed_count\` failing outcomes.`,
        ...either(
          { section: '4.4', statements: ['4.3.12', '4.3.r2c', '4.3.r2d', '4.4.5', '4.4.16'] },
          { section: '4.3', statements: ['4.3.12', '4.3.r2c', '4.3.r2d'] },
        ),
        reason: WRONG_FILTER,
        check: listsOnlyFailures(endpoint),
        mutants: forEndpoint({
          'failed-lists-all': editSessions(
            'Lists passed outcomes with failed_only.',
            (session) => {
              const outcomes = objectsAt(session, 'eval_outcomes');
              session['eval_outcomes'] = [...outcomes, { ...outcomes[0], outcome: 'pass' }];
            },
            wantsFailures,
          ),
          'failed-lists-passed': editSessions(
            'Lists passed instead of failing outcomes with failed_only.',
            (session) => objectsAt(session, 'eval_outcomes').forEach(setKey('outcome', 'pass')),
            wantsFailures,
          ),
          'failed-one-alone': editSessions(
            'Lists only one failing outcome per session.',
            (session) => {
              session['eval_outcomes'] = objectsAt(session, 'eval_outcomes').slice(0, 1);
            },
            wantsFailures,
          ),
        }),
      }),
    ),
    ...both(
      'SERVICE-115',
      'SERVICE-151',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `With \`failed_only=true\`, \`outcome_summary\` of a ${kind} session still covers the whole session.`,
        ...either(
          { section: '2.6', statements: ['2.6.5', '4.3.r2b', '4.4.16'] },
          { section: '4.3', statements: ['2.6.5', '4.3.r2b'] },
        ),
        reason: 'A failing session would look as if none of its evals had passed.',
        check: summarizesWholeSession(endpoint),
        mutants: forEndpoint({
          'failed-summary': editSessions(
            'Summarizes only failing outcomes with failed_only.',
            onSummary((summary) => {
              Object.assign(summary, {
                total_evaluations: summary['failed_count'],
                passed_count: 0,
                pass_rate: 0,
              });
            }),
            wantsFailures,
          ),
        }),
      }),
    ),
    ...both(
      'SERVICE-188',
      'SERVICE-189',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `With \`eval\`, \`outcome_summary\` of a ${kind} session still covers the whole session.`,
        section: '2.6',
        statements: ['2.6.5', either('4.4.4', '4.3.9')],
        reason: 'The pass rate of a session would depend on the filter.',
        observability: 'provoked',
        check: summarizesWholeSession(endpoint, (page) => isStep(page, endpoint, 'eval')),
        mutants: forEndpoint({
          'eval-summary': editSessions(
            'Lists and summarizes only one outcome with the filter eval.',
            keepFirstOutcome,
            (request) => hasQuery('eval')(request) && !wantsFailures(request),
          ),
        }),
      }),
    ),
    ...both('SERVICE-116', 'SERVICE-152', ({ endpoint, kind, either, forEndpoint, editPages }) => ({
      rule: `With \`failed_only=true\`, \`total\` counts the failing ${kind} sessions.`,
      ...either(
        { section: '4.4', statements: ['4.3.r2', '4.4.15', '4.4.16'] },
        { section: '4.3', statements: ['4.3.r2'] },
      ),
      reason: PAGING,
      check: countsFailures(endpoint),
      mutants: forEndpoint({
        'failed-total': editPages(
          'Counts passed sessions with failed_only.',
          (page) => {
            page['total'] = Number(page['total']) + 5;
          },
          wantsFailures,
        ),
      }),
    })),
    ...both('SERVICE-172', 'SERVICE-173', ({ endpoint, kind, either, forEndpoint }) => ({
      rule: `\`eval\` together with \`failed_only=true\` keeps the ${kind} sessions that match both.`,
      section: either('4.4', '4.3'),
      statements: either(['4.4.4', '4.4.5'], ['4.3.9', '4.3.11']),
      reason: WRONG_FILTER,
      observability: 'provoked',
      check: requirePlainRight(
        [filtersSessions(endpoint, ['eval'], matchesEval), ...plainFailures(endpoint)],
        filtersSessions(endpoint, [NO_FRACTION_STEP], matchesBoth),
      ),
      mutants: forEndpoint({
        'eval-lost': {
          description: 'Ignores eval when failed_only is set.',
          transform: rewriteQuery(endpoint, (query) => query.delete('eval'), wantsFailures),
        },
        'failed-lost': {
          description: 'Ignores failed_only when eval is set.',
          transform: rewriteQuery(
            endpoint,
            (query) => query.delete('failed_only'),
            hasQuery('eval'),
          ),
        },
      }),
    })),
    ...both('SERVICE-174', 'SERVICE-175', ({ endpoint, kind, either, forEndpoint }) => ({
      rule: `With \`failed_only=true\`, \`skip\`, \`limit\`, and \`total\` count failing ${kind} sessions on every page.`,
      section: either('4.4', '4.3'),
      statements: either(['4.4.9', '4.4.10', '4.4.16'], ['4.3.14', '4.3.15', '4.3.r2']),
      reason: PAGING,
      observability: 'provoked',
      check: requirePlainRight(plainFailures(endpoint), pagesFailures(endpoint)),
      mutants: forEndpoint({
        'pages-before-filter': {
          description: 'Applies failed_only to the sessions of a page.',
          transform: filterPage(endpoint),
        },
        'filtered-total-of-page': {
          description: 'Counts only the sessions of the page as total with failed_only.',
          transform: onPages(
            endpoint,
            (page) => {
              page['total'] = sessionsIn(page).length;
            },
            wantsFailures,
          ),
        },
      }),
    })),
  },
};

/** Selects sessions that have a failing eval. */
function hasFailure(session: ResultsObject): boolean {
  return (summaryNumber(session, 'failed_count') ?? 0) > 0;
}

/** What `failed_only` alone has to do. */
function plainFailures(endpoint: ResultsEndpoint): Check[] {
  return [filtersSessions(endpoint, ['failed only'], hasFailure), countsFailures(endpoint)];
}

/**
 * Selects failing sessions that an eval with a matching name scored. The specification does not say
 * whether that eval has to be the one that fails.
 */
function matchesBoth(session: ResultsObject, page: Exchange): ReturnType<FilterRule> {
  const part = queryOf(page, 'eval')?.toLowerCase() ?? '';
  const matching = objectsAt(session, 'eval_outcomes').filter(({ eval_name: name }) =>
    String(name).toLowerCase().includes(part),
  );
  if (matching.length === 0 || !hasFailure(session)) return false;
  const isOnly = matching.length === objectsAt(session, 'eval_outcomes').length;
  const hasOnlyFailures =
    summaryNumber(session, 'failed_count') === summaryNumber(session, 'total_evaluations');
  return isOnly || hasOnlyFailures || 'either';
}

/** Requires a page of failing sessions to be a part of the whole list of them, with its total. */
function pagesFailures(endpoint: ResultsEndpoint): Check {
  return compareWithWhole(
    endpoint,
    (page, whole) =>
      isStep(page, endpoint, FILTERED_PAGE_STEP) && whole.sessions.filter(hasFailure).length > 0,
    (page, whole) => {
      const failing = whole.sessions.filter(hasFailure);
      const [limit, skip] = [Number(queryOf(page, 'limit')), Number(queryOf(page, 'skip'))];
      const expected = Math.max(0, Math.min(limit, failing.length - skip));
      const { length } = sessionsOf(page);
      const total = totalOf(page);
      const isTotalRight =
        typeof total !== 'number' ||
        (total >= failing.length && total <= failing.length + whole.changed.size);
      return [
        ...(length >= expected
          ? []
          : [wrongValue(page, '/items', `${expected} failing sessions`, String(length))]),
        ...(isTotalRight ? [] : [wrongValue(page, '/total', String(failing.length))]),
      ];
    },
  );
}

/** Reads a page of all sessions, and removes those that pass. */
function filterPage(endpoint: ResultsEndpoint): TransformFactory {
  return (): Transform => async (request, forward) => {
    const isPage = request.endpoint === endpoint && wantsFailures(request) && hasSkip(request);
    if (!isPage) return forward(request);
    const response = await forward(
      withQuery(request, (query) => {
        query.delete('failed_only');
      }),
    );
    if (!isSuccess(response)) return response;
    return editBody(response, request, (page) => {
      const items = sessionsIn(page).filter(
        (session) => Number(objectAt(session, 'outcome_summary')['failed_count']) > 0,
      );
      for (const session of items) {
        session['eval_outcomes'] = objectsAt(session, 'eval_outcomes').filter(
          ({ outcome }) => outcome !== 'pass',
        );
      }
      Object.assign(page, { items, total: items.length });
    });
  };
}

function isFailedOnly(endpoint: ResultsEndpoint): (page: Exchange) => boolean {
  return (page) =>
    isResultsPage(endpoint)(page) &&
    queryOf(page, 'failed_only') === 'true' &&
    // The specification does not say whether `eval` also filters the listed outcomes.
    queryOf(page, 'eval') === undefined &&
    sessionsOf(page).length > 0;
}

/** Requires exactly the failing outcomes on pages with `failed_only`. */
function listsOnlyFailures(endpoint: ResultsEndpoint): Check {
  return checkEach(
    isFailedOnly(endpoint),
    (page) =>
      sessionsOf(page).flatMap((session, index): Finding[] => {
        const { eval_outcomes: outcomes } = session;
        const failed = summaryNumber(session, 'failed_count');
        const pointer = `/items/${index}/eval_outcomes`;
        if (!Array.isArray(outcomes) || failed === undefined) return [];
        if (outcomes.length !== failed) {
          const expected = `as many outcomes as \`failed_count\`: ${failed}`;
          return [wrongValue(page, pointer, expected, String(outcomes.length))];
        }
        const hasPassed = outcomes.some(
          (outcome) => resolvePointer(outcome, '/outcome') === 'pass',
        );
        if (!hasPassed) return [];
        return [wrongValue(page, pointer, 'only failing outcomes', 'a passed outcome')];
      }),
    noFailures,
  );
}

/** Requires the same summaries with a filter (default: `failed_only`) and without one. */
function summarizesWholeSession(
  endpoint: ResultsEndpoint,
  isFiltered: (page: Exchange) => boolean = isFailedOnly(endpoint),
): Check {
  return compareWithWhole(
    endpoint,
    isFiltered,
    (page, whole) => {
      const summaries = new Map(
        whole.sessions.map((session) => [identify(session), describeSummary(session)]),
      );
      return sessionsOf(page).flatMap((session, index): Finding[] => {
        const expected = summaries.get(identify(session));
        if (expected === undefined || expected === describeSummary(session)) return [];
        return [wrongValue(page, `/items/${index}/outcome_summary`, expected)];
      });
    },
    noFailures,
  );
}

/** Requires `total` to count the failing sessions. Another requirement judges the list itself. */
function countsFailures(endpoint: ResultsEndpoint): Check {
  return compareWithWhole(
    endpoint,
    (page) => isStep(page, endpoint, 'failed only') && typeof totalOf(page) === 'number',
    (page, whole) => {
      const { length } = whole.sessions.filter(hasFailure);
      const total = Number(totalOf(page));
      const isRight = total >= length && total <= length + whole.changed.size;
      return isRight ? [] : [wrongValue(page, '/total', String(length))];
    },
  );
}
