import {
  formatValue,
  resolvePointer,
  type MessageName,
} from '../../../../../src/contract/index.ts';
import { instantMs } from '../../../../../src/platform/clock.ts';
import { isObject } from '../../../../../src/platform/json.ts';
import {
  checkEach,
  unjudgedAs,
  type Check,
  type Finding,
} from '../../../../engine/checks/check.ts';
import { checkShape } from '../../../../engine/checks/shape.ts';
import { type Exchange } from '../../../../engine/transcript/reading.ts';
import { wrongValue } from '../../findings.ts';
import type { ResultsEndpoint, ResultsObject } from '../../results-api.ts';
import { isResultsPage, queryOf, sessionsOf, summaryNumber, turnsOf } from '../../transcript.ts';

export const noSessions = unjudgedAs('not_observed', 'No page lists a session.');

/** What is wrong with a session. */
interface SessionFault {
  /** JSON pointer into the session. */
  pointer: string;
  expected: string;
}

/** Judges each session on the pages of an endpoint. */
export function checkSessions(
  endpoint: ResultsEndpoint,
  applies: (session: ResultsObject, page: Exchange) => boolean,
  findFault: (session: ResultsObject) => SessionFault | undefined,
  unjudged: Check['unjudged'] = noSessions,
): Check {
  return checkEach(
    (page) =>
      isResultsPage(endpoint)(page) && sessionsOf(page).some((session) => applies(session, page)),
    (page) =>
      sessionsOf(page).flatMap((session, index) => {
        const fault = applies(session, page) ? findFault(session) : undefined;
        return fault ? [wrongValue(page, `/items/${index}${fault.pointer}`, fault.expected)] : [];
      }),
    unjudged,
  );
}

const pageMessages: Readonly<Record<ResultsEndpoint, MessageName>> = {
  production: 'ProductionSessionPage',
  simulations: 'SimulationSessionPage',
};

/** Validates fields of each session against the schema. */
export function hasSessionFields(endpoint: ResultsEndpoint, ...pointers: string[]): Check {
  return checkShape({
    message: pageMessages[endpoint],
    filter: isResultsPage(endpoint),
    places: pointers.map((pointer) => `/items/*${pointer}`),
    unjudged: noSessions,
  });
}

const summaryFields = ['total_evaluations', 'passed_count', 'failed_count', 'pass_rate'];
const outcomeFields = ['eval_name', 'eval_category', 'eval_type', 'outcome', 'reasoning'];

export const hasSummary = (endpoint: ResultsEndpoint): Check =>
  hasSessionFields(
    endpoint,
    '/outcome_summary',
    ...summaryFields.map((field) => `/outcome_summary/${field}`),
  );

export const hasOutcomes = (endpoint: ResultsEndpoint): Check =>
  hasSessionFields(
    endpoint,
    '/eval_outcomes',
    '/eval_outcomes/*',
    ...outcomeFields.map((field) => `/eval_outcomes/*/${field}`),
  );

/** Requires links of the given page, and a different link for each session. */
export function hasLink(endpoint: ResultsEndpoint, pageName: string): Check {
  const link = new RegExp(`^https?://[^\\s?]+/${pageName}/[^/?#\\s]+\\?sessionId=[^&#\\s]+$`, 'i');
  const expected = `{app_url}/${pageName}/{id}?sessionId={id}, starting with https://`;
  const check = checkSessions(
    endpoint,
    ({ url }) => typeof url === 'string',
    ({ url }) => (link.test(String(url)) ? undefined : { pointer: '/url', expected }),
    unjudgedAs('not_observed', 'No session has a link.'),
  );
  return {
    ...check,
    judge: (evidence, transcript) => {
      const malformed = check.judge(evidence, transcript);
      return malformed.length > 0 ? malformed : evidence.flatMap(findSharedLink);
    },
  };
}

/** With fewer sessions, equal ids could be a coincidence: each may be the only one of its run. */
const SAME_IDS_MIN = 3;

/** Finds links that several sessions of a page share. */
function findSharedLink(page: Exchange): Finding[] {
  const linked = sessionsOf(page).filter(({ url }) => typeof url === 'string');
  const sessionByLink = new Map<unknown, string>();
  for (const session of linked) {
    const { url } = session;
    const text = JSON.stringify(session);
    // A session that is listed twice violates another requirement.
    if ((sessionByLink.get(url) ?? text) !== text) {
      return [wrongValue(page, '/items', 'a different link for each session', formatValue(url))];
    }
    sessionByLink.set(url, text);
  }
  const ids = [...sessionByLink.keys()].map((url) => /sessionId=(.*)$/.exec(String(url))?.[1]);
  if (ids.length < SAME_IDS_MIN || new Set(ids).size > 1) return [];
  const received = `sessionId=${ids[0] ?? ''} in every link`;
  return [wrongValue(page, '/items', 'the id of the session in its link', received)];
}

