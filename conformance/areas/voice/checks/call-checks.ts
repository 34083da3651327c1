import {
  resolvePointer,
  findViolations,
  type MessageName,
  type Violation,
} from '../../../../src/contract/index.ts';
import {
  describeOutcome,
  toPrintable,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import {
  eventsOf,
  isConnected,
  isOpened,
  isVoice,
  isVoiceAbsent,
  messagesOf,
  callReadyOf,
  sandboxMessagesOf,
  dropAfterSecondStart,
  UPGRADE,
  type ParsedMessage,
} from '../../../engine/transcript/call-messages.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { createMessageRepair } from '../../../engine/checks/repair.ts';
import { resolveHint, type ValueHint } from '../../../engine/checks/shape.ts';
import { explainSocketFailure } from '../absence.ts';
import { isVoiceStep } from '../steps.ts';

/**
 * Makes a check not applicable if the sandbox has no voice endpoint, and hides what the sandbox sent
 * after a second `start_call` of a call, where the specification is silent.
 */
export function skipWithoutVoice(check: Check): Check {
  return {
    evidence: (transcript) =>
      isVoiceAbsent(transcript.exchanges) ? [] : check.evidence(withoutSecondStarts(transcript)),
    judge: (evidence, transcript) => check.judge(evidence, withoutSecondStarts(transcript)),
    unjudged(transcript) {
      if (!isVoiceAbsent(transcript.exchanges)) {
        return check.unjudged(withoutSecondStarts(transcript));
      }
      return { verdict: 'not_applicable', reason: noVoiceReason(transcript) };
    },
  };
}

function noVoiceReason({ exchanges }: Transcript): string {
  const upgrade = exchanges.findLast((exchange) => isVoiceStep(UPGRADE)(exchange));
  const outcome = upgrade ? ` (${describeOutcome(upgrade)})` : '';
  return `The sandbox has no voice endpoint: the WebSocket request is refused like a request for an unknown path${outcome}.`;
}

const shortenedTranscripts = new WeakMap<Transcript, Transcript>();

/** Removes what the sandbox sent after a second `start_call` from every call. */
function withoutSecondStarts(transcript: Transcript): Transcript {
  const cached = shortenedTranscripts.get(transcript);
  if (cached) return cached;
  const shortened = { ...transcript, exchanges: transcript.exchanges.map(dropAfterSecondStart) };
  shortenedTranscripts.set(transcript, shortened);
  return shortened;
}

/** Returns whether an exchange is a valid call; excludes the preflight and calls that got a 429. */
export const isValidCall = (exchange: Exchange): boolean =>
  isVoice(exchange) &&
  exchange.intent === 'valid' &&
  exchange.step !== UPGRADE &&
  !isRateLimited(exchange);

/** Explains why no call can be judged: the WebSocket didn't open, or `call_ready` never arrived. */
export const explainNoCall: Check['unjudged'] = ({ run, exchanges }) => {
  const calls = exchanges.filter((exchange) => isVoice(exchange) && exchange.intent === 'valid');
  const refused = calls.find((exchange) => !isOpened(exchange));
  if (calls.some(isOpened) || !refused) {
    return { verdict: 'blocked', reason: 'No start_call got a call_ready.' };
  }
  const lacksKey = isKeyRefused(refused) && !run.keyGiven;
  const problem = explainSocketFailure(refused, run.voiceUrl ?? '');
  const reason = lacksKey
    ? `The WebSocket requires a key (${describeOutcome(refused)}). Set the environment variable SANDBOX_KIT_API_KEY.`
    : `The WebSocket doesn't open: ${problem?.message ?? `${describeOutcome(refused)} (exchange ${refused.id}).`}`;
  return { verdict: 'blocked', reason };
};

/** Returns whether a WebSocket request was refused because of its key. */
export function isKeyRefused({ response }: Exchange): boolean {
  return response?.status === 401 || response?.status === 403;
}

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

/** Describes the `error` message with which a sandbox refused an SDP answer; undefined without one. */
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
export function checkConnectedCalls(
  on: (exchange: Exchange) => boolean,
  find: (exchange: Exchange, transcript: Transcript) => Finding[],
  unjudged: Check['unjudged'] = explainNoMedia,
): Check {
  return checkEach(
    (exchange) => isVoice(exchange) && isConnected(exchange) && on(exchange),
    find,
    unjudged,
  );
}

/** What `checkMessageShape` checks. */
export interface MessageShape {
  message: MessageName;
  /** The type of the messages. */
  type: string;
  /** JSON pointers to the values whose presence and type the schema defines. */
  places: readonly string[];
  unjudged: Check['unjudged'];
  hint?: ValueHint;
}

const cachedViolations = new WeakMap<ParsedMessage, Violation[]>();

function violationsOf(parsed: ParsedMessage, message: MessageName): Violation[] {
  const result = cachedViolations.get(parsed) ?? findViolations(message, parsed.json);
  cachedViolations.set(parsed, result);
  return result;
}

/**
 * Checks values of the messages of a type against the schema. A call is evidence if a message has one
 * of the values or violates the schema there.
 */
export function checkMessageShape({ message, type, places, unjudged, hint }: MessageShape): Check {
  const violationsIn = (parsed: ParsedMessage): Violation[] =>
    violationsOf(parsed, message).filter(({ pointer }) => places.includes(pointer));
  return checkEach(
    (exchange) =>
      sandboxMessagesOf(exchange, type).some(
        (parsed) =>
          violationsIn(parsed).length > 0 ||
          places.some((pointer) => resolvePointer(parsed.json, pointer) !== undefined),
      ),
    (exchange) =>
      sandboxMessagesOf(exchange, type).flatMap((parsed) =>
        violationsIn(parsed).map((violation) => ({
          exchange: exchange.id,
          ...violation,
          ...resolveHint({ message, hint }, parsed.json, violation),
          repair: createMessageRepair(violation, type),
        })),
      ),
    unjudged,
  );
}

/** Creates a finding about a whole call. */
export function callFinding(
  exchange: Exchange,
  expected: string,
  received: string,
  hint?: string,
): Finding {
  return { exchange: exchange.id, pointer: '', expected, received, ...(hint ? { hint } : {}) };
}
