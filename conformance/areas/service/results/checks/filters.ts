import { formatValue, PAGE_LIMIT_MAX, resolvePointer } from '../../../../../src/contract/index.ts';
import { instantMs } from '../../../../../src/platform/clock.ts';
import {
  checkEach,
  unjudgedAs,
  type Check,
  type Finding,
} from '../../../../engine/checks/check.ts';
import { type Exchange, type Transcript } from '../../../../engine/transcript/reading.ts';
import { wrongValue } from '../../findings.ts';
import type { ResultsEndpoint, ResultsObject } from '../../results-api.ts';
import { isStep, type NameFilter, type ResultsStep } from '../../steps.ts';
import {
  findSeededSession,
  findUpload,
  hasControlApi,
  isResultsPage,
  lastAccepted,
  queryOf,
  sentChatSpans,
  sentSeed,
  sessionsOf,
  startedAtMs,
  summaryNumber,
} from '../../transcript.ts';
import { findWholePage, identify, noWholePage } from './pages.ts';
import { TIME_PRECISION_MS } from './sessions.ts';

/** Decides whether a filtered page must list a session; `either` if the run cannot know. */
export type FilterRule = (
  session: ResultsObject,
  page: Exchange,
  transcript: Transcript,
) => boolean | 'either';

/** Requires the pages of some steps to list exactly the sessions that the rule selects. */
export function filtersSessions(
  endpoint: ResultsEndpoint,
  steps: readonly ResultsStep[],
  rule: FilterRule,
): Check {
  return {
    evidence: (transcript) => {
      const whole = findWholePage(transcript, endpoint);
      if (!whole || sessionsOf(whole).length === 0) return [];
      return findPages(transcript, endpoint, steps);
    },
    judge: (evidence, transcript) => {
      const whole = findWholePage(transcript, endpoint);
      if (!whole) return [];
      return evidence.flatMap((page) => findFilterFaults(page, whole, rule, transcript));
    },
    unjudged: noWholePage,
  };
}

const findPages = (
  { exchanges }: Transcript,
  endpoint: ResultsEndpoint,
  steps: readonly ResultsStep[],
): Exchange[] =>
  exchanges.filter((page) => isResultsPage(endpoint)(page) && isStep(page, endpoint, ...steps));

function findFilterFaults(
  page: Exchange,
  whole: Exchange,
  rule: FilterRule,
  transcript: Transcript,
): Finding[] {
  const all = sessionsOf(whole);
  const ruleResults = new Map(
    all.map((session) => [identify(session), rule(session, page, transcript)]),
  );
  const listed = new Set(sessionsOf(page).map(identify));
  const required = new Set(
    [...ruleResults].filter(([, result]) => result === true).map(([identity]) => identity),
  );
  const missing = [...required].filter((identity) => !listed.has(identity));
  const extra = [...listed].filter((identity) => !(ruleResults.get(identity) ?? false));
  if (missing.length + extra.length === 0) return [];
  const expected = `${required.size} of the ${all.length} sessions`;
  const example =
    missing[0] === undefined ? `including ${extra[0] ?? ''}` : `without ${missing[0]}`;
  return [wrongValue(page, '/items', expected, `${listed.size}, ${example}`)];
}

/** Returns the steps that use a name filter. */
export const nameFilterSteps = (filter: NameFilter): readonly ResultsStep[] => [
  filter,
  `${filter} none`,
  `${filter} with %`,
  `${filter} with _`,
  `${filter} with .`,
  ...(filter === 'run' ? (['run by session id'] as const) : []),
  ...(filter === 'agent' ? (['agent by scenario'] as const) : []),
];

const containsText = (value: unknown, part: string | undefined): boolean =>
  typeof value === 'string' &&
  part !== undefined &&
  value.toLowerCase().includes(part.toLowerCase());

/** Selects sessions by the name of their run. */
export const matchesRun: FilterRule = (session, page) =>
  containsText(session['run'], queryOf(page, 'run'));

/** Selects sessions that have an eval with a matching name. */
export const matchesEval: FilterRule = ({ eval_outcomes: outcomes }, page) =>
  Array.isArray(outcomes) &&
  outcomes.some((outcome) =>
    containsText(resolvePointer(outcome, '/eval_name'), queryOf(page, 'eval')),
  );

