/** `total` of the pages of both results endpoints (spec 2.6, 4.3, 4.4). */
import { checkEach, type Check } from '../../../engine/checks/check.ts';
import type { Subject } from '../../../engine/requirement.ts';
import { requireControlApi, wrongValue } from '../findings.ts';
import type { ResultsEndpoint } from '../results-api.ts';
import type { ResultsStep } from '../steps.ts';
import {
  isResultsPage,
  isStep,
  limitOf,
  seededSessions,
  sessionsOf,
  totalOf,
} from '../transcript.ts';
import { hasQuery, intrusiveOnly, onPages, wantsFailures } from '../transforms.ts';
import { both } from './both-endpoints.ts';
import { isSeededPage, PAGING, TIME_AND_EVAL_STEP } from './evidence.ts';
import { nameAndEvalStep } from './filtering.ts';
import { countManySessions, noManySessions } from './many-sessions.ts';
import { nameFilterSteps } from './name-filters.ts';
import { findWrongNumber } from './pages.ts';
import { timeFilterSteps } from './time-filters.ts';
import { noWholeList } from './whole-list.ts';

export const totals: Subject = {
  requirements: {
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
    ...both('SERVICE-230', 'SERVICE-231', ({ endpoint, kind, either, forEndpoint, editPages }) => ({
      rule: `With a filter by name or time, \`total\` counts the ${kind} sessions that match.`,
      section: '2.6',
      statements: ['2.6.11', either('4.4.12', '4.3.17')],
      reason: PAGING,
      observability: 'provoked',
      check: countsMatching(endpoint),
      mutants: forEndpoint({
        'total-before-eval': editPages(
          'Counts sessions that the filter eval leaves out.',
          (page) => {
            page['total'] = Number(page['total']) + 3;
          },
          (request) => hasQuery('eval')(request) && !wantsFailures(request),
        ),
        'total-before-name': editPages(
          `Counts sessions that the filter ${either('run', 'agent')} leaves out.`,
          (page) => {
            page['total'] = Number(page['total']) + 3;
          },
          (request) => hasQuery(either('run', 'agent'))(request) && !wantsFailures(request),
        ),
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
};

/** Requires the number of seeded sessions as the total of pages that list only some of them. */
function countsManySessions(endpoint: ResultsEndpoint): Check {
  return checkEach(
    (page, transcript) =>
      page.endpoint === endpoint && countManySessions(page, transcript) !== undefined,
    (page, transcript) => findWrongNumber(page, '/total', countManySessions(page, transcript) ?? 0),
    noManySessions(endpoint),
  );
}

/**
 * Requires the number of listed sessions as the total of filtered pages that list all of them. Another
 * requirement judges which ones they list.
 */
function countsMatching(endpoint: ResultsEndpoint): Check {
  const filters = [...Object.values(nameFilterSteps), ...Object.values(timeFilterSteps)];
  const steps: readonly ResultsStep[] = [
    ...filters.flatMap((names) => [...names]),
    nameAndEvalStep('run'),
    nameAndEvalStep('agent'),
    TIME_AND_EVAL_STEP,
  ];
  return checkEach(
    (page) =>
      isResultsPage(endpoint)(page) &&
      isStep(page, endpoint, ...steps) &&
      sessionsOf(page).length < limitOf(page),
    (page) => findWrongNumber(page, '/total', sessionsOf(page).length),
    noWholeList(endpoint),
  );
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
