/** The `error` messages of a call (spec 6, 7). */
import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { unjudgedAs, checkEach, type Check } from '../../engine/checks/check.ts';
import { drop } from '../../engine/mutants/combinators.ts';
import type { VoiceTransformFactory } from '../../engine/mutants/mutant.ts';
import { type Subject, withDefaults } from '../../engine/requirement.ts';
import {
  callReadyOf,
  eventsOf,
  isConnected,
  isOpened,
  isVoice,
  messagesOf,
  sandboxCloseOf,
  sandboxMessagesOf,
} from '../../engine/transcript/call-messages.ts';
import { isRateLimited, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { unlessAbsent } from './absence.ts';
import {
  distortCalls,
  editsOf,
  failCall,
  handleCalls,
  interceptMessages,
  replaceMessages,
  requestsOtherCodec,
} from './call-transforms.ts';
import { checkCalls, explainNoCall } from './evidence.ts';
import { acceptsAnswers, explainNoMedia } from './media-evidence.ts';
import { ERROR_REASON } from '../errors.ts';
import { missing } from '../fields.ts';
import { fieldsOfMessage } from './message-fields.ts';
import { isVoiceStep } from './requests.ts';

const noError = unjudgedAs('not_observed', 'The sandbox sent no error message.');
const ERROR_CODES = ['connection_failed', 'audio_error'];

const errorCodesOf = (exchange: Exchange): unknown[] =>
  sandboxMessagesOf(exchange, 'error').map(({ json }) => resolvePointer(json, '/error/code'));

const field = fieldsOfMessage({ message: 'VoiceError', explainNone: noError });
const sends = editsOf('error');

/** Replaces one error code with another. */
const replaceErrorCode = (code: string, replacement: string): VoiceTransformFactory =>
  replaceMessages('error', (message) => [
    resolvePointer(message, '/error/code') === code
      ? { ...message, error: { ...(message['error'] as object), code: replacement } }
      : message,
  ]);

const defaults = {
  reason: ERROR_REASON,
  observability: 'provoked',
  probes: ['voice/failures'],
  wrapCheck: unlessAbsent,
} as const;

export const errors: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-040': {
      level: 'should',
      rule: 'A `start_call` message with an unknown codec gets an `error` message instead of `call_ready`.',
      statements: ['7.b14', '6.32', '2.11.3'],
      reason: 'Without an error, the service waits for audio that it can never decode.',
      check: checkUnknownCodec(),
      mutants: {
        'codec-taken': distortCalls(
          'Accepts any codec and offers Opus.',
          handleCalls((ends) => ({
            fromKit(text) {
              ends.toSandbox(text.replaceAll(/"codec":"[^"]*"/g, '"codec":"opus"'));
            },
          })),
        ),
        'codec-closed': distortCalls(
          'Closes the WebSocket without an `error` message when the codec is unknown.',
          interceptMessages(requestsOtherCodec, (ends) => {
            ends.closeKit(1003);
            ends.closeSandbox();
          }),
        ),
      },
    },
    'VOICE-041': field('/error', {
      rule: '`error.code` and `error.message` are strings; `error.details` is a string, if present.',
      statements: ['6.33', '6.32'],
      reason: ERROR_REASON,
      hint: 'Send {"type": "error", "error": {"code", "message", "details"}}.',
      wrong: {
        'error-without-code': ['/error/code', missing],
        'error-code-a-number': ['/error/code', 4406],
        'error-without-message': ['/error/message', missing],
        'error-details-listed': ['/error/details', []],
        'error-a-string': ['/error', 'No.'],
      },
      legal: {
        'errors-without-details': sends('Omits `error.details`.', drop('/error/details')),
      },
    }),
    'VOICE-042': {
      level: 'should',
      rule: '`error.code` is `connection_failed` or `audio_error`.',
      statements: ['7.b11', '7.b13'],
      check: checkErrorCodes(
        (exchange, transcript) =>
          definedErrorCodesOf(exchange, transcript).filter((code) => typeof code === 'string'),
        (code) => ERROR_CODES.includes(String(code)),
        ERROR_CODES.join(' or '),
        noError,
      ),
      mutants: {
        'error-of-its-own': distortCalls(
          'Sends its own error code for an unknown codec.',
          replaceErrorCode('audio_error', 'unsupported_codec'),
        ),
      },
    },
    'VOICE-043': {
      level: 'should',
      rule: 'An `error` message about the codec has the code `audio_error`.',
      statements: ['7.b13', '7.b14'],
      check: checkErrorCodes(
        (exchange) =>
          isUnknownCodec(exchange)
            ? errorCodesOf(exchange).filter((code) => ERROR_CODES.includes(String(code)))
            : [],
        (code) => code !== 'connection_failed',
        '"audio_error"',
        unjudgedAs('not_observed', 'The sandbox sent no error message about the codec.'),
      ),
      mutants: {
        'codec-connection-failed': distortCalls(
          'Sends `connection_failed` for an unknown codec.',
          interceptMessages(requestsOtherCodec, (ends) => failCall(ends, 4406)),
        ),
      },
    },
    'VOICE-044': {
      level: 'should',
      rule: "The sandbox sends an `error` message with the code `connection_failed` when the WebRTC connection can't be established.",
      statements: ['7.b12'],
      reason: 'Without this error, the service waits until its own timeout.',
      inMedia: true,
      check: checkConnectionFailed(),
      mutants: {
        'connection-audio-error': distortCalls(
          'Sends `audio_error` for a failed connection.',
          replaceErrorCode('connection_failed', 'audio_error'),
        ),
      },
    },
    'VOICE-045': {
      level: 'may',
      rule: 'The sandbox closes the WebSocket after an error with a close code that states the cause.',
      statements: ['7.b15'],
      reason:
        "The specification doesn't list the close codes, so they are only reported under observed behavior.",
      check: checkCloseCode(),
      legal: {
        'closes-without-code': distortCalls(
          'Closes the WebSocket without a code after an error.',
          handleCalls((ends) => ({ onSandboxClose: () => ends.closeKit(1005) })),
        ),
      },
    },
  }),
};

