import { stepsOf, type Step } from '../../engine/probe.ts';
import type { UNKNOWN_PATH, UPGRADE } from '../../engine/transcript/call-messages.ts';
import type { SandboxContext } from '../sandbox-state.ts';
import type { CallMessage, CallScript } from '../../engine/drive/call/script.ts';

/** The steps whose `start_call` is valid but omits optional parts. */
export const optionalPartSteps = [
  'without user_id',
  'without session_id',
  'only metadata',
] as const;

/** The steps with a codec that no sandbox supports. */
export const unknownCodecSteps = ['unsupported codec', 'unsupported codec, full'] as const;

/** The steps whose WebSocket request lacks the subprotocol `voice-agent`. */
export const wrongProtocolSteps = ['no subprotocol', 'another subprotocol'] as const;

/** A step with a valid call. */
export type ValidVoiceStep =
  | typeof UPGRADE
  | 'minimal'
  | 'full'
  | (typeof optionalPartSteps)[number]
  | 'conversation'
  | 'overlap'
  | 'longer overlap'
  | 'control'
  | 'after other calls';

/** A step with a call or a WebSocket request to refuse. */
export type RefusedVoiceStep =
  (typeof unknownCodecSteps)[number] | (typeof wrongProtocolSteps)[number];

/** A step for which the specification defines no response. */
export type OpenVoiceStep =
  | typeof UNKNOWN_PATH
  | 'wrong key'
  | 'no key'
  | 'unusable answer'
  | 'wrong fingerprint'
  | 'not JSON'
  | 'no type'
  | 'binary start_call'
  | 'no audio_config'
  | 'unknown type'
  | 'second start_call';

/** Any step of the voice probes that uses the WebSocket. */
export type VoiceStep = ValidVoiceStep | RefusedVoiceStep | OpenVoiceStep;

/** Creates a predicate for the calls of some steps: `isVoiceStep('full')(exchange)`. */
export const isVoiceStep = stepsOf<VoiceStep>('voice');

/** Creates a step with a valid call; without a script, the WebSocket is closed as soon as it opens. */
export const validCall = (step: ValidVoiceStep, call?: CallScript): Step<ValidVoiceStep> => ({
  endpoint: 'voice',
  step,
  intent: 'valid',
  ...(call && { call }),
});

/** Creates a step with a call to refuse. */
export const refusedCall = (
  step: RefusedVoiceStep,
  call: CallScript,
  more: Partial<Step<RefusedVoiceStep>> = {},
): Step<RefusedVoiceStep> => ({ endpoint: 'voice', step, intent: 'refuse', call, ...more });

/** Creates a step with a call for which the specification defines no response. */
export const openCall = (
  step: OpenVoiceStep,
  call?: CallScript,
  more: Partial<Step<OpenVoiceStep>> = {},
): Step<OpenVoiceStep> => ({
  endpoint: 'voice',
  step,
  intent: 'open',
  ...(call && { call }),
  ...more,
});

/** The step with the health request after all calls. */
export const AFTER_CALLS = 'after calls';

/** How long a probe waits for `call_ready`; the specification sets no limit. */
export const READY_MS_MAX = 15_000;

const OPUS = { codec: 'opus', sampleRate: 48_000 };

/** A `start_call` in the minimal form (spec 6). */
export const minimalStart: CallMessage = { type: 'start_call', audio_config: { codec: 'opus' } };

/** Creates a `start_call` with every optional part and a new session id (spec 6). */
export function createFullStart({ users, random }: SandboxContext): CallMessage {
  return {
    type: 'start_call',
    ...(users.chatAs !== undefined && { user_id: users.chatAs }),
    session_id: `sk_${random.id(12)}`,
    metadata: {
      scenario_id: 'late-parcel',
      persona: 'friendly',
      context: 'A customer asks for an order.',
      audio_config: OPUS,
    },
  };
}

/** Creates a `start_call` in the minimal and one in the full form, both with another codec than Opus. */
export function createStartsWithCodec(
  context: SandboxContext,
  codec: string,
): { minimal: CallMessage; full: CallMessage } {
  const full = createFullStart(context);
  const audioConfig = { ...OPUS, codec };
  return {
    minimal: { type: 'start_call', audio_config: { codec } },
    full: { ...full, metadata: { ...(full['metadata'] as object), audio_config: audioConfig } },
  };
}
