import { isObject } from '../../../../src/platform/json.ts';
import { formatDuration } from '../../../../src/report-kit/format.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import { respond, type Response } from '../../diagnoses/conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { isClosed } from '../close/evidence.ts';
import { ownerOf } from '../owners.ts';
import { conversationIdOf, isConversationAccepted } from '../transcript.ts';
import { conformingClose } from './conforming-response.ts';

/**
 * Recognizes a service that accepts spans before it has stored them: an end call right after them gets
 * 404, and a later one closes the conversation.
 */
export function findLateSpans(transcript: Transcript): Diagnosis[] {
  const calls = transcript.exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'end' &&
      exchange.intent === 'valid' &&
      exchange.response !== undefined &&
      isConversationAccepted(conversationIdOf(exchange), transcript),
  );
  const found = calls.filter(isClosed);
  const foundFor = (call: Exchange): Exchange[] =>
    found.filter((other) => isSameConversation(other, call));
  // A 404 during or after a call that closes the conversation has another cause.
  const early = calls.filter(
    (call) =>
      call.response?.status === 404 &&
      foundFor(call).every(({ startedMs }) => startedMs >= call.endedMs),
  );
  const findLater = (call: Exchange): Exchange | undefined => foundFor(call)[0];
  const seen =
    nonEmpty(early.filter(findLater)) ??
    (isDecidedByWait(early, found, transcript) ? nonEmpty(early) : undefined);
  if (!seen) return [];
  const example = findExample(seen);
  const later = findLater(example);
  const waitMs = waitMsOf(example, transcript);
  const waited = Number.isFinite(waitMs) ? `, ${formatDuration(waitMs)} after the spans` : '';
  const proof = later
    ? `the same call closes it ${formatDuration(later.startedMs - example.startedMs)} later (exchange ${later.id})`
    : `end calls that come ${formatDuration(shortestWaitMs(found, transcript))} after their spans, or later, close theirs`;
  return [
    {
      seen,
      // The calls after those are repeated calls.
      consequences: calls.filter((call) => early.some((each) => isSameConversation(each, call))),
      fault: `the spans of a conversation are accepted, but are not stored yet when its end call arrives: 404${waited} (${describeSeen(seen)}); ${proof}`,
      cure: 'Respond to POST /v1/traces only after the spans are stored, so that a call that follows the response finds them',
      repair: (exchange) => repairCall(exchange, calls, transcript),
    },
  ];
}

const isSameConversation = (call: Exchange, other: Exchange): boolean =>
  conversationIdOf(call) === conversationIdOf(other) && ownerOf(call) === ownerOf(other);

/** Returns how long after the last accepted spans of its conversation an end call was sent. */
function waitMsOf(call: Exchange, { exchanges }: Transcript): number {
  const accepted = exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'traces' &&
      exchange.endedMs <= call.startedMs &&
      isAccepted(exchange) &&
      isSameConversation(exchange, call),
  );
  return call.startedMs - Math.max(...accepted.map(({ endedMs }) => endedMs));
}

const shortestWaitMs = (calls: readonly Exchange[], transcript: Transcript): number =>
  Math.min(...calls.map((call) => waitMsOf(call, transcript)));

/** Waits that differ by less say nothing. */
const WAIT_MS_MIN = 100;

/** Returns whether each call that got 404 came much sooner after its spans than every other one. */
function isDecidedByWait(
  early: readonly Exchange[],
  found: readonly Exchange[],
  transcript: Transcript,
): boolean {
  if (early.length === 0 || found.length === 0) return false;
  const waits = early.map((call) => waitMsOf(call, transcript));
  return Math.max(...waits) + WAIT_MS_MIN < shortestWaitMs(found, transcript);
}

function repairCall(call: Exchange, calls: readonly Exchange[], transcript: Transcript): Response {
  const isRepeat = calls.some((other) => other.id < call.id && isSameConversation(other, call));
  return isClosed(call) && isObject(call.json)
    ? respond(200, { ...call.json, ...(isRepeat && { already_closed: true }) })
    : conformingClose(call, transcript, isRepeat);
}
