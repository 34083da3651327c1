import {
  ANY,
  createMessageMutants,
  failCall,
  handleCalls,
  interceptMessages,
  isFullStart,
  isStart,
  refuseUpgrade,
  replaceMessages,
  requestsOtherCodec,
  voiceMutant,
} from './combinators.ts';
import { voiceMediaMutants } from './media.ts';
import { voiceOfferMutants } from './offers.ts';
import { drop, set } from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type VoiceTransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { resolvePointer } from '../../../../src/contract/index.ts';
import { parseMessage } from '../../../../src/voice/call/index.ts';

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

const mutant = createMutantFactory('voice');
const READY = 'call_ready';
const inReady = createMessageMutants(READY);

/** Mutants with a wrong response to the WebSocket request. */
const handshakeMutants: Mutant[] = [
  voiceMutant('upgrade-refused', 'Refuses the upgrade with 400.', 'VOICE-001', refuseUpgrade(400)),
  voiceMutant(
    'upgrade-bad-gateway',
    'Responds to the upgrade with 502.',
    'VOICE-001',
    refuseUpgrade(502),
  ),
  voiceMutant('upgrade-200', 'Responds to the upgrade with 200.', 'VOICE-001', refuseUpgrade(200)),
  voiceMutant(
    'upgrade-dropped',
    'Closes the connection on an upgrade request.',
    'VOICE-001',
    () => ({
      respond: ({ path }) => (path === '/voice' ? 'dropped' : undefined),
    }),
  ),
  voiceMutant('other-protocol', 'Selects its own subprotocol.', 'VOICE-002', () => ({
    selectProtocol: () => 'voice-agent.v2',
  })),
  voiceMutant(
    'no-protocol-needed',
    'Accepts a WebSocket request without a subprotocol.',
    'VOICE-004',
    () => ({
      changeRequest: (request) =>
        request.protocols.length > 0 ? request : { ...request, protocols: ['voice-agent'] },
      selectProtocol: ({ protocols }) => protocols[0],
    }),
  ),
  voiceMutant('any-protocol', 'Accepts any subprotocol.', 'VOICE-004', () => ({
    changeRequest: (request) =>
      request.protocols.length > 0 ? { ...request, protocols: ['voice-agent'] } : request,
    selectProtocol: ({ protocols }) => protocols[0],
  })),
  voiceMutant('over-ws', 'Is on another host, without TLS.', 'VOICE-006', () => ({}), {
    run: (run) => ({ ...run, voiceUrl: 'ws://sandbox.example/voice' }),
  }),
];

/** Mutants that refuse or end valid calls. */
const callMutants: Mutant[] = [
  voiceMutant(
    'full-form-refused',
    'Accepts only the minimal form of `start_call`.',
    'VOICE-010',
    interceptMessages(
      (message) => isFullStart(message) && !requestsOtherCodec(message),
      (ends) => failCall(ends, 'connection_failed', 1007),
    ),
  ),
  voiceMutant(
    'minimal-form-refused',
    'Accepts only the full form of `start_call`.',
    'VOICE-011',
    interceptMessages(
      (message) => isStart(message) && !isFullStart(message) && !requestsOtherCodec(message),
      (ends) => failCall(ends, 'connection_failed', 1007),
    ),
  ),
  ...['user_id', 'session_id'].map((key) =>
    voiceMutant(
      `${key.replace('_', '-')}-wanted`,
      `Refuses a call without \`${key}\`.`,
      'VOICE-012',
      interceptMessages(
        (message) => isFullStart(message) && message[key] === undefined,
        (ends) => failCall(ends, 'connection_failed', 1007),
      ),
    ),
  ),
  voiceMutant(
    'error-in-call',
    'Sends an `error` message in a call that works.',
    'VOICE-013',
    replaceMessages(READY, (message) => [
      message,
      { type: 'error', error: { code: 'audio_error', message: 'No.' } },
    ]),
  ),
  voiceMutant(
    'cut-off',
    'Drops the connection one second after the SDP answer.',
    'VOICE-013',
    handleCalls((ends) => ({
      fromKit(text) {
        ends.toSandbox(text);
        if (parseMessage(text)?.['type'] === 'webrtc_answer') {
          void ends.clock.sleep(1_000).then(() => ends.closeKit());
        }
      },
    })),
  ),
  voiceMutant(
    'dead-after-garbage',
    'Accepts no more calls after a binary frame.',
    'VOICE-081',
    () => {
      let hasSeenBinary = false;
      return {
        handleCall: (ends) => ({
          fromKit(text, isBinary) {
            hasSeenBinary ||= isBinary;
            if (hasSeenBinary && isFullStart(parseMessage(text) ?? {}))
              failCall(ends, 'connection_failed', 1011);
            else ends.toSandbox(text);
          },
        }),
      };
    },
  ),
  mutant(
    'health-lost',
    'Responds to `GET /health` with 500 after the first request.',
    'VOICE-082',
    () => {
      let healthRequests = 0;
      return (request, forward) => {
        const isBroken = request.endpoint === 'health' && ++healthRequests > 1;
        return isBroken
          ? Promise.resolve({ status: 500, headers: {}, body: '' })
          : forward(request);
      };
    },
  ),
];

