/** Pages of results, and what the checks read from them. */
import {
  formatValue,
  PAGE_LIMIT_MAX,
  resolvePointer,
  type MessageName,
} from '../../../../src/contract/index.ts';
import { checkEach, unjudgedAs, type Check, type Finding } from '../../../engine/checks/check.ts';
import { checkShape } from '../../../engine/checks/shape.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { wrongValue } from '../findings.ts';
import type { ResultsEndpoint, ResultsObject } from '../results-api.ts';
import {
  hasControlApi,
  isResultsPage,
  isStep,
  lastAccepted,
  queryOf,
  sessionsOf,
} from '../transcript.ts';

/** The reason of requirements of the type of a field. */
export const WRONG_TYPE = 'Programs that read the results rely on the type of this field.';

/** The reason of requirements that a page lists the right sessions. */
export const PAGING = 'Programs that read page by page would miss sessions or count them twice.';

/** The reason of requirements that note a value other than the typical one. */
export const OBSERVED_VALUE =
  'The specification shows only this value, so programs may not expect another one.';

/** Timestamps may be truncated or rounded to whole seconds. */
export const TIME_PRECISION_MS = 1_000;

/** Returns a text that identifies a session, whichever filters and options a page uses. */
export function identify(session: ResultsObject): string {
  const { url, source_session_id: id, simulation, agent, scenario, started_at: at } = session;
  return JSON.stringify([url ?? null, id ?? null, simulation, agent, scenario, at]);
}

/**
 * Returns the page with all sessions of the run. It is undefined if the page is incomplete or if
 * sessions appeared or disappeared during the reads.
 */
export function findWholePage(
  transcript: Transcript,
  endpoint: ResultsEndpoint,
): Exchange | undefined {
  const whole = lastAccepted(transcript, endpoint, 'whole');
  const again = lastAccepted(transcript, endpoint, 'whole again');
  if (!whole || !again || !isResultsPage(endpoint)(whole)) return undefined;
  const identities = (page: Exchange): string => sessionsOf(page).map(identify).sort().join();
  const total = resolvePointer(whole.json, '/total');
  const isComplete =
    typeof total !== 'number' || sessionsOf(whole).length >= Math.min(total, PAGE_LIMIT_MAX);
  return identities(whole) === identities(again) && isComplete ? whole : undefined;
}

/** Why a page could not be compared with all sessions of the run. */
export const noWholePage = unjudgedAs(
  'not_observed',
  'No complete list to compare with: there were no sessions, or the list changed during the run.',
);

/** Judges pages by comparison with the page of all sessions; without that page, there is no evidence. */
export function compareWithWhole(
  endpoint: ResultsEndpoint,
  isEvidence: (page: Exchange, whole: Exchange) => boolean,
  find: (page: Exchange, whole: Exchange, transcript: Transcript) => Finding[],
  unjudged: Check['unjudged'] = noWholePage,
): Check {
  return {
    evidence(transcript) {
      const whole = findWholePage(transcript, endpoint);
      if (!whole) return [];
      return transcript.exchanges.filter(
        (page) => isResultsPage(endpoint)(page) && isEvidence(page, whole),
      );
    },
    judge(evidence, transcript) {
      const whole = findWholePage(transcript, endpoint);
      return whole ? evidence.flatMap((page) => find(page, whole, transcript)) : [];
    },
    unjudged,
  };
}

/** Whether a page was requested with its turns. */
export const hasRequestedTurns = (page: Exchange): boolean =>
  queryOf(page, 'include_traces') === 'true';

/** Why no session was judged. */
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

/** Pages of a step whose owner has only the sessions that the run seeded. */
export const isSeededPage =
  (step: string) =>
  (page: Exchange, transcript: Transcript): boolean =>
    isResultsPage('simulations')(page) &&
    isStep(page, 'simulations', step) &&
    hasControlApi(transcript);

/** The same, if each session has a persona, which identifies seeded sessions. */
export const isIdentifiablePage =
  (step: string) =>
  (page: Exchange, transcript: Transcript): boolean =>
    isSeededPage(step)(page, transcript) &&
    sessionsOf(page).every(({ persona }) => typeof persona === 'string');
