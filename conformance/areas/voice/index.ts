import { defineArea } from '../../engine/area.ts';
import { findVoiceAbsence } from './absence.ts';
import { voiceChecks } from './checks/index.ts';
import { voiceNotices } from './notices.ts';
import { observeVoice } from './observed.ts';
import { voiceProbes } from './probes.ts';
import { voiceRequirements } from './requirements.ts';

/** The voice WebSocket and the media of its calls. */
export const voice = defineArea({
  name: 'voice',
  endpoints: ['voice'],
  requirements: voiceRequirements,
  checks: voiceChecks,
  probes: voiceProbes,
  observe: observeVoice,
  notices: voiceNotices,
  findAbsence: findVoiceAbsence,
});
