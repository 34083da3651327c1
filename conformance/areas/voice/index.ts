import { voiceMutants } from './mutants/index.ts';
import { voiceVariants } from './variants.ts';
import { findVoiceAbsence } from './absence.ts';
import { describeRefusedAnswer, isMediaUnjudged } from './checks/call-checks.ts';
import { voiceChecks } from './checks/index.ts';
import { observeVoice } from './observed.ts';
import { voiceProbes } from './probes.ts';
import { voiceRequirements } from './requirements.ts';
import { defineArea } from '../../engine/area.ts';
import { claimsVoice, isVoiceAbsent } from '../../engine/transcript/call-messages.ts';
import type { Transcript } from '../../engine/transcript/transcript.ts';

const describeUnjudgedMedia = (transcript: Transcript): string => {
  const observed = describeRefusedAnswer(transcript) ?? 'the sandbox ignored the SDP answer';
  return `Media was not judged: ${observed}. If it expects another message or field, set --voice-answer-type and --voice-answer-field.`;
};

/** Explains why parts of voice were not judged. */
export function voiceNotices(
  transcript: Transcript,
  { isBlocked }: { isBlocked: boolean },
): readonly string[] {
  if (isBlocked) return [];
  return [
    ...(isMediaUnjudged(transcript) ? [describeUnjudgedMedia(transcript)] : []),
    ...(transcript.run.areas.includes('voice') && isVoiceAbsent(transcript.exchanges)
      ? [describeAbsence(transcript)]
      : []),
  ];
}

function describeAbsence({ run, exchanges }: Transcript): string {
  const address = run.voiceUrl ?? '/voice';
  const claim = exchanges.some(claimsVoice)
    ? ', although webrtc_status of the health response is operational'
    : '';
  return `Voice was not judged: no voice endpoint at ${address}${claim}. If voice has another address, set --voice-url.`;
}

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
  mutants: voiceMutants,
  variants: voiceVariants,
});