/** Sends a text before each `call_ready`. */
const sendBeforeReady = (text: string): VoiceTransformFactory =>
  replaceMessages(READY, (message) => [text, message]);

/** Mutants with a wrong message at the start of a call. */
const callReadyMutants: Mutant[] = [
  voiceMutant(
    'says-text',
    'Sends a message that is not JSON.',
    'VOICE-014',
    sendBeforeReady('ready'),
  ),
  voiceMutant('says-a-list', 'Sends a JSON array.', 'VOICE-014', sendBeforeReady('[]')),
  voiceMutant(
    'says-no-type',
    'Sends an object without `type`.',
    'VOICE-014',
    sendBeforeReady('{"ok":true}'),
  ),
  voiceMutant(
    'says-a-typed-number',
    'Sends `type` as a number.',
    'VOICE-014',
    sendBeforeReady('{"type":7}'),
  ),
  inReady('call-id-missing', 'Omits `call_id`.', 'VOICE-020', drop('/call_id')),
  inReady('call-id-a-number', 'Sends `call_id` as a number.', 'VOICE-020', set('/call_id', 17)),
  inReady('offer-missing', 'Omits `webrtc_offer`.', 'VOICE-021', drop('/webrtc_offer')),
  inReady(
    'offer-an-answer',
    'Sends the offer with the type `answer`.',
    'VOICE-021',
    set('/webrtc_offer/type', 'answer'),
  ),
  inReady(
    'offer-a-string',
    'Sends `webrtc_offer` as a string.',
    'VOICE-021',
    set('/webrtc_offer', 'v=0'),
  ),
  inReady('sdp-missing', 'Omits `webrtc_offer.sdp`.', 'VOICE-021', drop('/webrtc_offer/sdp')),
  inReady(
    'session-a-number',
    'Sends `session_id` as a number.',
    'VOICE-022',
    set('/session_id', 5),
  ),
  inReady(
    'session-other',
    'Replaces `session_id` with its own.',
    'VOICE-023',
    set('/session_id', 'mine'),
  ),
  inReady('session-missing', 'Omits `session_id`.', 'VOICE-023', drop('/session_id')),
  inReady(
    'agent-ready-yes',
    'Sends `agent_ready` as a string.',
    'VOICE-024',
    set('/metadata/agent_ready', 'yes'),
  ),
  inReady(
    'codecs-listed',
    'Sends `audio_codec` as an array.',
    'VOICE-024',
    set('/metadata/audio_codec', ['opus']),
  ),
  inReady(
    'setup-time-a-number',
    'Sends `estimated_setup_time` as a number.',
    'VOICE-024',
    set('/metadata/estimated_setup_time', 200),
  ),
  inReady('metadata-null', 'Sends `metadata` as null.', 'VOICE-024', set('/metadata', null)),
  inReady(
    'quality-a-number',
    'Sends `connection_quality` as a number.',
    'VOICE-025',
    set('/evaluation_metadata/connection_quality', 5),
  ),
  inReady(
    'setup-success-a-string',
    'Sends `setup_success` as a string.',
    'VOICE-025',
    set('/evaluation_metadata/setup_success', 'true'),
  ),
  inReady(
    'audio-path-a-number',
    'Sends `audio_path_established` as a number.',
    'VOICE-025',
    set('/evaluation_metadata/audio_path_established', 0),
  ),
  voiceMutant(
    'call-ids-alike',
    'Sends the same `call_id` in every call.',
    'VOICE-026',
    replaceMessages(ANY, (message) => [
      'call_id' in message ? { ...message, call_id: 'call-1' } : message,
    ]),
  ),
];

/** Mutants of the voice WebSocket and its calls. */
export const voiceMutants: readonly Mutant[] = [
  ...handshakeMutants,
  ...callMutants,
  ...callReadyMutants,
  ...voiceErrorMutants,
  ...voiceOfferMutants,
  ...voiceMediaMutants,
];
