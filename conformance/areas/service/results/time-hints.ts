/** Advice about a time filter that compares something other than instants, by what all reads list. */
import { isoTime, SECOND_MS } from '../../../../src/platform/clock.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import type { ResultsObject, TimeFilter } from '../results-api.ts';
import { queryOf, sessionsOf, startedAtMs } from '../transcript.ts';
import { identify } from './evidence.ts';
import { listCompletePages, listPages } from './listing.ts';

/**
 * Returns what to do if reads with a time filter list or lack sessions that start far from its bound.
 * Then the comparison operator is not the cause, even if one of the reads looks as if it were.
 */
export function findBoundHint(filter: TimeFilter, transcript: Transcript): string | undefined {
  const pages = listPages(transcript);
  const selections = pages.flatMap((page) => listSelections(page, filter, pages));
  if (!selections.some(isWrong)) return undefined;
  if (selections.every(isExplainedByDay)) {
    return `Compare the whole time of \`${filter}\` as an instant, not only its date: reads list sessions as if it were 00:00.`;
  }
  return compareStarts(filter);
}

/** Advises to compare the start of sessions with a time as an instant. */
export const compareStarts = (filter: TimeFilter): string =>
  `Compare \`started_at\` of sessions, not another time, with \`${filter}\` as an instant.`;

/** Whether a read with a bound lists a session that starts clearly before or after it. */
interface Selection {
  startMs: number;
  boundMs: number;
  isAfter: boolean;
  isListed: boolean;
}

/** Other filters, which may exclude a session that is within the bounds of a read. */
const otherParameters = ['eval', 'run', 'agent', 'failed_only'];

function listSelections(
  page: Exchange,
  filter: TimeFilter,
  pages: readonly Exchange[],
): Selection[] {
  const boundMs = startedAtMs({ started_at: queryOf(page, filter) });
  const isFiltered = otherParameters.some((name) => queryOf(page, name) !== undefined);
  if (boundMs === undefined || isFiltered || !listCompletePages(page, [page]).includes(page)) {
    return [];
  }
  const isAfter = filter === 'started_after';
  const listed = new Set(sessionsOf(page).map(identify));
  return listKnownSessions(page, pages).flatMap((session) => {
    const startMs = startedAtMs(session);
    if (startMs === undefined || Math.abs(startMs - boundMs) < SECOND_MS) return [];
    const isListed = listed.has(identify(session));
    // A read may lack a session because of its other bound.
    return isListed || isWithinOther(session, page, filter)
      ? [{ startMs, boundMs, isAfter, isListed }]
      : [];
  });
}

/** Returns the sessions of the owner that a page lists, or that another page listed before it. */
const listKnownSessions = (page: Exchange, pages: readonly Exchange[]): ResultsObject[] =>
  pages
    .filter(
      (other) =>
        other.endpoint === page.endpoint && other.owner === page.owner && other.id <= page.id,
    )
    .flatMap(sessionsOf);

/** Returns whether a session is clearly within the other bound of a read. */
function isWithinOther(session: ResultsObject, page: Exchange, filter: TimeFilter): boolean {
  const startMs = startedAtMs(session) ?? 0;
  const other = filter === 'started_after' ? 'started_before' : 'started_after';
  const otherMs = startedAtMs({ started_at: queryOf(page, other) });
  if (otherMs === undefined) return queryOf(page, other) === undefined;
  return other === 'started_after' ? startMs > otherMs + SECOND_MS : startMs < otherMs - SECOND_MS;
}

const isWrong = ({ startMs, boundMs, isAfter, isListed }: Selection): boolean =>
  isListed !== (isAfter ? startMs > boundMs : startMs < boundMs);

function isExplainedByDay({ startMs, boundMs, isAfter, isListed }: Selection): boolean {
  const dayMs = Date.parse(isoTime(boundMs).slice(0, 10));
  return isListed === (isAfter ? startMs >= dayMs : startMs <= dayMs);
}
