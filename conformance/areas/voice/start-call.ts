/** `start_call`: the calls that succeed, in each form of the message (spec 2.11, 6). */
import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { parseMessage, type CallMessage } from '../../../src/voice/call/messages.ts';
import type { Check } from '../../engine/checks/check.ts';
import type { VoiceTransformFactory } from '../../engine/mutants/mutant.ts';
import { type DistortionEntry, type Subject, withDefaults } from '../../engine/requirement.ts';
import {
  callReadyOf,
  eventsOf,
  hangUpMsOf,
  isOpened,
  sandboxCloseOf,
  sandboxMessagesOf,
  startCallOf,
} from '../../engine/transcript/call-messages.ts';
import { toPrintable, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { unlessAbsent } from './absence.ts';
import {
  distortCalls,
  failCall,
  handleCalls,
  interceptMessages,
  isFullStart,
  isStart,
  replaceMessages,
  requestsOtherCodec,
} from './call-transforms.ts';
import { checkCalls, isValidCall, type Problem } from './evidence.ts';
import { isVoiceStep } from './requests.ts';

/** Returns whether `start_call` has its `audio_config` in `metadata`. */
const isFull = (exchange: Exchange): boolean =>
  resolvePointer(startCallOf(exchange), '/metadata/audio_config') !== undefined;
const omitsOptionalParts = isVoiceStep('without user_id', 'without session_id', 'only metadata');
const isAfterOtherCalls = isVoiceStep('after other calls');

const refuseStart = (
  description: string,
  isRefused: (message: CallMessage) => boolean,
): DistortionEntry =>
  distortCalls(
    description,
    interceptMessages(isRefused, (ends) => failCall(ends, 1007)),
  );

const refuseFullWithout = (key: string): DistortionEntry =>
  refuseStart(
    `Refuses a call without \`${key}\`.`,
    (message) => isFullStart(message) && message[key] === undefined,
  );

const defaults = { probes: ['voice/forms'], wrapCheck: unlessAbsent } as const;

export const startCall: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-010': {
      rule: 'A `start_call` message in the full form, with `audio_config` in `metadata`, gets a `call_ready` message.',
      statements: [
        '6.4',
        '6.5',
        '6.6',
        '6.7',
        '6.8',
        '6.10',
        '6.34',
        '2.11.2',
        '2.11.3',
        '2.11.4',
        '2.11.5',
      ],
      reason: 'Every voice simulation starts with this message.',
      check: checkGetsReady(
        (exchange) =>
          isFull(exchange) && !omitsOptionalParts(exchange) && !isAfterOtherCalls(exchange),
      ),
      mutants: {
        'full-form-refused': refuseStart(
          'Accepts only the minimal form of `start_call`.',
          (message) => isFullStart(message) && !requestsOtherCodec(message),
        ),
      },
    },
    'VOICE-011': {
      rule: 'A `start_call` message in the minimal form, with `audio_config` at the top level, gets a `call_ready` message.',
      statements: ['6.9', '6.10', '6.34', '2.11.2', '2.11.3'],
      reason:
        "The service sends both forms; a sandbox that supports only one can't take all calls.",
      check: checkGetsReady(isVoiceStep('minimal')),
      mutants: {
        'minimal-form-refused': refuseStart(
          'Accepts only the full form of `start_call`.',
          (message) => isStart(message) && !isFullStart(message) && !requestsOtherCodec(message),
        ),
      },
    },
    'VOICE-012': {
      rule: 'A `start_call` message without `user_id`, `session_id`, or most of `metadata` gets a `call_ready` message.',
      statements: ['6.5', '6.6', '6.7', '6.34'],
      reason:
        'The service may omit optional fields; a sandbox that requires them refuses valid calls.',
      check: onlyIfReady(
        (exchange) => isFull(exchange) && isVoiceStep('full')(exchange),
        checkGetsReady(omitsOptionalParts),
      ),
      mutants: {
        'user-id-wanted': refuseFullWithout('user_id'),
        'session-id-wanted': refuseFullWithout('session_id'),
      },
    },
    'VOICE-013': {
      rule: 'A valid call continues without an `error` message until the caller hangs up.',
      statements: ['6.34'],
      reason: 'A call that ends early ends the simulation without a result.',
      probes: ['voice/conversation'],
      check: checkUnbroken(),
      mutants: {
        'error-in-call': distortCalls(
          'Sends an `error` message in a call that works.',
          replaceMessages('call_ready', (message) => [
            message,
            { type: 'error', error: { code: 'audio_error', message: 'No.' } },
          ]),
        ),
        'cut-off': distortCalls(
          'Drops the connection one second after the SDP answer.',
          handleCalls((ends) => ({
            fromKit(text) {
              ends.toSandbox(text);
              if (parseMessage(text)?.['type'] === 'webrtc_answer') {
                void ends.clock.sleep(1_000).then(() => ends.closeKit());
              }
            },
          })),
        ),
      },
    },
    'VOICE-081': {
      rule: 'A valid call succeeds after invalid and unusual calls.',
      statements: ['6.34', '4.9.1'],
      reason: 'One bad call must not take the sandbox down for other simulations.',
      probes: ['voice/after'],
      check: onlyIfReady(
        (exchange) => isFull(exchange) && !isAfterOtherCalls(exchange),
        checkCalls(isAfterOtherCalls, findMissingReady),
      ),
      mutants: {
        'dead-after-garbage': distortCalls(
          'Accepts no more calls after a binary frame.',
          dieOfBinaryFrames,
        ),
      },
    },
  }),
  legal: {
    restarts: distortCalls('Ignores a second `start_call`.', ignoreRepeated(isStart)),
    'answers-both': distortCalls(
      'Responds to a second `start_call` in its own way.',
      answerSecondStart(),
    ),
  },
};

