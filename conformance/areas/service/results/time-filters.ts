/** The filters by start time of both results endpoints (spec 4.3, 4.4). */
import { formatValue } from '../../../../src/contract/index.ts';
import { instantMs, isoTime, systemClock } from '../../../../src/platform/clock.ts';
import {
  checkEach,
  outcomeFinding,
  unjudgedAs,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import { respondInstead, to, type When } from '../../../engine/mutants/combinators.ts';
import type { ProxyRequest, TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { MutantEntry, RequirementEntry, Subject } from '../../../engine/requirement.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import { onForeignService } from '../control-api/foreign-service.ts';
import { requirePlainRight, wrongValue } from '../findings.ts';
import {
  objectsAt,
  queryParameter,
  sessionsIn,
  type ResultsEndpoint,
  type ResultsObject,
  type TimeFilter,
} from '../results-api.ts';
import type { ResultsStep } from '../steps.ts';
import {
  findSeededSession,
  findUpload,
  isStep,
  lastAccepted,
  queryOf,
  sentChatSpans,
  sessionsOf,
  startedAtMs,
} from '../transcript.ts';
import { hasQuery, onPages, refusal, rewriteQuery } from '../transforms.ts';
import { both, type EndpointRules } from './both-endpoints.ts';
import {
  BEFORE_ALONE_STEP,
  identify,
  NO_FRACTION_STEP,
  OFFSET_STEP,
  TIME_AND_EVAL_STEP,
  TIME_PRECISION_MS,
} from './evidence.ts';
import {
  filtersSessions,
  ignoreParameter,
  isFilterRead,
  replaceFilter,
  WRONG_FILTER,
  type FilterRule,
} from './filtering.ts';
import { findTimeHint } from './filter-hints.ts';
import { hideDeletedSimulations } from './links.ts';
import { filtersByEval, matchesEval } from './name-filters.ts';
import { findWholeList, noWholeList } from './whole-list.ts';

/** The steps that use a time filter. */
export const timeFilterSteps: Readonly<Record<TimeFilter, readonly ResultsStep[]>> = {
  started_after: ['started after'],
  started_before: ['started before', BEFORE_ALONE_STEP],
};

/** Reads the time of a filter before its offset as UTC. */
const ignoreOffset = (
  endpoint: ResultsEndpoint,
  filter: TimeFilter,
  offset: string,
): TransformFactory =>
  rewriteQuery(
    endpoint,
    (query) => query.set(filter, (query.get(filter) ?? '').replace(offset, 'Z')),
    hasOffset,
  );

/** Matches reads with a time that has an offset instead of Z. */
const hasOffset: When = ({ path }) =>
  queryParameter(path, 'started_after')?.endsWith('+02:00') === true;

export const timeFilters: Subject = {
  requirements: {
    ...both('SERVICE-225', 'SERVICE-226', ({ endpoint, kind, either, forEndpoint }) => ({
      rule: `\`started_after\` together with \`eval\` keeps the ${kind} sessions that match both.`,
      section: either('4.4', '4.3'),
      statements: either(['4.4.4', '4.4.6'], ['4.3.7', '4.3.9']),
      reason: WRONG_FILTER,
      observability: 'provoked',
      check: requirePlainRight(
        [filtersByEval(endpoint), filtersByTime(endpoint, 'started_after')],
        filtersSessions(
          endpoint,
          [TIME_AND_EVAL_STEP],
          (session, page, transcript) =>
            matchesEval(session, page) && matchesTime('started_after')(session, page, transcript),
        ),
      ),
      mutants: forEndpoint({
        'after-ignored-with-eval': {
          description: 'Ignores started_after together with eval.',
          // The other reads with eval have the period of the run, and all of its sessions start then.
          transform: rewriteQuery(
            endpoint,
            (query) => query.delete('started_after'),
            hasQuery('eval'),
          ),
        },
        'listed-per-eval': {
          description: 'Lists a session once for each of its evals that match.',
          transform: onPages(endpoint, listPerEval, hasQuery('eval')),
        },
        ...either(
          {},
          {
            'deleted-simulation-unfiltered': {
              description: 'Lists no session of a deleted simulation with the filter eval.',
              transform: onPages('simulations', hideDeletedSimulations, hasQuery('eval')),
            },
          },
        ),
      }),
    })),
    ...both('SERVICE-220', 'SERVICE-221', ({ endpoint, kind, either, forEndpoint }) => ({
      rule: `The time filters of ${kind} sessions accept a time without a fraction of a second.`,
      statements: either(['4.4.6', '4.4.7'], ['4.3.7', '4.3.8']),
      reason: 'Many programs write times in whole seconds.',
      observability: 'provoked',
      check: acceptsWholeSeconds(endpoint),
      mutants: forEndpoint({
        'whole-second-refused': {
          description: 'Refuses times without a fraction.',
          transform: respondInstead(to(endpoint, hasWholeSeconds), () => refusal(400)),
        },
      }),
    })),
    ...both('SERVICE-117', 'SERVICE-153', (rules) => ({
      ...byTime('after', rules),
      statements: [rules.either('4.4.6', '4.3.7')],
    })),
    ...both('SERVICE-118', 'SERVICE-154', (rules) => ({
      ...byTime('before', rules),
      statements: [rules.either('4.4.7', '4.3.8')],
    })),
    ...both('SERVICE-170', 'SERVICE-171', ({ endpoint, kind, either, forEndpoint }) => ({
      rule: `The time filters of ${kind} sessions accept a time with an offset such as \`+02:00\` or \`-03:00\`.`,
      statements: either(['4.4.6', '4.4.7'], ['4.3.7', '4.3.8']),
      reason: 'Programs in other time zones would get the sessions of the wrong hours.',
      observability: 'provoked',
      check: requirePlainRight([filtersByTime(endpoint, 'started_after')], acceptsOffset(endpoint)),
      mutants: forEndpoint({
        'offset-refused': {
          description: 'Refuses times with an offset.',
          transform: respondInstead(to(endpoint, hasOffset), () => refusal(400)),
        },
        'offset-ignored': {
          description: 'Reads the time before an offset as UTC.',
          transform: ignoreOffset(endpoint, 'started_after', '+02:00'),
        },
        ...either(
          {
            'negative-offset-ignored': {
              description: 'Reads the time before a negative offset as UTC.',
              transform: ignoreOffset(endpoint, 'started_before', '-03:00'),
            },
          },
          {},
        ),
      }),
    })),
  },
};

/** Lists each session as often as an outcome has a name that matches, like a join in SQL. */
function listPerEval(page: ResultsObject, { path }: ProxyRequest): void {
  const part = (queryParameter(path, 'eval') ?? '').toLowerCase();
  const items = sessionsIn(page).flatMap((session) => {
    const matching = objectsAt(session, 'eval_outcomes').filter(({ eval_name: name }) =>
      String(name).toLowerCase().includes(part),
    );
    return Array.from({ length: Math.max(1, matching.length) }, () => session);
  });
  Object.assign(page, { items, total: items.length });
}

/** Requires the same sessions for a time with an offset as the time in UTC would select. */
function acceptsOffset(endpoint: ResultsEndpoint): Check {
  const filters = filtersSessions(endpoint, [OFFSET_STEP], matchesTime('started_after'));
  return {
    evidence: (transcript) => [
      ...transcript.exchanges.filter(
        (page) => isStep(page, endpoint, OFFSET_STEP) && page.response && !isAccepted(page),
      ),
      ...filters.evidence(transcript),
    ],
    judge: (evidence, transcript) => [
      ...evidence
        .filter((page) => !isAccepted(page))
        .map((page) => outcomeFinding(page, 'a 2xx response to a time with an offset')),
      ...filters.judge(evidence.filter(isAccepted), transcript),
    ],
    unjudged: noWholeList(endpoint),
  };
}

/** Writes the rule of a time filter, except its statements. */
function byTime(
  order: 'after' | 'before',
  { endpoint, kind, either, forEndpoint }: EndpointRules,
): Omit<RequirementEntry, 'statements'> {
  const filter: TimeFilter = `started_${order}`;
  const byEnd = filterByEnd(endpoint, filter);
  return {
    rule: `The filter \`${filter}\` keeps the ${kind} sessions that started at or ${order} that time.`,
    reason: WRONG_FILTER,
    check: filtersByTime(endpoint, filter),
    mutants: {
      ...forEndpoint({
        [`${order}-exclusive`]: {
          description: `Excludes sessions that start exactly at ${filter}.`,
          transform: shiftTime(endpoint, filter, order === 'after' ? 1 : -1),
        },
        [`${order}-ignored`]: {
          description: `Ignores ${filter}.`,
          transform: ignoreParameter(endpoint, filter),
        },
        [`${order}-by-end`]: byEnd,
        [`${order}-by-day`]: {
          description: `Truncates ${filter} to the day.`,
          transform: truncateToDay(endpoint, filter),
        },
        ...(order === 'before' && {
          'before-needs-after': {
            description: 'Ignores started_before without started_after.',
            transform: rewriteQuery(
              endpoint,
              (query) => query.delete(filter),
              (request) => isFilterRead(request) && !hasQuery('started_after')(request),
            ),
          },
        }),
        // No simulation session starts between the bound and its whole second.
        ...(order === 'before' || endpoint === 'production'
          ? {
              [`${order}-by-second`]: {
                description: `Truncates ${filter} to the second.`,
                transform: truncateToSecond(endpoint, filter),
              },
            }
          : {}),
      }),
      ...either({}, { [`strange-${order}-by-end`]: onForeignService(byEnd) }),
    },
  };
}

/** Matches reads of a period whose start has no fraction of a second. */
function hasWholeSeconds({ path }: { path: string }): boolean {
  return /:\d\dZ$/.test(queryParameter(path, 'started_after') ?? '');
}

/** Requires that a read is accepted whose times have no fraction, if both of its filters are accepted alone. */
function acceptsWholeSeconds(endpoint: ResultsEndpoint): Check {
  const isWholeSecond = (page: Exchange): boolean => hasWholeSeconds({ path: page.request.path });
  const arePlainAccepted = (transcript: Transcript): boolean =>
    (['eval', 'failed only'] as const).every(
      (step) => lastAccepted(transcript, endpoint, step) !== undefined,
    );
  return checkEach(
    (page, transcript) =>
      isStep(page, endpoint, NO_FRACTION_STEP) &&
      page.response !== undefined &&
      isWholeSecond(page) &&
      arePlainAccepted(transcript),
    (page) =>
      isAccepted(page)
        ? []
        : [outcomeFinding(page, 'a 2xx response to times without a fraction, such as 09:30:00Z')],
    unjudgedAs('not_observed', 'No read with two filters had times without a fraction.'),
  );
}

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
function matchesTime(filter: TimeFilter): FilterRule {
  return (session, page, transcript) => {
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
}

/**
 * Requires a time filter to select exactly the right sessions. The period of the run is a time filter
 * too: sessions in the period that are listed without it must also be listed with it. Times without
 * a zone cannot be compared.
 */
function filtersByTime(endpoint: ResultsEndpoint, filter: TimeFilter): Check {
  const rule = matchesTime(filter);
  const check = filtersSessions(endpoint, timeFilterSteps[filter], rule);
  return {
    ...check,
    evidence(transcript) {
      const whole = findWholeList(transcript, endpoint);
      const sessions = whole?.sessions ?? [];
      const filtered = check
        .evidence(transcript)
        .filter((page) => sessions.some((session) => rule(session, page, transcript) !== 'either'));
      return whole && sessionsInPeriod(endpoint, filter, whole.page, transcript).length > 0
        ? [...filtered, whole.page]
        : filtered;
    },
    judge(evidence, transcript) {
      const whole = findWholeList(transcript, endpoint)?.page;
      const filtered = check.judge(
        evidence.filter((page) => page !== whole),
        transcript,
      );
      const findings = filtered.map((finding) => {
        const page = evidence.find(({ id }) => id === finding.exchange);
        if (!page) return finding;
        const read = { page, filter, endpoint, rule, exactStartMs };
        return { hint: findTimeHint(read, transcript), ...finding };
      });
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

const PERIOD_HINT =
  'With both filters, the list is empty: started_after is the lower bound, and started_before is the upper one.';

function findMissingInPeriod(
  endpoint: ResultsEndpoint,
  filter: TimeFilter,
  whole: Exchange,
  transcript: Transcript,
): Finding[] {
  const listed = new Set(sessionsOf(whole).map(identify));
  const missing = sessionsInPeriod(endpoint, filter, whole, transcript).find(
    (session) => !listed.has(identify(session)),
  );
  if (!missing) return [];
  const startedAt = formatValue(missing['started_at']);
  const expected = `the session that started at ${startedAt}, which is listed without ${filter}`;
  const finding = wrongValue(whole, '/items', expected, 'not listed');
  return [sessionsOf(whole).length > 0 ? finding : { ...finding, hint: PERIOD_HINT }];
}

/** A service that applies a time filter to the end instead of the start. */
function filterByEnd(endpoint: ResultsEndpoint, filter: TimeFilter): MutantEntry {
  return {
    description: `Compares ${filter} with the end of sessions.`,
    transform: replaceFilter(endpoint, filter, (session, bound) => {
      const endMs = instantMs(String(session['ended_at'])) ?? 0;
      const boundMs = instantMs(bound) ?? 0;
      return filter === 'started_after' ? endMs >= boundMs : endMs <= boundMs;
    }),
  };
}

/** Moves the time of a filter by some milliseconds. */
function shiftTime(endpoint: ResultsEndpoint, filter: TimeFilter, ms: number): TransformFactory {
  return rewriteQuery(
    endpoint,
    (query) => {
      const boundMs = instantMs(query.get(filter) ?? '');
      if (boundMs !== undefined) query.set(filter, isoTime(boundMs + ms));
    },
    isFilterRead,
  );
}

/** Moves the time of a filter to the start of its second. */
function truncateToSecond(endpoint: ResultsEndpoint, filter: TimeFilter): TransformFactory {
  return rewriteQuery(
    endpoint,
    (query) => query.set(filter, (query.get(filter) ?? '').replace(/\.\d+/, '.000')),
    (request) => isFilterRead(request) && hasQuery(filter)(request),
  );
}

/** Moves the time of a filter to the start of its day, unless it is in the future. */
function truncateToDay(endpoint: ResultsEndpoint, filter: TimeFilter): TransformFactory {
  return rewriteQuery(endpoint, (query) => {
    const boundMs = instantMs(query.get(filter) ?? '');
    if (boundMs === undefined || boundMs > systemClock.nowMs()) return;
    query.set(filter, `${isoTime(boundMs).slice(0, 10)}T00:00:00Z`);
  });
}
