import { mutantsOf, type Mutant } from '../../../engine/mutants/mutant.ts';
import { drop, set } from '../../../engine/mutants/combinators.ts';
import {
  ANY,
  interceptMessages,
  requestsOtherCodec,
  createMessageMutants,
  voiceMutant,
  failCall,
  isFullStart,
  isStart,
  messageIn,
  handleCalls,
  refuseUpgrade,
  replaceMessages,
} from './combinators.ts';
import { voiceErrorMutants } from './errors.ts';
import { voiceMediaMutants } from './media.ts';
import { voiceOfferMutants } from './offers.ts';
import type { VoiceTransformFactory } from '../../../engine/mutants/call-transform.ts';

const mutant = mutantsOf('voice');
const READY = 'call_ready';
const inReady = createMessageMutants(READY);

/** The request for a WebSocket. */
const handshake: Mutant[] = [
  voiceMutant('upgrade-refused', 'Refuses the upgrade with 400.', 'VOICE-001', refuseUpgrade(400)),
  voiceMutant('upgrade-bad-gateway', 'Answers the upgrade with 502.', 'VOICE-001', refuseUpgrade(502)),
  voiceMutant('upgrade-200', 'Answers the upgrade with 200.', 'VOICE-001', refuseUpgrade(200)),
  voiceMutant('upgrade-dropped', 'Drops who asks for an upgrade.', 'VOICE-001', () => ({
    respond: ({ path }) => (path === '/voice' ? 'dropped' : undefined),
  })),
  voiceMutant('other-protocol', 'Names a subprotocol of its own.', 'VOICE-002', () => ({
    selectProtocol: () => 'voice-agent.v2',
  })),
  voiceMutant('no-protocol-needed', 'Serves who names no subprotocol.', 'VOICE-004', () => ({
    changeRequest: (asked) => (asked.protocols.length > 0 ? asked : { ...asked, protocols: ['voice-agent'] }),
    selectProtocol: ({ protocols }) => protocols[0],
  })),
  voiceMutant('any-protocol', 'Serves whichever subprotocol is named.', 'VOICE-004', () => ({
    changeRequest: (asked) => (asked.protocols.length > 0 ? { ...asked, protocols: ['voice-agent'] } : asked),
    selectProtocol: ({ protocols }) => protocols[0],
  })),
  voiceMutant('over-ws', 'Is reached without TLS, beyond this machine.', 'VOICE-006', () => ({}), {
    run: (run) => ({ ...run, voiceUrl: 'ws://sandbox.example/voice' }),
  }),
];

/** How calls begin and go on. */
const course: Mutant[] = [
  voiceMutant(
    'full-form-refused',
    'Takes the minimal form of start_call alone.',
    'VOICE-010',
    interceptMessages(
      (message) => isFullStart(message) && !requestsOtherCodec(message),
      (ends) => failCall(ends, 'connection_failed', 1007),
    ),
  ),
  voiceMutant(
    'minimal-form-refused',
    'Takes the full form of start_call alone.',
    'VOICE-011',
    interceptMessages(
      (message) => isStart(message) && !isFullStart(message) && !requestsOtherCodec(message),
      (ends) => failCall(ends, 'connection_failed', 1007),
    ),
  ),
  ...['user_id', 'session_id'].map((key) =>
    voiceMutant(
      `${key.replace('_', '-')}-wanted`,
      `Refuses a call without ${key}.`,
      'VOICE-012',
      interceptMessages(
        (message) => isFullStart(message) && message[key] === undefined,
        (ends) => failCall(ends, 'connection_failed', 1007),
      ),
    ),
  ),
  voiceMutant(
    'error-in-call',
    'Says an error in a call that is well.',
    'VOICE-013',
    replaceMessages(READY, (message) => [
      message,
      { type: 'error', error: { code: 'audio_error', message: 'No.' } },
    ]),
  ),
  voiceMutant(
    'cut-off',
    'Cuts a call off once it was answered.',
    'VOICE-013',
    handleCalls((ends) => ({
      fromKit(text) {
        ends.toSandbox(text);
        if (messageIn(text)?.['type'] === 'webrtc_answer') {
          void ends.clock.sleep(1_000).then(() => ends.closeKit());
        }
      },
    })),
  ),
  voiceMutant(
    'dead-after-garbage',
    'Takes no more calls after bytes that it does not know.',
    'VOICE-081',
    () => {
      let isDead = false;
      return {
        handleCall: (ends) => ({
          fromKit(text, isBinary) {
            isDead ||= isBinary;
            if (isDead && isFullStart(messageIn(text) ?? {}))
              failCall(ends, 'connection_failed', 1011);
            else ends.toSandbox(text);
          },
        }),
      };
    },
  ),
  mutant('health-lost', 'Has no health any more when it was called.', 'VOICE-082', () => {
    let asked = 0;
    return (one, forward) => {
      const isLost = one.endpoint === 'health' && ++asked > 1;
      return isLost ? Promise.resolve({ status: 500, headers: {}, body: '' }) : forward(one);
    };
  }),
];

