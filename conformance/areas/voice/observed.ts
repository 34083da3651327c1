import { resolvePointer } from '../../../src/contract/index.ts';
import { observeEach, type ObservedBehavior } from '../../engine/judge/observed.ts';
import {
  callReadyOf,
  isOpened,
  isVoice,
  sandboxCloseOf,
  sandboxMessagesOf,
  startCallOf,
} from '../../engine/transcript/call-messages.ts';
import { describeOutcome, toPrintable, type Exchange } from '../../engine/transcript/reading.ts';
import { isVoiceStep, type VoiceStep } from './requests.ts';

/** The message types that the interface defines, and `ice_candidate`, which many sandboxes send. */
export const KNOWN_TYPES: readonly string[] = [
  'call_ready',
  'conversation_update',
  'error',
  'ice_candidate',
];

/** Describes what a sandbox did with a call: its first response, and how it ended the call. */
function describeCall(exchange: Exchange): string {
  if (!isOpened(exchange)) return describeOutcome(exchange);
  const response = describeResponse(exchange);
  const hasEnded = sandboxCloseOf(exchange) !== undefined || exchange.failure !== undefined;
  // The outcome of an open WebSocket starts with its status, "101, ".
  return hasEnded ? `${response}, ${describeOutcome(exchange).slice(5)}` : response;
}

function describeResponse(exchange: Exchange): string {
  const [error] = sandboxMessagesOf(exchange, 'error');
  if (!error) return callReadyOf(exchange) ? 'call_ready' : 'no message';
  const code = resolvePointer(error.json, '/error/code');
  return `error ${typeof code === 'string' ? toPrintable(code, 40) : 'without a code'}`;
}

/** Describes how a sandbox reacted to a message that the kit sent in a call that had started. */
function describeReaction(exchange: Exchange): string {
  const hasReacted =
    sandboxMessagesOf(exchange, 'error').length > 0 || sandboxCloseOf(exchange) !== undefined;
  return hasReacted ? describeCall(exchange) : 'ignored';
}

const describeSessionId = (exchange: Exchange): string =>
  resolvePointer(callReadyOf(exchange)?.json, '/session_id') === undefined
    ? 'omitted'
    : 'generated';

const otherTypesOf = (exchange: Exchange): string[] =>
  sandboxMessagesOf(exchange).flatMap(({ type }) =>
    type === undefined || KNOWN_TYPES.includes(type) ? [] : toPrintable(type, 40) || '""',
  );

/** Observes the calls of some steps. */
const inSteps = (
  name: string,
  describe: (exchange: Exchange) => string,
  ...steps: VoiceStep[]
): ObservedBehavior => ({ name, of: isVoiceStep(...steps), describe });

/** Behaviors of the voice endpoint that the specification leaves open (spec 4.9, 5, 6, 7). */
const behaviors: readonly ObservedBehavior[] = [
  inSteps('voice without the subprotocol', describeCall, 'no subprotocol'),
  inSteps('voice with another subprotocol', describeCall, 'another subprotocol'),
  inSteps('voice without a key', describeCall, 'no key'),
  inSteps('voice with a wrong key', describeCall, 'wrong key'),
  inSteps('unsupported codec', describeCall, 'unsupported codec', 'unsupported codec, full'),
  inSteps('start_call without audio_config', describeCall, 'no audio_config'),
  inSteps('start_call in a binary frame', describeCall, 'binary start_call'),
  inSteps('second start_call', describeReaction, 'second start_call'),
  inSteps('message that is not JSON', describeCall, 'not JSON'),
  inSteps('message without a type', describeCall, 'no type'),
  inSteps('message of an unknown type', describeReaction, 'unknown type'),
  inSteps('SDP answer that is not SDP', describeReaction, 'unusable answer'),
  inSteps('SDP answer with a wrong fingerprint', describeReaction, 'wrong fingerprint'),
  {
    name: 'session_id of a call without one',
    of: (exchange) => {
      const start = startCallOf(exchange);
      const hasReady = callReadyOf(exchange) !== undefined;
      return hasReady && start !== undefined && !('session_id' in start);
    },
    describe: describeSessionId,
  },
  {
    name: 'messages of other types',
    of: (exchange) => isVoice(exchange) && otherTypesOf(exchange).length > 0,
    describe: (exchange) => [...new Set(otherTypesOf(exchange))].slice(0, 5).join(', '),
  },
];

/** Returns what a sandbox does with calls where the specification is silent. */
export const observeVoice = observeEach(behaviors);
