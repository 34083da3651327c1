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
import { isVoiceStep, unknownCodecSteps } from './steps.ts';

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

/** Behaviors of the voice endpoint that the specification leaves open (spec 4.9, 5, 6, 7). */
const behaviors: readonly ObservedBehavior[] = [
  {
    name: 'voice without the subprotocol',
    of: isVoiceStep('no subprotocol'),
    describe: describeCall,
  },
  {
    name: 'voice with another subprotocol',
    of: isVoiceStep('another subprotocol'),
    describe: describeCall,
  },
  { name: 'voice without a key', of: isVoiceStep('no key'), describe: describeCall },
  { name: 'voice with a wrong key', of: isVoiceStep('wrong key'), describe: describeCall },
  { name: 'unsupported codec', of: isVoiceStep(...unknownCodecSteps), describe: describeCall },
  {
    name: 'start_call without audio_config',
    of: isVoiceStep('no audio_config'),
    describe: describeCall,
  },
  {
    name: 'start_call in a binary frame',
    of: isVoiceStep('binary start_call'),
    describe: describeCall,
  },
  {
    name: 'second start_call',
    of: isVoiceStep('second start_call'),
    describe: describeReaction,
  },
  { name: 'message that is not JSON', of: isVoiceStep('not JSON'), describe: describeCall },
  { name: 'message without a type', of: isVoiceStep('no type'), describe: describeCall },
  {
    name: 'message of an unknown type',
    of: isVoiceStep('unknown type'),
    describe: describeReaction,
  },
  {
    name: 'SDP answer that is not SDP',
    of: isVoiceStep('unusable answer'),
    describe: describeReaction,
  },
  {
    name: 'SDP answer with a wrong fingerprint',
    of: isVoiceStep('wrong fingerprint'),
    describe: describeReaction,
  },
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
