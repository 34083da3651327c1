/** The filter `failed_only` of both results endpoints (spec 2.6, 4.3, 4.4). */
import { resolvePointer } from '../../../../src/contract/index.ts';
import { checkEach, unjudgedAs, type Check, type Finding } from '../../../engine/checks/check.ts';
import type { Subject } from '../../../engine/requirement.ts';
import type { Exchange } from '../../../engine/transcript/reading.ts';
import { wrongValue } from '../findings.ts';
import { objectsAt, sessionsIn, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import { isResultsPage, isStep, queryOf, sessionsOf, summaryNumber } from '../transcript.ts';
import { hasQuery, onSummary, setKey } from '../transforms.ts';
import { both } from './both-endpoints.ts';
import { compareWithWhole, identify, PAGING } from './evidence.ts';
import { filtersSessions, ignoreParameter, WRONG_FILTER } from './filtering.ts';

const wantsFailures = hasQuery('failed_only', 'true');

const noFailures = unjudgedAs('not_observed', 'No failing session was listed.');

export const failedOnly: Subject = {
  requirements: {
    ...both('SERVICE-112', 'SERVICE-149', ({ endpoint, kind, either, named, editsPages }) => ({
      rule: `\`failed_only=true\` keeps exactly the ${kind} sessions that have a failing eval.`,
      ...either(
        { section: '4.4', statements: ['4.3.11', '4.4.5'] },
        { section: '4.3', statements: ['4.3.11'] },
      ),
      reason: WRONG_FILTER,
      probes: either(['service/production'], []),
      check: filtersSessions(endpoint, ['failed only'], hasFailure),
      mutants: named({
        'failed-ignored': {
          description: 'Ignores failed_only.',
          transform: ignoreParameter(endpoint, 'failed_only'),
          alsoKills: either(['SERVICE-113', 'SERVICE-116'], ['SERVICE-150', 'SERVICE-152']),
        },
        'failed-one-less': {
          ...editsPages(
            'Omits one failing session.',
            (page) => {
              page['items'] = sessionsIn(page).slice(1);
              page['total'] = Number(page['total']) - 1;
            },
            wantsFailures,
          ),
          alsoKills: [either('SERVICE-116', 'SERVICE-152')],
        },
      }),
    })),
    ...both('SERVICE-113', 'SERVICE-150', ({ endpoint, kind, either, named, editsSessions }) => ({
      rule: `With \`failed_only=true\`, \`eval_outcomes\` of a ${kind} session has exactly its \`failed_count\` failing outcomes.`,
      ...either(
        { section: '4.4', statements: ['4.3.12', '4.3.r2c', '4.3.r2d', '4.4.5', '4.4.16'] },
        { section: '4.3', statements: ['4.3.12', '4.3.r2c', '4.3.r2d'] },
      ),
      reason: WRONG_FILTER,
      check: listsOnlyFailures(endpoint),
      mutants: named({
        'failed-lists-all': editsSessions(
          'Lists passed outcomes with failed_only.',
          (session) => {
            const outcomes = objectsAt(session, 'eval_outcomes');
            session['eval_outcomes'] = [...outcomes, { ...outcomes[0], outcome: 'pass' }];
          },
          wantsFailures,
        ),
        'failed-lists-passed': editsSessions(
          'Lists passed instead of failing outcomes with failed_only.',
          (session) => objectsAt(session, 'eval_outcomes').forEach(setKey('outcome', 'pass')),
          wantsFailures,
        ),
        'failed-one-alone': editsSessions(
          'Lists only one failing outcome per session.',
          (session) => {
            session['eval_outcomes'] = objectsAt(session, 'eval_outcomes').slice(0, 1);
          },
          wantsFailures,
        ),
      }),
    })),
    ...both('SERVICE-115', 'SERVICE-151', ({ endpoint, kind, either, named, editsSessions }) => ({
      rule: `With \`failed_only=true\`, \`outcome_summary\` of a ${kind} session still covers the whole session.`,
      ...either(
        { section: '2.6', statements: ['2.6.5', '4.3.r2b', '4.4.16'] },
        { section: '4.3', statements: ['2.6.5', '4.3.r2b'] },
      ),
      reason: 'A failing session would look as if none of its evals had passed.',
      check: summarizesWholeSession(endpoint),
      mutants: named({
        'failed-summary': editsSessions(
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
    })),
    ...both('SERVICE-116', 'SERVICE-152', ({ endpoint, kind, either, named, editsPages }) => ({
      rule: `With \`failed_only=true\`, \`total\` counts the failing ${kind} sessions.`,
      ...either(
        { section: '4.4', statements: ['4.3.r2', '4.4.15', '4.4.16'] },
        { section: '4.3', statements: ['4.3.r2'] },
      ),
      reason: PAGING,
      check: countsFailures(endpoint),
      mutants: named({
        'failed-total': editsPages(
          'Counts passed sessions with failed_only.',
          (page) => {
            page['total'] = Number(page['total']) + 5;
          },
          wantsFailures,
        ),
      }),
    })),
  },
};

/** Selects sessions that have a failing eval. */
function hasFailure(session: ResultsObject): boolean {
  return (summaryNumber(session, 'failed_count') ?? 0) > 0;
}

function isFailedOnly(endpoint: ResultsEndpoint): (page: Exchange) => boolean {
  return (page) =>
    isResultsPage(endpoint)(page) &&
    queryOf(page, 'failed_only') === 'true' &&
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
          return [wrongValue(page, pointer, `${failed} outcomes`, String(outcomes.length))];
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

/** Requires the same summaries with and without `failed_only`. */
function summarizesWholeSession(endpoint: ResultsEndpoint): Check {
  return compareWithWhole(
    endpoint,
    isFailedOnly(endpoint),
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

function describeSummary(session: ResultsObject): string {
  const fields = ['total_evaluations', 'passed_count', 'failed_count', 'pass_rate'];
  return fields.map((field) => `${field} ${summaryNumber(session, field)}`).join(', ');
}

/** Requires `total` to count the failing sessions. Another requirement judges the list itself. */
function countsFailures(endpoint: ResultsEndpoint): Check {
  const totalOf = ({ json }: Exchange): unknown => resolvePointer(json, '/total');
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
