/** Pages of results, and what the checks read from them. */
import { formatValue, resolvePointer, type MessageName } from '../../../../src/contract/index.ts';
import { checkEach, type Check } from '../../../engine/checks/check.ts';
import { checkShape } from '../../../engine/checks/shape.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { needsSessions, wrongValue } from '../findings.ts';
import { resultsPaths, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import type { ResultsStep } from '../steps.ts';
import {
  hasControlApi,
  isResultsPage,
  isStep,
  queryOf,
  sessionsOf,
  summaryNumber,
} from '../transcript.ts';

/** The reason of requirements of the type of a field. */
export const WRONG_TYPE = 'Programs that read the results rely on the type of this field.';

/** The reason of requirements that a page lists the right sessions. */
export const PAGING = 'Programs that read page by page would miss sessions or count them twice.';

/** The reason of requirements that note a value other than the typical one. */
export const OBSERVED_VALUE =
  'The specification shows only this value, so programs may not expect another one.';

/** The step of a filter whose time has an offset instead of Z. */
export const OFFSET_STEP = 'started after with an offset';
/** The step of a read with turns. It repeats the query that the run polls for results. */
export const TRACES_STEP = 'traces asked for';
/** The step of a read that declines turns and the filter `failed_only`. */
export const DECLINED_STEP = 'declined';
/** The step of a page of filtered sessions. */
export const FILTERED_PAGE_STEP = 'page of failed only';

/** The step of consecutive pages. */
export const PAGE_STEP = 'page';
/** The step of a page whose `skip` is not a multiple of its `limit`. */
export const ODD_PAGE_STEP = 'page at an odd skip';
/** The step of a read with a limit over the highest one. */
export const OVER_CAP = 'over the cap';
/** The step of a read that skips more sessions than there are, without a limit. */
export const BEYOND_STEP = 'beyond the end';
/** The step of a read whose only filter is `started_before`. */
export const BEFORE_ALONE_STEP = 'started before alone';
/** The step of a time filter together with the filter by eval. */
export const TIME_AND_EVAL_STEP = 'started after and eval';
/** The step of a read with another key of the same owner. */
export const SECOND_KEY_STEP = 'second key';
/** The step of two filters together. The times of its period have no fraction of a second. */
export const NO_FRACTION_STEP = 'eval and failed only';

/** The step and the path of a read without the slash at the end of the path. */
export const NO_SLASH_STEP = 'no slash at the end';
export const NO_SLASH_PATH = resultsPaths.production.slice(0, -1);

/** Timestamps may be truncated or rounded to whole seconds. */
export const TIME_PRECISION_MS = 1_000;

/** Returns a text that identifies a session, whichever filters and options a page uses. */
export function identify(session: ResultsObject): string {
  const { url, source_session_id: id, simulation, agent, scenario, started_at: at } = session;
  return JSON.stringify([url ?? null, id ?? null, simulation, agent, scenario, at]);
}

/** The fields of an `outcome_summary`. */
export const summaryFields = ['total_evaluations', 'passed_count', 'failed_count', 'pass_rate'];

/** Describes the summary of a session: "total_evaluations 2, passed_count 1, …". */
export const describeSummary = (session: ResultsObject): string =>
  summaryFields.map((name) => `${name} ${summaryNumber(session, name) ?? 'missing'}`).join(', ');

/** Whether a page was requested with its turns. */
export const hasRequestedTurns = (page: Exchange): boolean =>
  queryOf(page, 'include_traces') === 'true';

/** Why no session was judged. */
export const noSessions = needsSessions('No page lists a session.');

/** The problem with a session. */
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
  (step: ResultsStep) =>
  (page: Exchange, transcript: Transcript): boolean =>
    isResultsPage('simulations')(page) &&
    isStep(page, 'simulations', step) &&
    hasControlApi(transcript);

/** Pages as `isSeededPage` selects them, if each session has a persona, which identifies seeded sessions. */
export const isIdentifiablePage =
  (step: ResultsStep) =>
  (page: Exchange, transcript: Transcript): boolean =>
    isSeededPage(step)(page, transcript) &&
    sessionsOf(page).every(({ persona }) => typeof persona === 'string');
