import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import type { VoiceRequirementId } from '../requirements.ts';
import {
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import {
  sandboxCloseOf,
  eventsOf,
  isConnected,
  isOpened,
  isVoice,
  messagesOf,
  callReadyOf,
  sandboxMessagesOf,
} from '../../../engine/transcript/call-messages.ts';
import { unjudgedAs, checkEach, type Check } from '../../../engine/checks/check.ts';
import { isVoiceStep, unknownCodecSteps } from '../steps.ts';
import {
  acceptsAnswers,
  checkMessageShape,
  explainNoCall,
  explainNoMedia,
  callFinding,
} from './call-checks.ts';

const noError = unjudgedAs('not_observed', 'The sandbox sent no error message.');
const EXPECTED_AUDIO_ERROR = 'an error with the code audio_error';
const ERROR_CODES = ['connection_failed', 'audio_error'];

const isUnknownCodec = (exchange: Exchange): boolean =>
  isVoiceStep(...unknownCodecSteps)(exchange) && !isRateLimited(exchange);
const errorCodesOf = (exchange: Exchange): unknown[] =>
  sandboxMessagesOf(exchange, 'error').map(({ json }) => resolvePointer(json, '/error/code'));

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

/** Returns whether any call succeeded. Otherwise, the codec is not the reason for a refusal. */
const hasCalls = ({ exchanges }: Transcript): boolean =>
  exchanges.some(
    (exchange) =>
      isVoice(exchange) && exchange.intent === 'valid' && callReadyOf(exchange) !== undefined,
  );

/** The checks for `error` messages, by requirement (spec 6, 7). */
export const errorChecks = {
  'VOICE-040': checkEach(
    (exchange, transcript) =>
      isUnknownCodec(exchange) && isOpened(exchange) && hasCalls(transcript),
    (exchange) => {
      if (callReadyOf(exchange)) return [callFinding(exchange, EXPECTED_AUDIO_ERROR, 'call_ready')];
      if (sandboxMessagesOf(exchange, 'error').length > 0) return [];
      const close = sandboxCloseOf(exchange);
      const received = close ? `a closed WebSocket with ${close.code ?? 'no code'}` : 'no message';
      return [callFinding(exchange, EXPECTED_AUDIO_ERROR, received)];
    },
    explainNoCall,
  ),
  'VOICE-041': checkMessageShape({
    message: 'VoiceError',
    type: 'error',
    places: ['/error', '/error/code', '/error/message', '/error/details'],
    unjudged: noError,
    hint: 'Send {"type": "error", "error": {"code", "message", "details"}}.',
  }),
  'VOICE-042': checkEach(
    (exchange, transcript) =>
      definedErrorCodesOf(exchange, transcript).some((code) => typeof code === 'string'),
    (exchange, transcript) =>
      definedErrorCodesOf(exchange, transcript).flatMap((code) =>
        typeof code !== 'string' || ERROR_CODES.includes(code)
          ? []
          : [
              {
                exchange: exchange.id,
                pointer: '/error/code',
                expected: ERROR_CODES.join(' or '),
                received: formatValue(code),
              },
            ],
      ),
    noError,
  ),
  'VOICE-043': checkEach(
    (exchange) =>
      isUnknownCodec(exchange) &&
      errorCodesOf(exchange).some((code) => ERROR_CODES.includes(String(code))),
    (exchange) =>
      errorCodesOf(exchange)
        .filter((code) => code === 'connection_failed')
        .map((code) => ({
          exchange: exchange.id,
          pointer: '/error/code',
          expected: '"audio_error"',
          received: formatValue(code),
        })),
    unjudgedAs('not_observed', 'The sandbox sent no error message about the codec.'),
  ),
  'VOICE-044': checkConnectionFailed(),
  'VOICE-045': checkEach(
    (exchange) =>
      sandboxMessagesOf(exchange, 'error').length > 0 &&
      (sandboxCloseOf(exchange) !== undefined || exchange.failure !== undefined),
    (exchange) => {
      const code = sandboxCloseOf(exchange)?.code ?? 1006;
      const hasCause = code !== 1005 && code !== 1006;
      return hasCause
        ? []
        : [
            callFinding(
              exchange,
              'a close code',
              code === 1005 ? 'no close code' : 'a dropped connection',
            ),
          ];
    },
    unjudgedAs('not_observed', 'The sandbox closed no WebSocket after an error message.'),
  ),
} satisfies Partial<Record<VoiceRequirementId, Check>>;

/**
 * Checks the error after a wrong fingerprint. ICE may retry for longer than the kit waits, so a
 * missing error proves nothing, but an established connection does.
 */
function checkConnectionFailed(): Check {
  const isWrongFingerprint = isVoiceStep('wrong fingerprint');
  const hasOutcome = (exchange: Exchange): boolean =>
    errorCodesOf(exchange).some((code) => typeof code === 'string') || isConnected(exchange);
  return checkEach(
    (exchange) =>
      isWrongFingerprint(exchange) &&
      eventsOf(exchange, 'answered').length > 0 &&
      hasOutcome(exchange),
    (exchange) => {
      if (errorCodesOf(exchange).includes('connection_failed')) return [];
      const received = isConnected(exchange)
        ? 'an established connection'
        : `an error with the code ${formatValue(errorCodesOf(exchange)[0])}`;
      const hint = isConnected(exchange)
        ? 'Compare the fingerprint of the SDP answer with the certificate of the DTLS handshake, and refuse another one.'
        : undefined;
      return [callFinding(exchange, 'an error with the code connection_failed', received, hint)];
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