function isUnknownCodec(exchange: Exchange): boolean {
  return (
    isVoiceStep('unsupported codec', 'unsupported codec, full')(exchange) &&
    !isRateLimited(exchange)
  );
}

function checkUnknownCodec(): Check {
  // If no call succeeds, the codec is not the reason for a refusal.
  const hasCalls = ({ exchanges }: Transcript): boolean =>
    exchanges.some(
      (exchange) =>
        isVoice(exchange) && exchange.intent === 'valid' && callReadyOf(exchange) !== undefined,
    );
  const expected = 'an error with the code audio_error';
  return checkCalls(
    (exchange, transcript) =>
      isUnknownCodec(exchange) && isOpened(exchange) && hasCalls(transcript),
    (exchange) => {
      if (callReadyOf(exchange)) return [expected, 'call_ready'];
      if (sandboxMessagesOf(exchange, 'error').length > 0) return undefined;
      const close = sandboxCloseOf(exchange);
      const received = close ? `a closed WebSocket with ${close.code ?? 'no code'}` : 'no message';
      return [expected, received];
    },
    explainNoCall,
  );
}

/** Checks the codes of some errors of each call. */
function checkErrorCodes(
  codesOf: (exchange: Exchange, transcript: Transcript) => unknown[],
  isAllowed: (code: unknown) => boolean,
  expected: string,
  unjudged: Check['unjudged'],
): Check {
  return checkEach(
    (exchange, transcript) => codesOf(exchange, transcript).length > 0,
    (exchange, transcript) =>
      codesOf(exchange, transcript)
        .filter((code) => !isAllowed(code))
        .map((code) => ({
          exchange: exchange.id,
          pointer: '/error/code',
          expected,
          received: formatValue(code),
        })),
    unjudged,
  );
}

/**
 * Returns the codes of the errors in response to `start_call`, or to an SDP answer that the sandbox
 * understands. The specification names no code for other messages, which it does not define.
 */
function definedErrorCodesOf(exchange: Exchange, transcript: Transcript): unknown[] {
  const kitMessages = messagesOf(exchange).filter(({ event }) => event.from === 'kit');
  return sandboxMessagesOf(exchange, 'error')
    .filter(({ event }) => {
      const last = kitMessages.findLast((sent) => sent.event.atMs <= event.atMs);
      if (last === undefined || last.type === 'start_call') return true;
      return eventsOf(exchange, 'answered').length > 0 && acceptsAnswers(transcript);
    })
    .map(({ json }) => resolvePointer(json, '/error/code'));
}

/**
 * Checks the error after a wrong fingerprint. ICE may retry for longer than the kit waits, so a
 * missing error proves nothing, but an established connection does.
 */
function checkConnectionFailed(): Check {
  const hasOutcome = (exchange: Exchange): boolean =>
    errorCodesOf(exchange).some((code) => typeof code === 'string') || isConnected(exchange);
  return checkCalls(
    (exchange) =>
      isVoiceStep('wrong fingerprint')(exchange) &&
      eventsOf(exchange, 'answered').length > 0 &&
      hasOutcome(exchange),
    (exchange) => {
      const codes = errorCodesOf(exchange);
      if (codes.includes('connection_failed')) return undefined;
      const expected = 'an error with the code connection_failed';
      if (!isConnected(exchange)) {
        return [expected, `an error with the code ${formatValue(codes[0])}`];
      }
      return [
        expected,
        'an established connection',
        'Compare the fingerprint of the SDP answer with the certificate of the DTLS handshake, and refuse another one.',
      ];
    },
    (transcript) =>
      transcript.exchanges.some(isConnected)
        ? {
            verdict: 'not_observed',
            reason: 'The sandbox sent no error about the failed connection while the kit waited.',
          }
        : explainNoMedia(transcript),
  );
}

function checkCloseCode(): Check {
  return checkCalls(
    (exchange) =>
      sandboxMessagesOf(exchange, 'error').length > 0 &&
      (sandboxCloseOf(exchange) !== undefined || exchange.failure !== undefined),
    (exchange) => {
      const code = sandboxCloseOf(exchange)?.code ?? 1006;
      if (code === 1005) return ['a close code', 'no close code'];
      return code === 1006 ? ['a close code', 'a dropped connection'] : undefined;
    },
    unjudgedAs('not_observed', 'The sandbox closed no WebSocket after an error message.'),
  );
}
