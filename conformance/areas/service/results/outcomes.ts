/** The evals of a session: its summary and its outcomes (spec 2.6). */
import { formatValue, listAt, resolvePointer } from '../../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import type { Subject } from '../../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { needsSessions, requireControlApi, wrongValue } from '../findings.ts';
import { objectsAt, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import {
  findSeededSession,
  findSession,
  hasControlApi,
  isResultsPage,
  lastPolledPage,
  queryOf,
  sentSeed,
  sessionsOf,
  summaryNumber,
} from '../transcript.ts';
import {
  fastClock,
  hasQuery,
  onSessions,
  onSummary,
  removeKey,
  setKey,
  wantsFailures,
  wantsTraces,
} from '../transforms.ts';
import { both } from './both-endpoints.ts';
import {
  checkSessions,
  hasSessionFields,
  hasTypicalValue,
  isSeededPage,
  OBSERVED_VALUE,
  summaryFields,
  WRONG_TYPE,
} from './evidence.ts';
import { roundTo } from '../../../../src/platform/round.ts';

const outcomeFields = ['eval_name', 'eval_category', 'eval_type', 'outcome', 'reasoning'];

const WRONG_COUNTS = 'Builds pass or fail by these numbers.';

export const outcomes: Subject = {
  requirements: {
    ...both(
      'SERVICE-092',
      'SERVICE-142',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `\`outcome_summary\` of a ${kind} session has the integers \`total_evaluations\`, \`passed_count\`, and \`failed_count\`, and a \`pass_rate\` from 0 to 1.`,
        section: '2.6',
        statements: [either('2.5.9', '2.4.12'), '2.6.1', '2.6.2', '2.6.3', '2.6.4'],
        reason: WRONG_TYPE,
        check: hasSessionFields(
          endpoint,
          '/outcome_summary',
          ...summaryFields.map((field) => `/outcome_summary/${field}`),
        ),
        mutants: forEndpoint({
          'rate-percent': editSessions(
            'Returns pass_rate as a percentage.',
            onSummary(setKey('pass_rate', 50)),
          ),
          'rate-missing': editSessions('Omits pass_rate.', onSummary(removeKey('pass_rate'))),
          'total-count-text': editSessions(
            'Returns total_evaluations as a string.',
            onSummary(setKey('total_evaluations', '2')),
          ),
        }),
      }),
    ),
    ...both(
      'SERVICE-093',
      'SERVICE-143',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `\`eval_outcomes\` of a ${kind} session is an array of objects with the strings \`eval_name\`, \`eval_category\`, \`eval_type\`, \`outcome\`, and \`reasoning\`.`,
        section: '2.6',
        statements: [either('2.5.10', '2.4.13'), '2.6.6'],
        reason: WRONG_TYPE,
        check: hasSessionFields(
          endpoint,
          '/eval_outcomes',
          '/eval_outcomes/*',
          ...outcomeFields.map((field) => `/eval_outcomes/*/${field}`),
        ),
        mutants: forEndpoint({
          'reasoning-missing': editSessions('Omits reasoning.', (session) =>
            objectsAt(session, 'eval_outcomes').forEach(removeKey('reasoning')),
          ),
          'category-null': editSessions('Returns null as eval_category.', (session) =>
            objectsAt(session, 'eval_outcomes').forEach(setKey('eval_category', null)),
          ),
          'outcomes-null': editSessions(
            'Returns null as eval_outcomes.',
            setKey('eval_outcomes', null),
            hasQuery('include_traces'),
          ),
        }),
      }),
    ),
    ...both('SERVICE-094', 'SERVICE-157', ({ endpoint, kind, either, editSessions }) => ({
      rule: `\`passed_count\` plus \`failed_count\` of a ${kind} session is at most \`total_evaluations\`.`,
      statements: ['2.6.1', '2.6.2', '2.6.3'],
      reason: WRONG_COUNTS,
      check: hasPossibleCounts(endpoint),
      mutants: {
        [either('counts-too-many', 'simulations-counts-too-many')]: {
          ...editSessions(
            'Counts failed evaluations as passed.',
            onSummary((summary) => {
              summary['passed_count'] = summary['total_evaluations'];
            }),
          ),
          ...fastClock,
        },
      },
    })),
    ...both('SERVICE-095', 'SERVICE-158', ({ endpoint, kind, either, editSessions }) => ({
      level: 'should',
      rule: `Without \`failed_only\`, \`eval_outcomes\` of a ${kind} session has \`total_evaluations\` entries.`,
      statements: ['1.2'],
      reason: "Programs can't show the reasoning of an outcome that is not listed.",
      check: listsAllOutcomes(endpoint),
      mutants: {
        [either('outcome-left-out', 'simulations-outcome-left-out')]: {
          ...editSessions(
            'Omits one outcome.',
            (session) => {
              session['eval_outcomes'] = objectsAt(session, 'eval_outcomes').slice(1);
            },
            (request) => wantsTraces(request) && !wantsFailures(request),
          ),
          ...fastClock,
        },
      },
    })),
    ...both(
      'SERVICE-123',
      'SERVICE-159',
      ({ endpoint, kind, either, forEndpoint, editSessions }) => ({
        rule: `\`pass_rate\` of a ${kind} session is the share of its evaluations that passed.`,
        statements: ['2.6.4'],
        reason: WRONG_COUNTS,
        check: hasMatchingRate(endpoint),
        mutants: forEndpoint({
          'rate-inverted': editSessions(
            'Returns the share of failed evaluations as pass_rate.',
            onSummary((summary) => {
              summary['pass_rate'] = 1 - Number(summary['pass_rate']);
            }),
          ),
          'rate-of-more': editSessions(
            'Divides pass_rate by one evaluation too many.',
            onSummary((summary) => {
              const total = Number(summary['total_evaluations']) + 1;
              summary['pass_rate'] = Number(summary['passed_count']) / total;
            }),
          ),
          // Only a seeded simulation session has a rate with more decimals.
          ...either(
            {},
            {
              'rate-of-one-digit': editSessions(
                'Rounds pass_rate to one decimal.',
                onSummary((summary) => {
                  summary['pass_rate'] = roundTo(Number(summary['pass_rate']), 1);
                }),
              ),
            },
          ),
        }),
      }),
    ),
    ...both('SERVICE-213', 'SERVICE-214', ({ kind, either, forEndpoint, editSessions }) => ({
      rule: `\`eval_name\` of an outcome of a ${kind} session is the name of the eval that gave it.`,
      section: '2.6',
      statements: ['2.6.6', either('4.4.4', '4.3.9')],
      reason: 'People would look for the cause of a failure in the wrong eval.',
      observability: 'provoked',
      check: either(hasConfiguredNames(), hasSeededOutcomes()),
      mutants: forEndpoint({
        'eval-as-id': {
          ...editSessions('Returns an id as eval_name.', (session) => {
            for (const outcome of objectsAt(session, 'eval_outcomes')) {
              outcome['eval_name'] = `eval-${String(outcome['eval_name']).length}`;
            }
          }),
          // The filter still finds the names.
          alsoKills: [either('SERVICE-111', 'SERVICE-148')],
        },
        'eval-names-swapped': editSessions('Swaps the names of two outcomes.', (session) => {
          const [first, second] = objectsAt(session, 'eval_outcomes');
          if (!first || !second) return;
          const { eval_name: name } = first;
          first['eval_name'] = second['eval_name'];
          second['eval_name'] = name;
        }),
      }),
    })),
    'SERVICE-107': {
      level: 'may',
      rule: '`eval_type` of an outcome is typically `session_level`.',
      statements: ['2.6.7'],
      reason: OBSERVED_VALUE,
      check: hasTypicalValue('production', '/eval_outcomes/0/eval_type', 'session_level'),
    },
    'SERVICE-108': {
      level: 'may',
      rule: '`outcome` of a passed eval is typically `pass`.',
      statements: ['2.6.8'],
      reason: OBSERVED_VALUE,
      check: hasTypicalPass(),
      legal: {
        'outcome-passed': {
          description: 'Uses success and failed as outcomes.',
          transform: onSessions('production', (session) => {
            for (const outcome of objectsAt(session, 'eval_outcomes')) {
              outcome['outcome'] = `${String(outcome['outcome'])}ed`.replace('passed', 'success');
            }
          }),
        },
      },
    },
  },
};

