import { resolvePointer } from '../../../../src/contract/index.ts';
import { drop, set } from '../../../engine/mutants/combinators.ts';
import type { Mutant } from '../../../engine/mutants/mutant.ts';
import {
  interceptMessages,
  requestsOtherCodec,
  createMessageMutants,
  voiceMutant,
  failCall,
  handleCalls,
  replaceMessages,
} from './combinators.ts';
import type { VoiceTransformFactory } from '../../../engine/mutants/mutant.ts';

const ERROR = 'error';
const inError = createMessageMutants(ERROR);

/** Replaces one error code with another. */
const replaceErrorCode = (code: string, replacement: string): VoiceTransformFactory =>
  replaceMessages(ERROR, (message) => [
    resolvePointer(message, '/error/code') === code
      ? { ...message, error: { ...(message['error'] as object), code: replacement } }
      : message,
  ]);

/** Mutants with wrong `error` messages (spec 6, 7). */
export const voiceErrorMutants: readonly Mutant[] = [
  voiceMutant(
    'codec-taken',
    'Accepts any codec and offers Opus.',
    'VOICE-040',
    handleCalls((ends) => ({
      fromKit(text) {
        ends.toSandbox(text.replaceAll(/"codec":"[^"]*"/g, '"codec":"opus"'));
      },
    })),
  ),
  voiceMutant(
    'codec-closed',
    'Closes the WebSocket without an `error` message when the codec is unknown.',
    'VOICE-040',
    interceptMessages(requestsOtherCodec, (ends) => {
      ends.closeKit(1003);
      ends.closeSandbox();
    }),
  ),
  inError('error-without-code', 'Omits `error.code`.', 'VOICE-041', drop('/error/code')),
  inError(
    'error-code-a-number',
    'Sends `error.code` as a number.',
    'VOICE-041',
    set('/error/code', 4406),
  ),
  inError('error-without-message', 'Omits `error.message`.', 'VOICE-041', drop('/error/message')),
  inError(
    'error-details-listed',
    'Sends `error.details` as an array.',
    'VOICE-041',
    set('/error/details', []),
  ),
  inError('error-a-string', 'Sends `error` as a string.', 'VOICE-041', set('/error', 'No.')),
  voiceMutant(
    'error-of-its-own',
    'Sends its own error code for an unknown codec.',
    'VOICE-042',
    replaceErrorCode('audio_error', 'unsupported_codec'),
  ),
  voiceMutant(
    'codec-connection-failed',
    'Sends `connection_failed` for an unknown codec.',
    'VOICE-043',
    interceptMessages(requestsOtherCodec, (ends) => failCall(ends, 'connection_failed', 4406)),
  ),
  voiceMutant(
    'connection-audio-error',
    'Sends `audio_error` for a failed connection.',
    'VOICE-044',
    replaceErrorCode('connection_failed', 'audio_error'),
  ),
];
