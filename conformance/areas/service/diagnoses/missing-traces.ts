import { isObject } from '../../../../src/platform/json.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { replaceKeys, type Response } from '../../diagnoses/conforming-response.ts';
import { describeSeen, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { objectsAt, type ResultsObject } from '../results-api.ts';
import { hasRequestedTurns } from '../results/evidence.ts';
import { listPages } from '../results/listing.ts';
import { findSeededSession, queryOf, sessionsOf, summaryNumber } from '../transcript.ts';
import { isFailure } from './left-out-outcomes.ts';
import { removeSessions } from './removed-sessions.ts';
import { createTurns } from './restored-turns.ts';

const lacksTraces = (session: ResultsObject): boolean => !Object.hasOwn(session, 'traces');

/** Recognizes pages with `include_traces=true` on which only some sessions have `traces`. */
export function findPartialTraces(transcript: Transcript): Diagnosis[] {
  const pages = listPages(transcript).filter(hasRequestedTurns);
  const partial = pages.filter((page) => {
    const sessions = sessionsOf(page);
    return sessions.some(lacksTraces) && !sessions.every(lacksTraces);
  });
  const seen = nonEmpty(partial);
  if (!seen) return [];
  const isFirstAlone = partial.every((page) =>
    sessionsOf(page).every((session, index) => lacksTraces(session) === index > 0),
  );
  const which = isFirstAlone ? 'only the first session' : 'only a part of the sessions';
  return [
    {
      seen,
      consequences: pages,
      fault: `with include_traces=true, ${which} of a page has \`traces\` (${describeSeen(seen)})`,
      cure: 'Add the turns to every session of the page',
      repair: (page) => addTraces(page, transcript),
    },
  ];
}

/** Recognizes a service that takes the value `true` of both flags for false. */
export function findIgnoredFlags(transcript: Transcript): Diagnosis[] {
  const pages = listPages(transcript);
  const withTurns = pages.filter((page) => hasRequestedTurns(page) && sessionsOf(page).length > 0);
  const withFailures = pages.filter((page) => queryOf(page, 'failed_only') === 'true');
  const hasPassed = withFailures.some((page) => sessionsOf(page).some(isPassed));
  const hasNoTurns = withTurns.every((page) => sessionsOf(page).every(lacksTraces));
  const seen = nonEmpty(
    pages.filter((page) => withTurns.includes(page) || withFailures.includes(page)),
  );
  if (!seen || withTurns.length === 0 || !hasPassed || !hasNoTurns) return [];
  return [
    {
      seen,
      fault: `include_traces=true and failed_only=true have no effect (${describeSeen(seen)})`,
      cure: 'Take the value true of a query parameter for true, not only another one, such as 1 or True',
      repair: (page) => {
        const isFiltered = queryOf(page, 'failed_only') === 'true';
        const response = isFiltered ? keepFailures(page, pages) : replaceKeys(page, {});
        if (!hasRequestedTurns(page)) return response;
        return addTraces({ ...page, response, json: JSON.parse(response.body) }, transcript);
      },
    },
  ];
}

const isPassed = (session: ResultsObject): boolean =>
  summaryNumber(session, 'failed_count') === 0 &&
  (summaryNumber(session, 'total_evaluations') ?? 0) > 0;

function keepFailures(page: Exchange, pages: readonly Exchange[]): Response {
  const response = removeSessions(
    page,
    pages,
    (session) => summaryNumber(session, 'failed_count') === 0,
  );
  const json: unknown = JSON.parse(response.body);
  const items = sessionsOf({ ...page, json }).map((session) => ({
    ...session,
    eval_outcomes: objectsAt(session, 'eval_outcomes').filter(isFailure),
  }));
  return replaceKeys({ response, json }, { items });
}

/** Returns a page with turns of each session: those that the run sent or seeded, or none. */
function addTraces(page: Exchange, transcript: Transcript): Response {
  const items = sessionsOf(page).map((session) =>
    lacksTraces(session) ? { ...session, traces: findTurns(session, transcript) } : session,
  );
  return replaceKeys(page, { items });
}

function findTurns(session: ResultsObject, transcript: Transcript): unknown[] {
  const { source_session_id: id } = session;
  if (typeof id === 'string') return createTurns(id, transcript);
  const turns = findSeededSession(session, transcript)?.turns ?? [];
  return turns.map((turn, index) => ({
    session_sequence: index + 1,
    user_reason: null,
    ...(isObject(turn) && turn),
  }));
}
