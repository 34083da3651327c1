/** Advice about a filter that selects the wrong sessions, by what its reads list. */
import { SECOND_MS } from '../../../../src/platform/clock.ts';
import type { Check } from '../../../engine/checks/check.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import type { NameFilter, ResultsEndpoint, ResultsObject, TimeFilter } from '../results-api.ts';
import type { ResultsStep, Wildcard } from '../steps.ts';
import { isStep, lastAccepted, queryOf, sessionsOf, startedAtMs } from '../transcript.ts';
import { identify, NO_FRACTION_STEP } from './evidence.ts';
import type { FilterRule } from './filtering.ts';
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
          : page && findNameHint(page, filter, endpoint, transcript);
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
    return isEmpty ? findEmptyHint(page, filter, endpoint, transcript) : undefined;
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
  const value = queryOf(page, filter) ?? '';
  const others = /[^ -~]/.test(value) ? ', including letters such as Ü and ü' : '';
  const space = value.includes(' ') ? ', and read + in a query as a space' : '';
  return `The value is a part of the name in upper case. Find it anywhere in the name, ignore the case${others}${space}.`;
}

/**
 * Returns what to do about a time filter, by the sessions that are wrongly listed or missing; undefined if
 * all of them start close to its time.
 */
export function findTimeHint(
  page: Exchange,
  filter: TimeFilter,
  rule: FilterRule,
  endpoint: ResultsEndpoint,
  transcript: Transcript,
): string | undefined {
  if (listsAll(page, endpoint, transcript)) return ignoredHint(filter);
  const listed = new Set(sessionsOf(page).map(identify));
  const boundMs = startedAtMs({ started_at: queryOf(page, filter) }) ?? 0;
  const isNear = (session: ResultsObject): boolean =>
    Math.abs((startedAtMs(session) ?? Infinity) - boundMs) < SECOND_MS;
  const { sessions = [] } = findWholeList(transcript, endpoint) ?? {};
  const wrong = sessions.filter((session) => {
    const isDue = rule(session, page, transcript);
    return isDue !== 'either' && isDue !== listed.has(identify(session));
  });
  return wrong.every(isNear)
    ? undefined
    : `Compare \`started_at\` of sessions, not another time, with \`${filter}\` as an instant.`;
}
