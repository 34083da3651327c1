import { valueAt } from '../../../../src/contract/index.ts';
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
import type { VoiceTransformFactory } from '../../../engine/mutants/call-transform.ts';

const ERROR = 'error';
const inError = createMessageMutants(ERROR);

/** Puts another code in the place of one. */
const errorsOf = (code: string, other: string): VoiceTransformFactory =>
  replaceMessages(ERROR, (message) => {
    const isOne = valueAt(message, '/error/code') === code;
    return [
      isOne ? { ...message, error: { ...(message['error'] as object), code: other } } : message,
    ];
  });

/** Mutants of the errors of a call (spec 6, 7). */
export const voiceErrorMutants: readonly Mutant[] = [
  voiceMutant(
    'codec-taken',
    'Takes any codec, and offers Opus.',
    'VOICE-040',
    handleCalls((ends) => ({
      fromKit(text) {
        ends.toSandbox(text.replaceAll(/"codec":"[^"]*"/g, '"codec":"opus"'));
      },
    })),
  ),
  voiceMutant(
    'codec-closed',
    'Closes without a word when it does not have the codec.',
    'VOICE-040',
    interceptMessages(requestsOtherCodec, (ends) => {
      ends.closeKit(1003);
      ends.closeSandbox();
    }),
  ),
  inError('error-without-code', 'Says errors without a code.', 'VOICE-041', drop('/error/code')),
  inError('error-code-a-number', 'Numbers its errors.', 'VOICE-041', set('/error/code', 4406)),
  inError(
    'error-without-message',
    'Says errors without a message.',
    'VOICE-041',
    drop('/error/message'),
  ),
  inError('error-details-listed', 'Lists details.', 'VOICE-041', set('/error/details', [])),
  inError('error-a-string', 'Says errors in one string.', 'VOICE-041', set('/error', 'No.')),
  voiceMutant(
    'error-of-its-own',
    'Has a code of its own for codecs.',
    'VOICE-042',
    errorsOf('audio_error', 'unsupported_codec'),
  ),
  voiceMutant(
    'codec-connection-failed',
    'Says connection_failed of a codec.',
    'VOICE-043',
    interceptMessages(requestsOtherCodec, (ends) => failCall(ends, 'connection_failed', 4406)),
  ),
  voiceMutant(
    'connection-audio-error',
    'Says audio_error of a connection that fails.',
    'VOICE-044',
    errorsOf('connection_failed', 'audio_error'),
  ),
];
