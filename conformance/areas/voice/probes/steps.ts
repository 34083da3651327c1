import type { Step } from '../../../engine/probe.ts';
import type { SandboxContext } from '../../sandbox-state.ts';
import type { Intent } from '../../../../src/contract/index.ts';
import type { CallMessage, CallScript } from '../../../engine/drive/call/script.ts';

/** No time is set for `call_ready`; a call for which it takes longer is not waited for. */
export const READY_MS_MAX = 15_000;

/** A call, or with no script a WebSocket that is closed once it has opened. */
export function calling(step: string, intent: Intent, call?: CallScript): Step {
  return { endpoint: 'voice', step, intent, ...(call && { call }) };
}

const OPUS = { codec: 'opus', sampleRate: 48_000 };

/** `start_call` with nothing but what it needs (spec 6). */
export const minimalStart: CallMessage = { type: 'start_call', audio_config: { codec: 'opus' } };

/** `start_call` with all that it may have (spec 6), in a session of its own. */
export function fullStart({ users, random }: SandboxContext): CallMessage {
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

/** `start_call` with this codec in place of Opus, in its minimal and in its full form. */
export function startsWithCodec(
  context: SandboxContext,
  codec: string,
): { minimal: CallMessage; full: CallMessage } {
  const full = fullStart(context);
  const audio_config = { ...OPUS, codec };
  return {
    minimal: { type: 'start_call', audio_config: { codec } },
    full: { ...full, metadata: { ...(full['metadata'] as object), audio_config } },
  };
}