const hasAllNumbers = (session: ResultsObject): boolean =>
  summaryFields.every((field) => summaryNumber(session, field) !== undefined);

/** Requires that passed and failed evaluations add up to at most the total. */
export function hasPossibleCounts(endpoint: ResultsEndpoint): Check {
  return checkSessions(endpoint, hasAllNumbers, (session) => {
    const passed = summaryNumber(session, 'passed_count') ?? 0;
    const failed = summaryNumber(session, 'failed_count') ?? 0;
    const total = summaryNumber(session, 'total_evaluations') ?? 0;
    const expected = `at most ${total} passed and failed evaluations`;
    return passed + failed <= total ? undefined : { pointer: '/outcome_summary', expected };
  });
}

/** Some services round the rate to one decimal. */
const RATE_TOLERANCE = 0.051;

/**
 * Requires the rate that follows from the counts. The specification does not say whether evaluations
 * without a verdict count, so both quotients are allowed.
 */
export function hasMatchingRate(endpoint: ResultsEndpoint): Check {
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
      if (allowed.some((quotient) => Math.abs(quotient - rate) <= RATE_TOLERANCE)) return undefined;
      const expected = `${Math.round((passed / total) * 100) / 100} for ${passed} of ${total}`;
      return { pointer: '/outcome_summary/pass_rate', expected };
    },
    unjudgedAs('not_observed', 'No listed session has evaluations.'),
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
        : { pointer: '/eval_outcomes', expected: `${total} outcomes` };
    },
  );
}

/** Timestamps may be truncated or rounded to whole seconds. */
export const TIME_PRECISION_MS = 1_000;

/** Requires sessions to end no earlier than they start. */
export function endsAfterStart(endpoint: ResultsEndpoint): Check {
  const msAt = (session: ResultsObject, key: string): number | undefined => {
    const value = session[key];
    return typeof value === 'string' ? instantMs(value) : undefined;
  };
  return checkSessions(
    endpoint,
    (session) =>
      msAt(session, 'started_at') !== undefined && msAt(session, 'ended_at') !== undefined,
    (session) => {
      const startMs = msAt(session, 'started_at') ?? 0;
      const endMs = msAt(session, 'ended_at') ?? 0;
      const expected = `no earlier than ${formatValue(session['started_at'])}`;
      return endMs >= startMs - TIME_PRECISION_MS ? undefined : { pointer: '/ended_at', expected };
    },
    unjudgedAs('not_observed', 'No listed session has times that can be compared.'),
  );
}

export const wantsTraces = (page: Exchange): boolean => queryOf(page, 'include_traces') === 'true';

/** Requires sessions without `traces` on pages that do not ask for them. */
export function omitsTraces(endpoint: ResultsEndpoint): Check {
  return checkSessions(
    endpoint,
    (_session, page) => !wantsTraces(page),
    (session) =>
      Object.hasOwn(session, 'traces') ? { pointer: '/traces', expected: 'absent' } : undefined,
  );
}

/** Requires turns with these keys on pages that ask for them. Their types are not specified. */
export function includesTraces(endpoint: ResultsEndpoint, keys: readonly string[]): Check {
  const hasKeys = (turn: unknown): boolean =>
    isObject(turn) && keys.every((key) => Object.hasOwn(turn, key));
  return checkSessions(
    endpoint,
    (_session, page) => wantsTraces(page),
    (session) =>
      Array.isArray(session['traces']) && turnsOf(session).every(hasKeys)
        ? undefined
        : { pointer: '/traces', expected: `turns with ${keys.join(', ')}` },
  );
}

/** Reports the first value that differs from the typical one. */
export function hasTypicalValue(
  endpoint: ResultsEndpoint,
  pointer: string,
  typical: string,
): Check {
  return checkEach(
    (page) =>
      isResultsPage(endpoint)(page) &&
      sessionsOf(page).some((session) => resolvePointer(session, pointer) !== undefined),
    (page) => {
      const sessions = sessionsOf(page);
      const index = sessions.findIndex((session) => {
        const value = resolvePointer(session, pointer);
        return value !== undefined && value !== typical;
      });
      if (index < 0) return [];
      const received = formatValue(resolvePointer(sessions[index], pointer));
      return [wrongValue(page, `/items/${index}${pointer}`, formatValue(typical), received)];
    },
    noSessions,
  );
}