function hasAllNumbers(session: ResultsObject): boolean {
  return summaryFields.every((field) => summaryNumber(session, field) !== undefined);
}

/** Requires that passed and failed evaluations add up to at most the total. */
function hasPossibleCounts(endpoint: ResultsEndpoint): Check {
  return checkSessions(endpoint, hasAllNumbers, (session) => {
    const passed = summaryNumber(session, 'passed_count') ?? 0;
    const failed = summaryNumber(session, 'failed_count') ?? 0;
    const total = summaryNumber(session, 'total_evaluations') ?? 0;
    const expected = `at most ${total} passed and failed evaluations`;
    return passed + failed <= total ? undefined : { pointer: '/outcome_summary', expected };
  });
}

/** Some services round the rate to two decimals. */
const RATE_TOLERANCE = 0.0051;

/** Returns whether a rate is the expected one, except that it may be rounded. */
export const isMatchingRate = (rate: number, expected: number): boolean =>
  Math.abs(expected - rate) <= RATE_TOLERANCE;

/**
 * Requires the rate that follows from the counts. The specification does not say whether evaluations
 * without a verdict count, so both quotients are allowed.
 */
function hasMatchingRate(endpoint: ResultsEndpoint): Check {
  const numbersOf = (session: ResultsObject) => ({
    total: summaryNumber(session, 'total_evaluations') ?? 0,
    passed: summaryNumber(session, 'passed_count') ?? 0,
    failed: summaryNumber(session, 'failed_count') ?? 0,
    rate: summaryNumber(session, 'pass_rate') ?? -1,
  });
  return checkSessions(
    endpoint,
    (session) => {
      const { total, passed, failed, rate } = numbersOf(session);
      return passed + failed > 0 && passed + failed <= total && rate >= 0 && rate <= 1;
    },
    (session) => {
      const { total, passed, failed, rate } = numbersOf(session);
      const allowed = [passed / total, passed / (passed + failed)];
      if (allowed.some((quotient) => isMatchingRate(rate, quotient))) return undefined;
      const expected = `${roundTo(passed / total, 2)} for ${passed} of ${total}`;
      return { pointer: '/outcome_summary/pass_rate', expected };
    },
    needsSessions('No listed session has evaluations.'),
  );
}

