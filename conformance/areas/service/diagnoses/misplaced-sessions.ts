import { formatValue } from '../../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { resultsEndpoints, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import { listPages } from '../results/listing.ts';
import { findUpload, sessionsOf } from '../transcript.ts';
import { removeSessions } from './removed-sessions.ts';

/** The field that every session of an endpoint has, and no session of the other one. */
const ownFields = {
  production: 'source_session_id',
  simulations: 'simulation',
} as const satisfies Record<ResultsEndpoint, string>;

/** Recognizes production sessions among the simulations, and simulations among the production sessions. */
export function findMisplacedSessions(transcript: Transcript): Diagnosis[] {
  return resultsEndpoints.flatMap((endpoint) => findMisplacedAt(endpoint, transcript));
}

function findMisplacedAt(endpoint: ResultsEndpoint, transcript: Transcript): Diagnosis[] {
  const own = ownFields[endpoint];
  const other = ownFields[endpoint === 'production' ? 'simulations' : 'production'];
  const isMisplaced = (session: ResultsObject): boolean =>
    typeof session[other] === 'string' && typeof session[own] !== 'string';
  const pages = listPages(transcript).filter((page) => page.endpoint === endpoint);
  const seen = nonEmpty(pages.filter((page) => sessionsOf(page).some(isMisplaced)));
  // If no session has its own field, the fields have other names.
  const hasOwn = pages.flatMap(sessionsOf).some((session) => typeof session[own] === 'string');
  if (!seen || !hasOwn) return [];
  const session = sessionsOf(findExample(seen)).find(isMisplaced);
  const name = session?.[other];
  const isUpload = name === findUpload(transcript)?.['session_id'];
  const listed =
    endpoint === 'production'
      ? 'a simulation session is listed among the production sessions'
      : `${isUpload ? 'an uploaded transcript' : 'a production session'} is listed among the simulations`;
  return [
    {
      seen,
      consequences: pages,
      fault: `${listed}: ${other} ${formatValue(name)} (${describeSeen(seen)})`,
      cure:
        endpoint === 'production'
          ? 'List it only at GET /api/simulations/sessions/'
          : 'List uploaded transcripts and live conversations only at GET /api/prod-evaluations/sessions/',
      repair: (page: Exchange) => removeSessions(page, pages, isMisplaced),
    },
  ];
}
