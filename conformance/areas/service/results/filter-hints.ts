/** Advice about a filter that selects the wrong sessions, by what its reads list. */
import { SECOND_MS } from '../../../../src/platform/clock.ts';
import type { Check } from '../../../engine/checks/check.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import type { NameFilter, ResultsEndpoint, ResultsObject, TimeFilter } from '../results-api.ts';
import type { ResultsStep, Wildcard } from '../steps.ts';
import { isStep, lastAccepted, queryOf, sessionsOf, startedAtMs } from '../transcript.ts';
import { findOutcomeHint } from './eval-hints.ts';
import { identify, NO_FRACTION_STEP } from './evidence.ts';
import type { FilterRule } from './filtering.ts';
import { compareStarts, findBoundHint } from './time-hints.ts';
import { findWholeList } from './whole-list.ts';

/** The field that contains the value of a step if no name does. */
const otherFields: Readonly<Partial<Record<string, string>>> = {
  'run by session id': 'source_session_id',
  'agent by scenario': 'scenario',
  'eval by category': 'eval_category',
  'eval by reasoning': 'reasoning',
} satisfies Partial<Record<ResultsStep, string>>;

const wildcards: readonly Wildcard[] = ['%', '_', '.'];

const CASE_HINT =
  'Ignore the case of all letters, such as Ü and ü, not only of ASCII letters, and read + in a query as a space.';

/** Adds a hint to the findings of `failed_only` if its read lists all sessions. */
export function addIgnoredHint(endpoint: ResultsEndpoint, check: Check): Check {
  return {
    ...check,
    judge: (evidence, transcript) =>
      check.judge(evidence, transcript).map((finding) => {
        const page = evidence.find(({ id }) => id === finding.exchange);
        const isIgnored = page && listsAll(page, endpoint, transcript);
        return isIgnored ? { ...finding, hint: ignoredHint('failed_only') } : finding;
      }),
  };
}

/** Adds a hint to the findings of a name filter, if its reads show the cause. */
export function addNameHints(endpoint: ResultsEndpoint, filter: NameFilter, check: Check): Check {
  return {
    ...check,
    judge(evidence, transcript) {
      const findings = check.judge(evidence, transcript);
      const isIgnored =
        findings.length > 0 && evidence.every((page) => listsAll(page, endpoint, transcript));
      return findings.map((finding) => {
        const page = evidence.find(({ id }) => id === finding.exchange);
        const hint = isIgnored
          ? ignoredHint(filter)
          : (finding.hint ?? (page && findNameHint(page, filter, endpoint, transcript)));
        return hint === undefined ? finding : { ...finding, hint };
      });
    },
  };
}

const ignoredHint = (filter: string): string =>
  `Apply \`${filter}\`: the read lists the same sessions as without it.`;

/** Returns whether a page lists every session that is listed without a filter. */
function listsAll(page: Exchange, endpoint: ResultsEndpoint, transcript: Transcript): boolean {
  const listed = new Set(sessionsOf(page).map(identify));
  const { sessions = [] } = findWholeList(transcript, endpoint) ?? {};
  return sessions.length > 0 && sessions.every((session) => listed.has(identify(session)));
}

function findNameHint(
  page: Exchange,
  filter: NameFilter,
  endpoint: ResultsEndpoint,
  transcript: Transcript,
): string | undefined {
  const isEmpty = sessionsOf(page).length === 0;
  if (isStep(page, endpoint, filter)) {
    if (isEmpty) return findEmptyHint(page, filter, endpoint, transcript);
    return filter === 'eval' ? findOutcomeHint(endpoint, transcript) : undefined;
  }
  if (isEmpty) return undefined;
  const wildcard = wildcards.find((mark) => isStep(page, endpoint, `${filter} with ${mark}`));
  if (wildcard !== undefined) {
    return `Match ${wildcard} in \`${filter}\` literally: escape it if the query or the pattern gives it a special meaning.`;
  }
  const field = otherFields[page.step];
  if (field === undefined) return undefined;
  return `Search only the name for \`${filter}\`: the value occurs in \`${field}\`, but in no name.`;
}

/** Returns another field by which a filter finds sessions. */
function findSearchedField(
  filter: NameFilter,
  endpoint: ResultsEndpoint,
  { exchanges }: Transcript,
): string | undefined {
  const read = exchanges.find(
    (page) =>
      page.endpoint === endpoint &&
      page.step.startsWith(`${filter} by `) &&
      otherFields[page.step] !== undefined &&
      sessionsOf(page).length > 0,
  );
  // The name of a simulation contains its scenario.
  return read && (filter === 'agent' ? 'scenario` or `simulation' : otherFields[read.step]);
}

