import {
  valueAt,
  violations,
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
  callReadyOf,
  sandboxMessagesOf,
  dropAfterSecondStart,
  UPGRADE,
  type ParsedMessage,
} from '../../../engine/transcript/call-messages.ts';
import { checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { createMessageRepair } from '../../../engine/checks/repair.ts';
import { resolveHint, type Hint } from '../../../engine/checks/shape.ts';
import { explainSocketFailure } from '../absence.ts';

/**
 * A check of voice: of a sandbox that has none, nothing is asked. Of what a second `start_call` in a
 * call is answered with nothing is: the specification is silent about it.
 */
export function skipWithoutVoice(check: Check): Check {
  return {
    evidence: (transcript) =>
      isVoiceAbsent(transcript.exchanges) ? [] : check.evidence(withFirstStartsAlone(transcript)),
    judge: (evidence, transcript) => check.judge(evidence, withFirstStartsAlone(transcript)),
    unjudged(transcript) {
      if (!isVoiceAbsent(transcript.exchanges)) {
        return check.unjudged(withFirstStartsAlone(transcript));
      }
      return { verdict: 'not_applicable', reason: noVoiceReason(transcript) };
    },
  };
}

function noVoiceReason({ exchanges }: Transcript): string {
  const probe = exchanges.findLast((one) => isVoice(one) && one.step === UPGRADE);
  const how = probe ? ` (${describeOutcome(probe)})` : '';
  return `The sandbox has no voice endpoint: its WebSocket is refused like an unknown path${how}.`;
}

const withFirstStarts = new WeakMap<Transcript, Transcript>();

/** Without what a sandbox said after a second `start_call`, in whichever call that was. */
function withFirstStartsAlone(transcript: Transcript): Transcript {
  const known = withFirstStarts.get(transcript);
  if (known) return known;
  const cut = { ...transcript, exchanges: transcript.exchanges.map(dropAfterSecondStart) };
  withFirstStarts.set(transcript, cut);
  return cut;
}

/** Valid calls, that of the preflight and those that were put off apart. */
export const isValidCall = (one: Exchange): boolean =>
  isVoice(one) && one.intent === 'valid' && one.step !== UPGRADE && !isRateLimited(one);

/** Why no call was there to be looked at: the WebSocket did not open, or nothing came over it. */
export const explainNoCall: Check['unjudged'] = ({ run, exchanges }) => {
  const calls = exchanges.filter((one) => isVoice(one) && one.intent === 'valid');
  const shut = calls.find((one) => !isOpened(one));
  if (calls.some(isOpened) || !shut) {
    return { verdict: 'blocked', reason: 'No start_call was followed by call_ready.' };
  }
  const wantsKey = isKeyRefused(shut) && !run.keyGiven;
  const noWay = explainSocketFailure(shut, run.voiceUrl ?? '');
  const reason = wantsKey
    ? `The WebSocket wants a key (${describeOutcome(shut)}), and none was given: put it into SANDBOX_KIT_API_KEY.`
    : `The WebSocket does not open: ${noWay?.message ?? `${describeOutcome(shut)} (exchange ${shut.id}).`}`;
  return { verdict: 'blocked', reason };
};

/** Whether a WebSocket was refused for its key. */
export function isKeyRefused({ response }: Exchange): boolean {
  return response?.status === 401 || response?.status === 403;
}

/** Whether a sandbox has shown in any call that it takes the kit's answer to its offer. */
function acceptsAnswers({ exchanges }: Transcript): boolean {
  return exchanges.some(
    (one) =>
      isVoice(one) &&
      (isConnected(one) || one.call?.media?.hasPath === true || failsPromptly(one, exchanges)),
  );
}

/** Who does not know the answer's message may wait for another, and say in the end that none came. */
const AT_ONCE_MS_MAX = 3_000;

/**
 * Whether an answer was met at once with connection_failed, by a sandbox that does not say so of any
 * message that it does not know.
 */
function failsPromptly(one: Exchange, exchanges: readonly Exchange[]): boolean {
  const unknown = exchanges.find((other) => isVoice(other) && other.step === 'unknown type');
  const passesOver =
    unknown && callReadyOf(unknown) && sandboxMessagesOf(unknown, 'error').length === 0;
  const answeredMs = eventsOf(one, 'answered')[0]?.atMs;
  if (!passesOver || answeredMs === undefined || one.intent !== 'valid') return false;
  return sandboxMessagesOf(one, 'error').some(
    ({ event, json }) =>
      event.atMs >= answeredMs &&
      event.atMs <= answeredMs + AT_ONCE_MS_MAX &&
      valueAt(json, '/error/code') === 'connection_failed',
  );
}

/** Calls in which the offer was answered, by a sandbox that takes answers; those with it unusable. */
export function findAnsweredCalls(transcript: Transcript): Exchange[] {
  const takes = acceptsAnswers(transcript);
  return transcript.exchanges.filter(
    (one) =>
      isValidCall(one) &&
      ((takes && eventsOf(one, 'answered').length > 0) || eventsOf(one, 'unusable').length > 0),
  );
}

/** Whether an offer was answered, in a call that was to come about, and no answer was taken. */
export function isMediaUnjudged(transcript: Transcript): boolean {
  const { exchanges } = transcript;
  const has = (kind: 'answered' | 'unusable'): boolean =>
    exchanges.some((one) => isVoice(one) && eventsOf(one, kind).length > 0);
  return has('answered') && !has('unusable') && !acceptsAnswers(transcript);
}

/** Why no media was there to be looked at. */
export const explainNoMedia: Check['unjudged'] = (transcript) => {
  const { exchanges } = transcript;
  const unusable = exchanges.find((one) => isVoice(one) && eventsOf(one, 'unusable').length > 0);
  if (unusable) {
    const why = toPrintable(eventsOf(unusable, 'unusable')[0]?.detail ?? '');
    const reason = `The offer could not be taken: ${why} (exchange ${unusable.id}).`;
    return { verdict: 'blocked', reason };
  }
  const answered = exchanges.filter((one) => isVoice(one) && eventsOf(one, 'answered').length > 0);
  const [first] = answered;
  if (!first) {
    if (exchanges.some((one) => callReadyOf(one))) {
      return { verdict: 'blocked', reason: 'No offer was answered.' };
    }
    return explainNoCall(transcript);
  }
  if (acceptsAnswers(transcript)) {
    return { verdict: 'blocked', reason: `Media did not flow as it would have to for this.` };
  }
  return {
    verdict: 'not_applicable',
    reason:
      'The sandbox did nothing with the answer to its offer, for which the specification shows no message: --voice-answer-type and --voice-answer-field name one that it knows.',
  };
};

/** Calls that are evidence where media could flow. */
export function checkConnectedCalls(
  on: (one: Exchange) => boolean,
  find: (one: Exchange, transcript: Transcript) => Finding[],
  unjudged: Check['unjudged'] = explainNoMedia,
): Check {
  return checkEach((one) => isVoice(one) && isConnected(one) && on(one), find, unjudged);
}

/** What a shape check of messages is about. */
export interface MessageShape {
  message: MessageName;
  /** The type of the messages. */
  type: string;
  /** Pointers; the value there, its presence included, is judged by the schema. */
  at: readonly string[];
  absent: Check['unjudged'];
  hint?: Hint;
}

const validated = new WeakMap<ParsedMessage, Violation[]>();

function violationsOf(said: ParsedMessage, message: MessageName): Violation[] {
  const found = validated.get(said) ?? violations(message, said.json);
  validated.set(said, found);
  return found;
}

/**
 * A check that holds the messages of a type against their schema at some places. A call is evidence
 * when one of them has the place, or when the schema finds fault with its absence.
 */
export function checkMessageShape({ message, type, at, absent, hint }: MessageShape): Check {
  const faultsIn = (said: ParsedMessage): Violation[] =>
    violationsOf(said, message).filter(({ pointer }) => at.includes(pointer));
  return checkEach(
    (one) =>
      sandboxMessagesOf(one, type).some(
        (said) =>
          faultsIn(said).length > 0 || at.some((place) => valueAt(said.json, place) !== undefined),
      ),
    (one) =>
      sandboxMessagesOf(one, type).flatMap((said) =>
        faultsIn(said).map((fault) => ({
          exchange: one.id,
          ...fault,
          ...resolveHint(hint, valueAt(said.json, fault.pointer)),
          repair: createMessageRepair(fault, type),
        })),
      ),
    absent,
  );
}

/** A finding about a call as a whole. */
export function callFinding(
  one: Exchange,
  expected: string,
  received: string,
  hint?: string,
): Finding {
  return { exchange: one.id, pointer: '', expected, received, ...(hint ? { hint } : {}) };
}
