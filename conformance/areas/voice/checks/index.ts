import type { VoiceRequirementId } from '../requirements.ts';
import type { Check } from '../../../engine/checks/check.ts';
import { skipWithoutVoice } from './call-checks.ts';
import { errorChecks } from './errors.ts';
import { handshakeChecks } from './handshake.ts';
import { latencyChecks } from './latency.ts';
import { mediaChecks } from './media.ts';
import { messageChecks } from './messages.ts';
import { offerChecks } from './offer.ts';

const checks: Readonly<Record<VoiceRequirementId, Check>> = {
  ...handshakeChecks,
  ...messageChecks,
  ...errorChecks,
  ...offerChecks,
  ...mediaChecks,
  ...latencyChecks,
};

/** The checks for voice, by requirement. */
export const voiceChecks = Object.fromEntries(
  Object.entries(checks).map(([id, check]) => [id, skipWithoutVoice(check)]),
) as Readonly<Record<VoiceRequirementId, Check>>;
