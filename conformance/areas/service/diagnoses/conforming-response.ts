import { resolvePointer } from '../../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { respond, type Response } from '../../diagnoses/conforming-response.ts';
import { isScoringClose, queuedOf } from '../close/evidence.ts';
import { ownerNames, type OwnerName } from '../context.ts';
import { ownerOf } from '../owners.ts';
import {
  conversationIdOf,
  hasControlApi,
  limitOf,
  seededEvalCount,
  sentSeed,
  sentStartOf,
  skipOf,
} from '../transcript.ts';

/** Returns how many evals the close of a conversation should queue. */
function countEvals(owner: OwnerName, transcript: Transcript): number {
  if (hasControlApi(transcript)) {
    // The run deletes one of the evals of this owner.
    return seededEvalCount(transcript, owner) - (owner === 'deleted' ? 1 : 0);
  }
  const other = transcript.exchanges.find(isScoringClose);
  const queued = other && queuedOf(other);
  return typeof queued === 'number' ? queued : 0;
}

/** Returns what a conforming service could respond to the end call of a conversation that it knows. */
export function conformingClose(
  call: Exchange,
  transcript: Transcript,
  isRepeat: boolean,
): Response {
  const id = conversationIdOf(call) ?? '';
  const owner = ownerNames.find((name) => name === ownerOf(call)) ?? 'main';
  const name = resolvePointer(sentSeed(transcript, owner), '/settings/run_name');
  const date = sentStartOf(id, transcript).slice(0, 10);
  return respond(200, {
    conversation_id: id,
    status: 'evaluating',
    run: `${typeof name === 'string' ? name : 'Live traces'} ${date}`,
    evaluations_queued: countEvals(owner, transcript),
    ...(isRepeat && { already_closed: true }),
  });
}

/** Returns what a conforming service could respond to a valid request. */
export function conformingResponse(exchange: Exchange, transcript: Transcript): Response {
  if (exchange.endpoint === 'traces') return respond(200, {});
  if (exchange.endpoint === 'end') return conformingClose(exchange, transcript, false);
  const page = { items: [], total: 0, skip: skipOf(exchange), limit: limitOf(exchange) };
  return respond(200, page);
}
