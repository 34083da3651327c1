/** What shows in a call how the sandbox handles media, and why there may be no media. */
import { resolvePointer, type CallPacket } from '../../../src/contract/index.ts';
import type { Check } from '../../engine/checks/check.ts';
import {
  callReadyOf,
  eventsOf,
  isConnected,
  isVoice,
  mediaOf,
  messagesOf,
  sandboxMessagesOf,
} from '../../engine/transcript/call-messages.ts';
import { toPrintable, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { checkCalls, explainNoCall, isValidCall } from './evidence.ts';

/**
 * Returns whether any call shows that the sandbox processes the SDP answer of the kit: by a network
 * path. An `error` message shows nothing, because a sandbox that doesn't know the message of the
 * answer may send one.
 */
export function acceptsAnswers({ exchanges }: Transcript): boolean {
  return exchanges.some(
    (exchange) =>
      isVoice(exchange) && (isConnected(exchange) || exchange.call?.media?.hasPath === true),
  );
}

/** Describes the `error` message of a sandbox that refused an SDP answer; undefined without one. */
export function describeRefusedAnswer({ exchanges }: Transcript): string | undefined {
  for (const exchange of exchanges) {
    const answeredMs = isValidCall(exchange) ? eventsOf(exchange, 'answered')[0]?.atMs : undefined;
    if (answeredMs === undefined) continue;
    const error = sandboxMessagesOf(exchange, 'error').find(
      ({ event }) => event.atMs >= answeredMs,
    );
    const answer = messagesOf(exchange).findLast(
      ({ event }) => event.from === 'kit' && event.atMs <= answeredMs,
    );
    if (error) {
      const fields = ['code', 'message'].map((name) =>
        resolvePointer(error.json, `/error/${name}`),
      );
      const text = fields.filter((field) => typeof field === 'string').join(': ');
      const quoted = text === '' ? 'an error' : `the error "${toPrintable(text)}"`;
      return `the sandbox responded to ${answer?.type ?? 'the SDP answer'} with ${quoted}`;
    }
  }
  return undefined;
}

/** Returns the calls with an unusable offer and, if the sandbox processes answers, those with an SDP answer. */
export function findAnsweredCalls(transcript: Transcript): Exchange[] {
  const isAccepting = acceptsAnswers(transcript);
  return transcript.exchanges.filter(
    (exchange) =>
      isValidCall(exchange) &&
      ((isAccepting && eventsOf(exchange, 'answered').length > 0) ||
        eventsOf(exchange, 'unusable').length > 0),
  );
}

/** Returns whether the kit sent SDP answers and the sandbox processed none of them. */
export function isMediaUnjudged(transcript: Transcript): boolean {
  const { exchanges } = transcript;
  const has = (kind: 'answered' | 'unusable'): boolean =>
    exchanges.some((exchange) => isVoice(exchange) && eventsOf(exchange, kind).length > 0);
  return has('answered') && !has('unusable') && !acceptsAnswers(transcript);
}

const toSentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Explains why there is no media to judge. */
export const explainNoMedia: Check['unjudged'] = (transcript) => {
  const { exchanges } = transcript;
  const unusable = exchanges.find(
    (exchange) => isVoice(exchange) && eventsOf(exchange, 'unusable').length > 0,
  );
  if (unusable) {
    const detail = toPrintable(eventsOf(unusable, 'unusable')[0]?.detail ?? '');
    const reason = `The offer is unusable: ${detail} (exchange ${unusable.id}).`;
    return { verdict: 'blocked', reason };
  }
  const answered = exchanges.filter(
    (exchange) => isVoice(exchange) && eventsOf(exchange, 'answered').length > 0,
  );
  const [first] = answered;
  if (!first) {
    if (exchanges.some((exchange) => callReadyOf(exchange))) {
      return { verdict: 'blocked', reason: 'The kit answered no offer.' };
    }
    return explainNoCall(transcript);
  }
  if (acceptsAnswers(transcript)) {
    return { verdict: 'blocked', reason: 'No call has the media that this requirement needs.' };
  }
  const refused = describeRefusedAnswer(transcript);
  const observed =
    refused === undefined ? 'The sandbox ignored the SDP answer' : toSentence(refused);
  return {
    verdict: 'not_applicable',
    reason: `${observed}. The specification defines no message for the SDP answer. Set --voice-answer-type and --voice-answer-field to the message that the sandbox expects.`,
  };
};

/** Creates a check of the calls whose WebRTC connection was established. */
export const checkConnectedCalls = (
  isEvidence: (exchange: Exchange) => boolean,
  findProblem: Parameters<typeof checkCalls>[1],
  unjudged: Check['unjudged'] = explainNoMedia,
): Check =>
  checkCalls(
    (exchange) => isVoice(exchange) && isConnected(exchange) && isEvidence(exchange),
    findProblem,
    unjudged,
  );

/** Returns whether the sandbox sent a `conversation_update` in a call. */
export const hasUpdate = (exchange: Exchange): boolean =>
  sandboxMessagesOf(exchange, 'conversation_update').length > 0;

/** Returns whether the sandbox could be heard after the first speech of the kit. */
export function hasReply(exchange: Exchange): boolean {
  const [first] = eventsOf(exchange, 'speech');
  return (
    first !== undefined &&
    eventsOf(exchange, 'sound').some(({ untilMs = 0 }) => untilMs > (first.untilMs ?? 0))
  );
}

/** Returns the audio packets that the kit received in a call. */
export const packetsOf = (exchange: Exchange): readonly CallPacket[] =>
  mediaOf(exchange)?.packets ?? [];

/** Packets may arrive for this long after the hang-up, in milliseconds. */
export const STOP_MS_MAX = 1_500;