/**
 * Selects sessions by the name or URL of their agent. If the URL is unknown, a page may list all
 * sessions of the agent or none.
 */
export const matchesAgent: FilterRule = (session, page, transcript) => {
  const part = queryOf(page, 'agent');
  const { agent } = session;
  if (containsText(agent, part)) return true;
  const url = seededAgentUrls(transcript).get(agent);
  if (url !== undefined) return containsText(url, part);
  // A valid URL contains a percent sign only as part of an escape sequence.
  if (part?.includes('%')) return false;
  const whole = findWholePage(transcript, 'simulations');
  const countOfAgent = (candidate: Exchange): number =>
    sessionsOf(candidate).filter((other) => other['agent'] === agent).length;
  return whole && countOfAgent(page) === countOfAgent(whole) ? 'either' : false;
};

function seededAgentUrls(transcript: Transcript): Map<unknown, unknown> {
  const agents =
    hasControlApi(transcript) && resolvePointer(sentSeed(transcript, 'main'), '/agents');
  return new Map(
    (Array.isArray(agents) ? agents : []).map((agent) => [
      resolvePointer(agent, '/name'),
      resolvePointer(agent, '/url'),
    ]),
  );
}

/** Selects sessions that have a failing eval. */
export const hasFailure: FilterRule = (session) =>
  (summaryNumber(session, 'failed_count') ?? 0) > 0;

const isFailedOnly =
  (endpoint: ResultsEndpoint) =>
  (page: Exchange): boolean =>
    isResultsPage(endpoint)(page) &&
    queryOf(page, 'failed_only') === 'true' &&
    sessionsOf(page).length > 0;

const noFailures = unjudgedAs('not_observed', 'No failing session was listed.');

