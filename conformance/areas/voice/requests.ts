/** What the probes of the voice WebSocket send. */
import type { Intent } from '../../../src/contract/index.ts';
import type { CallMessage, CallScript } from '../../engine/drive/call/script.ts';
import { stepsOf, type Step } from '../../engine/probe.ts';
import { UNKNOWN_PATH, UPGRADE } from '../../engine/transcript/call-messages.ts';
import type { SandboxContext } from '../sandbox-state.ts';

/** The steps that use the WebSocket. An `open` one has no response that the specification defines. */
const intents = {
  [UPGRADE]: 'valid',
  minimal: 'valid',
  full: 'valid',
  'without user_id': 'valid',
  'without session_id': 'valid',
  'only metadata': 'valid',
  conversation: 'valid',
  overlap: 'valid',
  'longer overlap': 'valid',
  control: 'valid',
  'after other calls': 'valid',
  'unsupported codec': 'refuse',
  'unsupported codec, full': 'refuse',
  'no subprotocol': 'refuse',
  'another subprotocol': 'refuse',
  [UNKNOWN_PATH]: 'open',
  'wrong key': 'open',
  'no key': 'open',
  'unusable answer': 'open',
  'wrong fingerprint': 'open',
  'not JSON': 'open',
  'no type': 'open',
  'binary start_call': 'open',
  'no audio_config': 'open',
  'unknown type': 'open',
  'second start_call': 'open',
} as const satisfies Readonly<Record<string, Intent>>;

/** Any step of the voice probes that uses the WebSocket. */
export type VoiceStep = keyof typeof intents;

/** Creates a predicate for the calls of some steps: `isVoiceStep('full')(exchange)`. */
export const isVoiceStep = stepsOf<VoiceStep>('voice');

/** Creates a step with a call; without a script, the WebSocket is closed as soon as it opens. */
export const createCallStep = (
  step: VoiceStep,
  call?: CallScript,
  more: Partial<Step<VoiceStep>> = {},
): Step<VoiceStep> => ({
  endpoint: 'voice',
  step,
  intent: intents[step],
  ...(call && { call }),
  ...more,
});

/** The step with the health request after all calls. */
export const AFTER_CALLS = 'after calls';

/** A `start_call` in the minimal form (spec 6). */
export const minimalStart: CallMessage = { type: 'start_call', audio_config: { codec: 'opus' } };

/** Creates a `start_call` with every optional part and a new session id (spec 6). */
export function createFullStart({ users, random }: SandboxContext, codec = 'opus'): CallMessage {
  return {
    type: 'start_call',
    ...(users.chatAs !== undefined && { user_id: users.chatAs }),
    session_id: `sk_${random.id(12)}`,
    metadata: {
      scenario_id: 'late-parcel',
      persona: 'friendly',
      context: 'A customer asks for an order.',
      audio_config: { codec, sampleRate: 48_000 },
    },
  };
}