/** Returns the outcome of an eval in a session; undefined if the session does not list it. */
const outcomeOf = (session: ResultsObject, name: unknown): unknown =>
  objectsAt(session, 'eval_outcomes').find((outcome) => outcome['eval_name'] === name)?.['outcome'];

/** Returns the words for passed evals, which are those in sessions that passed every eval. */
const readPassWords = (page: Exchange): Set<unknown> =>
  new Set(
    sessionsOf(page)
      .filter((session) => summaryNumber(session, 'failed_count') === 0)
      .flatMap((session) => objectsAt(session, 'eval_outcomes'))
      .map(({ outcome }) => outcome),
  );

/** Requires the outcomes of a session by the names of their evals: passed, or not. */
function findWrongOutcomes(
  page: Exchange,
  session: ResultsObject,
  expected: readonly (readonly [name: unknown, hasPassed: boolean])[],
): Finding[] {
  const passWords = readPassWords(page);
  const names = objectsAt(session, 'eval_outcomes').map(({ eval_name: name }) => name);
  // A number of outcomes other than the expected one violates another requirement.
  if (names.length !== expected.length || passWords.size === 0) return [];
  const pointer = `/items/${sessionsOf(page).indexOf(session)}/eval_outcomes`;
  const unknown = expected.find(([name]) => !names.includes(name));
  if (unknown) return [wrongValue(page, pointer, formatValue(unknown[0]), formatValue(names))];
  const wrong = expected.find(
    ([name, hasPassed]) => passWords.has(outcomeOf(session, name)) !== hasPassed,
  );
  if (!wrong) return [];
  const [name, hasPassed] = wrong;
  const description = `${formatValue(name)} ${hasPassed ? 'passed' : 'failed'}`;
  return [wrongValue(page, pointer, description, formatValue(outcomeOf(session, name)))];
}

