import type { voiceRequirements } from '../requirements.ts';
import type { Check } from '../../../engine/checks/check.ts';
import { skipWithoutVoice } from './call-checks.ts';
import { errorChecks } from './errors.ts';
import { handshakeChecks } from './handshake.ts';
import { latencyChecks } from './latency.ts';
import { mediaChecks } from './media.ts';
import { messageChecks } from './messages.ts';
import { offerChecks } from './offer.ts';

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
  Object.entries(all).map(([id, check]) => [id, skipWithoutVoice(check)]),
) as Readonly<Record<VoiceId, Check>>;