const before = (text: string): VoiceTransformFactory => replaceMessages(READY, (message) => [text, message]);

/** What stands in messages about how a call begins. */
const ready: Mutant[] = [
  voiceMutant('says-text', 'Says something that is not JSON.', 'VOICE-014', before('ready')),
  voiceMutant('says-a-list', 'Says a list.', 'VOICE-014', before('[]')),
  voiceMutant('says-no-type', 'Says an object without a type.', 'VOICE-014', before('{"ok":true}')),
  voiceMutant('says-a-typed-number', 'Numbers its types.', 'VOICE-014', before('{"type":7}')),
  inReady('call-id-missing', 'Leaves call_id out.', 'VOICE-020', drop('/call_id')),
  inReady('call-id-a-number', 'Numbers its calls.', 'VOICE-020', set('/call_id', 17)),
  inReady('offer-missing', 'Makes no offer.', 'VOICE-021', drop('/webrtc_offer')),
  inReady(
    'offer-an-answer',
    'Calls its offer an answer.',
    'VOICE-021',
    set('/webrtc_offer/type', 'answer'),
  ),
  inReady(
    'offer-a-string',
    'Gives the description alone.',
    'VOICE-021',
    set('/webrtc_offer', 'v=0'),
  ),
  inReady('sdp-missing', 'Offers without sdp.', 'VOICE-021', drop('/webrtc_offer/sdp')),
  inReady('session-a-number', 'Numbers its sessions.', 'VOICE-022', set('/session_id', 5)),
  inReady('session-other', 'Names a session of its own.', 'VOICE-023', set('/session_id', 'mine')),
  inReady('session-missing', 'Names no session.', 'VOICE-023', drop('/session_id')),
  inReady(
    'agent-ready-yes',
    'Is ready in words.',
    'VOICE-024',
    set('/metadata/agent_ready', 'yes'),
  ),
  inReady(
    'codecs-listed',
    'Lists its codecs.',
    'VOICE-024',
    set('/metadata/audio_codec', ['opus']),
  ),
  inReady(
    'setup-time-a-number',
    'Gives estimated_setup_time as a number.',
    'VOICE-024',
    set('/metadata/estimated_setup_time', 200),
  ),
  inReady('metadata-null', 'Makes metadata null.', 'VOICE-024', set('/metadata', null)),
  inReady(
    'quality-a-number',
    'Numbers connection_quality.',
    'VOICE-025',
    set('/evaluation_metadata/connection_quality', 5),
  ),
  inReady(
    'setup-success-a-string',
    'Succeeds in words.',
    'VOICE-025',
    set('/evaluation_metadata/setup_success', 'true'),
  ),
  inReady(
    'audio-path-a-number',
    'Gives audio_path_established as 0.',
    'VOICE-025',
    set('/evaluation_metadata/audio_path_established', 0),
  ),
  voiceMutant(
    'call-ids-alike',
    'Gives every call the same id.',
    'VOICE-026',
    replaceMessages(ANY, (message) => ['call_id' in message ? { ...message, call_id: 'call-1' } : message]),
  ),
];

/** Every mutant of the voice endpoint. */
export const voiceMutants: readonly Mutant[] = [
  ...handshake,
  ...course,
  ...ready,
  ...voiceErrorMutants,
  ...voiceOfferMutants,
  ...voiceMediaMutants,
];