const NAME_OR_URL_HINT =
  "Keep a session if the value is anywhere in the name of its agent, not only at its beginning, or anywhere in the agent's URL: one of them is enough. Ignore the case in both.";

/** Returns whether `agent` finds nothing by name or by URL, although parts of names in upper case find evals. */
function areNamesAndUrlsRequired(transcript: Transcript): boolean {
  const byUrl = lastAccepted(transcript, 'simulations', 'agent by URL');
  const byEval = lastAccepted(transcript, 'simulations', 'eval');
  const hasFound = (page: Exchange): boolean => sessionsOf(page).length > 0;
  return byUrl !== undefined && !hasFound(byUrl) && byEval !== undefined && hasFound(byEval);
}

/** Returns what to do about a filter that finds nothing by a part of a name in upper case. */
function findEmptyHint(
  page: Exchange,
  filter: NameFilter,
  endpoint: ResultsEndpoint,
  transcript: Transcript,
): string {
  // Another read filters by the same part of the eval's name, with its letter case unchanged.
  const asWritten = lastAccepted(transcript, endpoint, NO_FRACTION_STEP);
  if (filter === 'eval' && asWritten && sessionsOf(asWritten).length > 0) return CASE_HINT;
  const outcomeHint = filter === 'eval' ? findOutcomeHint(endpoint, transcript) : undefined;
  if (outcomeHint !== undefined) return outcomeHint;
  const field = findSearchedField(filter, endpoint, transcript);
  if (field !== undefined) {
    return `Search the name for \`${filter}\`: the filter finds nothing by a part of the name, but sessions by their \`${field}\`.`;
  }
  if (filter === 'agent' && areNamesAndUrlsRequired(transcript)) return NAME_OR_URL_HINT;
  const value = queryOf(page, filter) ?? '';
  const others = /[^ -~]/.test(value) ? ', including letters such as Ü and ü' : '';
  const space = value.includes(' ') ? ', and read + in a query as a space' : '';
  return `The value is a part of the name in upper case. Find it anywhere in the name, ignore the case${others}${space}.`;
}

/** A time filter of an endpoint, and when the sessions started that the run knows. */
interface TimedRead {
  page: Exchange;
  filter: TimeFilter;
  endpoint: ResultsEndpoint;
  rule: FilterRule;
  exactStartMs: (session: ResultsObject, transcript: Transcript) => number | undefined;
}

const TIME_HINT =
  'Compare starts and bounds with their fractions of a second, and read nanoseconds as 64-bit integers: a floating-point number rounds them.';

/** Returns what to do about a time filter, by the sessions that are wrongly listed or missing. */
export function findTimeHint(read: TimedRead, transcript: Transcript): string {
  const { page, filter, endpoint, rule, exactStartMs } = read;
  if (listsAll(page, endpoint, transcript)) return ignoredHint(filter);
  const isAfter = filter === 'started_after';
  const listed = new Set(sessionsOf(page).map(identify));
  const boundMs = startedAtMs({ started_at: queryOf(page, filter) }) ?? 0;
  const { sessions = [] } = findWholeList(transcript, endpoint) ?? {};
  const isMoved = (session: ResultsObject): boolean => {
    const [exactMs, listedMs] = [exactStartMs(session, transcript), startedAtMs(session)];
    return exactMs !== undefined && Math.abs((listedMs ?? exactMs) - exactMs) >= SECOND_MS;
  };
  if (sessions.some(isMoved)) {
    return 'First correct `started_at`: some sessions do not start with their first span.';
  }
  const decided = sessions.filter((session) => rule(session, page, transcript) !== 'either');
  const wrong = decided.filter(
    (session) => rule(session, page, transcript) !== listed.has(identify(session)),
  );
  const isAtBound = (session: ResultsObject): boolean =>
    exactStartMs(session, transcript) === boundMs;
  const others = decided.filter((session) => !isAtBound(session));
  if (others.length > 1 && others.every((session) => wrong.includes(session))) {
    return `\`${filter}\` keeps the sessions on the wrong side of its time: it must keep those that start at or ${isAfter ? 'after' : 'before'} it.`;
  }
  const boundHint = findBoundHint(filter, transcript);
  if (boundHint !== undefined) return boundHint;
  if (wrong.length > 0 && wrong.every(isAtBound)) {
    return `Keep the sessions that start exactly at the time, too: compare with ${isAfter ? '>= instead of >' : '<= instead of <'}.`;
  }
  const isNear = (session: ResultsObject): boolean =>
    Math.abs((startedAtMs(session) ?? Infinity) - boundMs) < SECOND_MS;
  return wrong.every(isNear) ? TIME_HINT : compareStarts(filter);
}
