import { isObject } from '../../../../src/platform/json.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import { replaceKeys, respond, type Response } from '../../diagnoses/conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { findForeignIndex, findSharedResponse, isForeign } from '../owners.ts';
import { listPages } from '../results/listing.ts';
import { hasControlApi, isStep } from '../transcript.ts';
import { removeSessions } from './removed-sessions.ts';

/** Recognizes a service that shows or closes conversations of other owners. */
export function findMixedUpOwners(transcript: Transcript): Diagnosis[] {
  if (!hasControlApi(transcript)) return [];
  const pages = listPages(transcript);
  const mixed = pages.filter((page) => findForeignIndex(page, transcript) >= 0);
  const closed = transcript.exchanges.filter(
    (exchange) => isStep(exchange, 'end', 'close of another') && isAccepted(exchange),
  );
  const seen = nonEmpty([...mixed, ...closed]);
  if (!seen) return [];
  const isClose = findExample(seen).endpoint === 'end';
  const isCached = seen.every((page) => findSharedResponse(page, transcript));
  return [
    {
      seen,
      // Other pages of the same list, and the end call that came too late, show the consequences.
      consequences: [
        ...pages,
        ...transcript.exchanges.filter((exchange) => isStep(exchange, 'end', 'close own')),
      ],
      ...(isCached
        ? {
            fault: `a key gets what another owner received for the same URL: responses are cached without their owner (${describeSeen(seen)}, which repeats exchange ${findSharedResponse(findExample(seen), transcript)?.id})`,
            cure: 'Cache responses by the owner of the API key and the URL, or not at all',
          }
        : {
            fault: `${isClose ? 'a key closes a conversation' : 'a key sees sessions'} of another owner (${describeSeen(seen)})`,
            cure: 'Find the owner by the API key, and use the owner in every query, even to look up a conversation by its id',
          }),
      repair: (exchange) =>
        exchange.endpoint === 'end'
          ? repairClose(exchange)
          : removeSessions(exchange, pages, (session) => isForeign(session, exchange, transcript)),
    },
  ];
}

/** Refuses the close of the other owner, and lets the owner close the conversation for the first time. */
function repairClose({ step, response, json }: Exchange): Response {
  if (step === 'close of another' || !response) return respond(404, { message: '' });
  return isObject(json) ? replaceKeys({ response, json }, { already_closed: false }) : response;
}