/** Requires the names of the evals that the run configured. All conversations pass the first one. */
function hasConfiguredNames(): Check {
  const find = (transcript: Transcript): { session: ResultsObject; page: Exchange } | undefined => {
    const session = findSession(transcript, MIXED_STEP);
    const page = lastPolledPage(transcript);
    return session && page && hasControlApi(transcript) ? { session, page } : undefined;
  };
  return {
    evidence: (transcript) => {
      const found = find(transcript);
      return found ? [found.page] : [];
    },
    judge: (_evidence, transcript) => {
      const found = find(transcript);
      if (!found) return [];
      const [first, second] = listAt(sentSeed(transcript, 'main'), '/evals').map((each) =>
        resolvePointer(each, '/name'),
      );
      const expected = [[first, true] as const, [second, false] as const];
      return findWrongOutcomes(found.page, found.session, expected);
    },
    unjudged: requireControlApi(needsSessions('The results list no conversation of the run.')),
  };
}

/** A conversation that passes the first eval and fails the second one. */
const MIXED_STEP = 'protobuf';

/** Requires the names of the outcomes that the run seeded. */
function hasSeededOutcomes(): Check {
  const listSeeded = (page: Exchange, transcript: Transcript) =>
    sessionsOf(page).flatMap((session) => {
      const seeded = findSeededSession(session, transcript);
      return seeded && seeded.outcomes.length > 0 ? [{ session, seeded }] : [];
    });
  return checkEach(
    (page, transcript) =>
      isSeededPage('whole')(page, transcript) && listSeeded(page, transcript).length > 0,
    (page, transcript) =>
      listSeeded(page, transcript).flatMap(({ session, seeded }) =>
        findWrongOutcomes(
          page,
          session,
          seeded.outcomes.map(
            ({ eval_name: name, outcome }) => [name, outcome === 'pass'] as const,
          ),
        ),
      ),
    requireControlApi(needsSessions('The results list no seeded session.')),
  );
}

/** Requires as many outcomes as evaluations on pages that do not filter outcomes. */
export function listsAllOutcomes(endpoint: ResultsEndpoint): Check {
  return checkSessions(
    endpoint,
    (session, page) =>
      queryOf(page, 'failed_only') === undefined &&
      // The specification does not say whether `eval` also filters the listed outcomes.
      queryOf(page, 'eval') === undefined &&
      Array.isArray(session['eval_outcomes']) &&
      hasAllNumbers(session),
    (session) => {
      const { eval_outcomes: outcomes } = session;
      const total = summaryNumber(session, 'total_evaluations');
      return Array.isArray(outcomes) && outcomes.length === total
        ? undefined
        : { pointer: '/eval_outcomes', expected: `as many as \`total_evaluations\`: ${total}` };
    },
  );
}

function hasTypicalPass(): Check {
  const isPassed = (session: ResultsObject): boolean => {
    const total = summaryNumber(session, 'total_evaluations') ?? 0;
    return total > 0 && summaryNumber(session, 'passed_count') === total;
  };
  const firstOutcomeOf = (session: ResultsObject): unknown =>
    resolvePointer(session, '/eval_outcomes/0/outcome');
  return checkEach(
    (page) => isResultsPage('production')(page) && sessionsOf(page).some(isPassed),
    (page) => {
      const unusual = sessionsOf(page).find(
        (session) => isPassed(session) && firstOutcomeOf(session) !== 'pass',
      );
      if (!unusual) return [];
      return [wrongValue(page, '/items', '"pass"', formatValue(firstOutcomeOf(unusual)))];
    },
    needsSessions(
      'No session passed every eval.',
      'Use a key that sees a session that passes every eval.',
    ),
  );
}