/** Checks that some of the valid calls whose WebSocket opened get a `call_ready`. */
function checkGetsReady(isJudged: (exchange: Exchange) => boolean): Check {
  return checkCalls(
    (exchange) =>
      isValidCall(exchange) &&
      isOpened(exchange) &&
      startCallOf(exchange) !== undefined &&
      isJudged(exchange),
    findMissingReady,
  );
}

function findMissingReady(exchange: Exchange): Problem | undefined {
  if (callReadyOf(exchange)) return undefined;
  return ['call_ready after start_call', describeOtherResponse(exchange)];
}

/** Judges a check only if some valid call got a `call_ready`. */
function onlyIfReady(isControl: (exchange: Exchange) => boolean, check: Check): Check {
  const isAccepted = ({ exchanges }: Transcript): boolean =>
    exchanges.some(
      (exchange) => isValidCall(exchange) && isControl(exchange) && callReadyOf(exchange),
    );
  return {
    ...check,
    evidence: (transcript) => (isAccepted(transcript) ? check.evidence(transcript) : []),
  };
}

/** Describes what the sandbox sent instead of `call_ready`. */
function describeOtherResponse(exchange: Exchange): string {
  const [error] = sandboxMessagesOf(exchange, 'error');
  const [other] = sandboxMessagesOf(exchange);
  const close = sandboxCloseOf(exchange);
  if (error) {
    const { code, message } = isObject(resolvePointer(error.json, '/error'))
      ? (resolvePointer(error.json, '/error') as Record<string, unknown>)
      : {};
    return `an error with the code ${toPrintable(`${formatValue(code)} (${formatValue(message)})`)}`;
  }
  if (exchange.failure?.kind === 'too_large') return exchange.failure.message;
  if (other) return toPrintable(other.event.text ?? '');
  return close ? `a closed WebSocket with ${close.code ?? 'no code'}` : 'no message';
}

/** Checks calls with a `call_ready` up to the hang-up. VOICE-070 covers calls that don't connect. */
function checkUnbroken(): Check {
  const normalCodes = [1000, 1001, 1005];
  return checkCalls(
    (exchange) =>
      isValidCall(exchange) &&
      callReadyOf(exchange) !== undefined &&
      eventsOf(exchange, 'unconnected').length === 0,
    (exchange) => {
      const hasError = sandboxMessagesOf(exchange, 'error').some(
        ({ event }) => event.atMs <= hangUpMsOf(exchange),
      );
      if (hasError) return ['a call without an error', describeOtherResponse(exchange)];
      const expected = 'a call that continues until the hang-up';
      if (exchange.failure?.kind === 'too_large') return [expected, exchange.failure.message];
      const close = sandboxCloseOf(exchange);
      if (!close || normalCodes.includes(close.code ?? 0)) return undefined;
      const received =
        close.code === 1006 ? 'a dropped connection' : `a close with ${close.code ?? 'no code'}`;
      return [expected, received];
    },
  );
}

function dieOfBinaryFrames(): ReturnType<VoiceTransformFactory> {
  let hasSeenBinary = false;
  return {
    handleCall: (ends) => ({
      fromKit(text, isBinary) {
        hasSeenBinary ||= isBinary;
        if (hasSeenBinary && isFullStart(parseMessage(text) ?? {})) failCall(ends, 1011);
        else ends.toSandbox(text);
      },
    }),
  };
}

/** Ignores messages of the kit after the first one that matches. */
function ignoreRepeated(matches: (message: CallMessage) => boolean): VoiceTransformFactory {
  return handleCalls((ends) => {
    let hasMatched = false;
    return {
      fromKit(text) {
        const isMatch = matches(parseMessage(text) ?? {});
        if (!isMatch || !hasMatched) ends.toSandbox(text);
        hasMatched ||= isMatch;
      },
    };
  });
}

/** Sends its own messages after a second `start_call`, where the specification is silent. */
function answerSecondStart(): VoiceTransformFactory {
  return handleCalls((ends) => {
    let starts = 0;
    return {
      fromKit(text) {
        if (isStart(parseMessage(text) ?? {})) starts += 1;
        if (starts < 2) ends.toSandbox(text);
        else {
          ends.toKit(JSON.stringify({ type: 'call_ready', call_id: 'other', session_id: 'other' }));
          ends.toKit(JSON.stringify({ type: 'call_ready', call_id: 'third' }));
          ends.toKit('restarted', true);
        }
      },
    };
  });
}
