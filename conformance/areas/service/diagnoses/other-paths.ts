import { isServiceEndpoint } from '../../../engine/checks/route-names.ts';
import {
  isAccepted,
  isNotFound,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { diagnoseRedirects } from '../../diagnoses/redirect.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { isResultsEndpoint } from '../results-api.ts';
import { NO_SLASH_STEP } from '../results/evidence.ts';
import { isStep } from '../transcript.ts';
import { conformingResponse } from './conforming-response.ts';

const isValid = ({ endpoint, intent }: Exchange): boolean =>
  intent === 'valid' && isServiceEndpoint(endpoint);

/** Recognizes routes that redirect, such as to the same path without the slash at its end. */
export const findServiceRedirects = (transcript: Transcript): Diagnosis[] =>
  diagnoseRedirects(transcript.exchanges.filter(isValid), transcript.run.target, (exchange) =>
    conformingResponse(exchange, transcript),
  );

const listReads = ({ exchanges }: Transcript): Exchange[] =>
  exchanges.filter((exchange) => isValid(exchange) && isResultsEndpoint(exchange.endpoint));

/** Recognizes reads that get 404 although the service knows the path: no session matches them. */
export function findUnknownLists(transcript: Transcript): Diagnosis[] {
  const reads = listReads(transcript);
  const isKnown = ({ endpoint }: Exchange): boolean =>
    reads.some((other) => other.endpoint === endpoint && isAccepted(other));
  const seen = nonEmpty(reads.filter((read) => isNotFound(read) && isKnown(read)));
  if (!seen) return [];
  const status = findExample(seen).response?.status;
  return [
    {
      seen,
      fault: `reads get ${status}, although the path is known (${describeSeen(seen)})`,
      cure: 'If no session matches, respond with 200 and an empty list of `items`',
      repair: (exchange) => conformingResponse(exchange, transcript),
    },
  ];
}

/** Recognizes paths of results that a service knows only without the slash at their end. */
export function findMissingSlashes(transcript: Transcript): Diagnosis[] {
  const { exchanges } = transcript;
  const reads = listReads(transcript);
  const seen = nonEmpty(reads.filter(isNotFound));
  const found = exchanges.find(
    (exchange) => isStep(exchange, 'production', NO_SLASH_STEP) && isAccepted(exchange),
  );
  if (!seen || !found || reads.some(isAccepted)) return [];
  const { method, path } = found.request;
  const status = findExample(seen).response?.status;
  return [
    {
      seen,
      fault: `the path with a slash at its end is unknown (${status} for ${describeSeen(seen)}), but ${method} ${path} responds with ${found.response?.status} (exchange ${found.id})`,
      cure: 'Serve the path with the slash at its end',
      repair: (exchange) => conformingResponse(exchange, transcript),
    },
  ];
}