/** Requires exactly the failing outcomes on pages with `failed_only`. */
export function listsOnlyFailures(endpoint: ResultsEndpoint): Check {
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
export function summarizesWholeSession(endpoint: ResultsEndpoint): Check {
  return {
    evidence: (transcript) =>
      findWholePage(transcript, endpoint)
        ? transcript.exchanges.filter(isFailedOnly(endpoint))
        : [],
    judge(evidence, transcript) {
      const whole = findWholePage(transcript, endpoint);
      const summaries = new Map(
        (whole ? sessionsOf(whole) : []).map((session) => [
          identify(session),
          describeSummary(session),
        ]),
      );
      return evidence.flatMap((page) =>
        sessionsOf(page).flatMap((session, index): Finding[] => {
          const expected = summaries.get(identify(session));
          if (expected === undefined || expected === describeSummary(session)) return [];
          return [wrongValue(page, `/items/${index}/outcome_summary`, expected)];
        }),
      );
    },
    unjudged: noFailures,
  };
}

function describeSummary(session: ResultsObject): string {
  const fields = ['total_evaluations', 'passed_count', 'failed_count', 'pass_rate'];
  return fields.map((field) => `${field} ${summaryNumber(session, field)}`).join(', ');
}

/** Requires `total` to count the failing sessions. Another requirement judges the list itself. */
export function countsFailures(endpoint: ResultsEndpoint): Check {
  return {
    evidence: (transcript) =>
      findWholePage(transcript, endpoint)
        ? findPages(transcript, endpoint, ['failed only']).filter(
            ({ json }) => typeof resolvePointer(json, '/total') === 'number',
          )
        : [],
    judge(evidence, transcript) {
      const whole = findWholePage(transcript, endpoint);
      const count = (whole ? sessionsOf(whole) : []).filter(
        (session) => (summaryNumber(session, 'failed_count') ?? 0) > 0,
      ).length;
      return evidence
        .filter(({ json }) => resolvePointer(json, '/total') !== count)
        .map((page) => wrongValue(page, '/total', String(count)));
    },
    unjudged: noWholePage,
  };
}

type TimeFilter = 'started_after' | 'started_before';

/** Returns the exact start of a session that the run sent; undefined for other sessions. */
function exactStartMs(session: ResultsObject, transcript: Transcript): number | undefined {
  const id = session['source_session_id'];
  if (id === undefined) return findSeededSession(session, transcript)?.startMs;
  if (typeof id !== 'string') return undefined;
  const [firstSpan] = sentChatSpans(id, transcript);
  if (firstSpan) return Number(firstSpan.startNs / 1_000_000n);
  const upload = findUpload(transcript);
  const startedAt = upload?.['session_id'] === id ? upload['started_at'] : undefined;
  return typeof startedAt === 'string' ? instantMs(startedAt) : undefined;
}

/**
 * Selects sessions by their start. Listed times may be truncated or rounded, so sessions that the
 * run did not send are undecided near the bound.
 */
const matchesTime =
  (filter: TimeFilter): FilterRule =>
  (session, page, transcript) => {
    const boundMs = startedAtMs({ started_at: queryOf(page, filter) });
    const listedMs = startedAtMs(session);
    const sentMs = exactStartMs(session, transcript);
    const isExact =
      sentMs !== undefined &&
      (listedMs === undefined || Math.abs(listedMs - sentMs) < TIME_PRECISION_MS);
    const startMs = isExact ? sentMs : listedMs;
    if (boundMs === undefined || startMs === undefined) return 'either';
    if (!isExact && Math.abs(startMs - boundMs) <= TIME_PRECISION_MS) return 'either';
    return filter === 'started_after' ? startMs >= boundMs : startMs <= boundMs;
  };

/**
 * Requires a time filter to select exactly the right sessions. The period of the run is a time filter
 * too: sessions in the period that are listed without it must also be listed with it. Times without
 * a zone cannot be compared.
 */
export function filtersByTime(endpoint: ResultsEndpoint, filter: TimeFilter): Check {
  const rule = matchesTime(filter);
  const step = filter === 'started_after' ? 'started after' : 'started before';
  const check = filtersSessions(endpoint, [step], rule);
  return {
    ...check,
    evidence(transcript) {
      const whole = findWholePage(transcript, endpoint);
      const sessions = whole ? sessionsOf(whole) : [];
      const filtered = check
        .evidence(transcript)
        .filter((page) => sessions.some((session) => rule(session, page, transcript) !== 'either'));
      return whole && sessionsInPeriod(endpoint, filter, whole, transcript).length > 0
        ? [...filtered, whole]
        : filtered;
    },
    judge(evidence, transcript) {
      const whole = findWholePage(transcript, endpoint);
      const findings = check.judge(
        evidence.filter((page) => page !== whole),
        transcript,
      );
      return whole && evidence.includes(whole)
        ? [...findings, ...findMissingInPeriod(endpoint, filter, whole, transcript)]
        : findings;
    },
  };
}

/** Returns sessions of the unfiltered page that are in the period, on the side of this bound. */
function sessionsInPeriod(
  endpoint: ResultsEndpoint,
  filter: TimeFilter,
  whole: Exchange,
  transcript: Transcript,
): ResultsObject[] {
  const unfiltered = lastAccepted(transcript, endpoint, 'defaults');
  const afterMs = startedAtMs({ started_at: queryOf(whole, 'started_after') });
  const beforeMs = startedAtMs({ started_at: queryOf(whole, 'started_before') });
  if (!unfiltered || afterMs === undefined || beforeMs === undefined) return [];
  return sessionsOf(unfiltered).filter((session) => {
    const startMs = startedAtMs(session);
    if (startMs === undefined) return false;
    const isNearStart = startMs - afterMs < beforeMs - startMs;
    return (
      startMs > afterMs + TIME_PRECISION_MS &&
      startMs < beforeMs - TIME_PRECISION_MS &&
      isNearStart === (filter === 'started_after')
    );
  });
}

function findMissingInPeriod(
  endpoint: ResultsEndpoint,
  filter: TimeFilter,
  whole: Exchange,
  transcript: Transcript,
): Finding[] {
  if (sessionsOf(whole).length >= PAGE_LIMIT_MAX) return [];
  const listed = new Set(sessionsOf(whole).map(identify));
  const missing = sessionsInPeriod(endpoint, filter, whole, transcript).find(
    (session) => !listed.has(identify(session)),
  );
  if (!missing) return [];
  const startedAt = formatValue(missing['started_at']);
  const expected = `the session that started at ${startedAt}, which is listed without ${filter}`;
  return [wrongValue(whole, '/items', expected, 'not listed')];
}
