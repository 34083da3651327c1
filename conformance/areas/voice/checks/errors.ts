import { brief, valueAt } from '../../../../src/contract/index.ts';
import type { voiceRequirements } from '../requirements.ts';
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
  callReadyOf,
  sandboxMessagesOf,
} from '../../../engine/transcript/call-messages.ts';
import { unjudgedAs, checkEach, type Check } from '../../../engine/checks/check.ts';
import { checkMessageShape, explainNoCall, explainNoMedia, callFinding } from './call-checks.ts';

const NO_ERROR = unjudgedAs('not_observed', 'No error was seen.');
const CODES = ['connection_failed', 'audio_error'];

const isOfCodec = (one: Exchange): boolean =>
  isVoice(one) && one.step.startsWith('unsupported codec') && !isRateLimited(one);
const codesIn = (one: Exchange): unknown[] =>
  sandboxMessagesOf(one, 'error').map(({ json }) => valueAt(json, '/error/code'));

/** Whether any call came about: what refuses them all, refuses no codec. */
const hasCalls = ({ exchanges }: Transcript): boolean =>
  exchanges.some((one) => isVoice(one) && one.intent === 'valid' && callReadyOf(one) !== undefined);

/** The checks of errors (spec 6, 7). */
export const errorChecks = {
  'VOICE-040': checkEach(
    (one, transcript) => isOfCodec(one) && isOpened(one) && hasCalls(transcript),
    (one) => {
      if (callReadyOf(one)) return [callFinding(one, 'an error audio_error', 'call_ready')];
      if (sandboxMessagesOf(one, 'error').length > 0) return [];
      const close = sandboxCloseOf(one);
      const received = close ? `the end of the WebSocket, ${close.code ?? ''}` : 'nothing';
      return [callFinding(one, 'an error audio_error', received)];
    },
    explainNoCall,
  ),
  'VOICE-041': checkMessageShape({
    message: 'VoiceError',
    type: 'error',
    at: ['/error', '/error/code', '/error/message', '/error/details'],
    absent: NO_ERROR,
    hint: 'The shape is {"type": "error", "error": {"code", "message", "details"}}.',
  }),
  'VOICE-042': checkEach(
    (one) => codesIn(one).some((code) => typeof code === 'string'),
    (one) =>
      codesIn(one).flatMap((code) =>
        typeof code !== 'string' || CODES.includes(code)
          ? []
          : [
              {
                exchange: one.id,
                pointer: '/error/code',
                expected: CODES.join(' or '),
                received: brief(code),
              },
            ],
      ),
    NO_ERROR,
  ),
  'VOICE-043': checkEach(
    (one) => isOfCodec(one) && codesIn(one).some((code) => CODES.includes(String(code))),
    (one) =>
      codesIn(one)
        .filter((code) => code === 'connection_failed')
        .map((code) => ({
          exchange: one.id,
          pointer: '/error/code',
          expected: '"audio_error"',
          received: brief(code),
        })),
    unjudgedAs('not_observed', 'No error about the codec was seen.'),
  ),
  'VOICE-044': connectionFailed(),
  'VOICE-045': checkEach(
    (one) =>
      sandboxMessagesOf(one, 'error').length > 0 &&
      (sandboxCloseOf(one) !== undefined || one.failure !== undefined),
    (one) => {
      const code = sandboxCloseOf(one)?.code ?? 1006;
      const isTelling = code !== 1005 && code !== 1006;
      return isTelling ? [] : [callFinding(one, 'a close code', code === 1005 ? 'none' : 'a cut')];
    },
    unjudgedAs('not_observed', 'No WebSocket was closed after an error.'),
  ),
} satisfies Partial<Record<keyof typeof voiceRequirements, Check>>;

/**
 * What is told of a connection that can't be made. ICE may try for longer than the kit waits, so that
 * silence says nothing; that the connection came about all the same says much.
 */
function connectionFailed(): Check {
  const isOf = (one: Exchange): boolean => isVoice(one) && one.step === 'keys refused';
  const told = (one: Exchange): boolean =>
    codesIn(one).some((code) => typeof code === 'string') || isConnected(one);
  return checkEach(
    (one) => isOf(one) && eventsOf(one, 'answered').length > 0 && told(one),
    (one) => {
      if (codesIn(one).includes('connection_failed')) return [];
      const received = isConnected(one) ? 'a connection' : `an error ${brief(codesIn(one)[0])}`;
      const hint = isConnected(one)
        ? 'The fingerprint of the answer is not the one of the certificate that was shown: compare them.'
        : undefined;
      return [callFinding(one, 'an error connection_failed', received, hint)];
    },
    (transcript) =>
      transcript.exchanges.some(isConnected)
        ? {
            verdict: 'not_observed',
            reason: 'Nothing was told of a connection that can not be made, while the kit waited.',
          }
        : explainNoMedia(transcript),
  );
}
