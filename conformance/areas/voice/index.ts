import { createArea } from '../../engine/area.ts';
import { findVoiceAbsence } from './absence.ts';
import { callReady } from './call-ready.ts';
import { concurrentCalls } from './concurrent-calls.ts';
import { errors } from './errors.ts';
import { handshake } from './handshake.ts';
import { health } from './health.ts';
import { latency } from './latency.ts';
import { media } from './media.ts';
import { messages } from './messages.ts';
import { voiceNotices } from './notices.ts';
import { observeVoice } from './observed.ts';
import { offer } from './offer.ts';
import { voiceProbes } from './probes.ts';
import { startCall } from './start-call.ts';
import { updates } from './updates.ts';

/** The voice WebSocket and the media of its calls. */
export const voice = createArea({
  name: 'voice',
  endpoints: ['voice'],
  subjects: [
    handshake,
    startCall,
    messages,
    callReady,
    offer,
    updates,
    errors,
    media,
    concurrentCalls,
    latency,
    health,
  ],
  probes: voiceProbes,
  observe: observeVoice,
  notices: voiceNotices,
  findAbsence: findVoiceAbsence,
});
