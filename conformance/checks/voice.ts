import type { voiceRequirements } from '../requirements/voice.ts';
import type { Check } from './check.ts';
import { voiced } from './voice-checks.ts';
import { errorChecks } from './voice-errors.ts';
import { handshakeChecks } from './voice-handshake.ts';
import { latencyChecks } from './voice-latency.ts';
import { mediaChecks } from './voice-media.ts';
import { messageChecks } from './voice-messages.ts';
import { offerChecks } from './voice-offer.ts';

type VoiceId = keyof typeof voiceRequirements;

const all: Readonly<Record<VoiceId, Check>> = {
  ...handshakeChecks,
  ...messageChecks,
  ...errorChecks,
  ...offerChecks,
  ...mediaChecks,
  ...latencyChecks,
};

/** The checks of the voice WebSocket, one for each requirement. */
export const voiceChecks = Object.fromEntries(
  Object.entries(all).map(([id, check]) => [id, voiced(check)]),
) as Readonly<Record<VoiceId, Check>>;
