import { claimsVoice, isVoiceAbsent } from '../../engine/transcript/call-messages.ts';
import type { Transcript } from '../../engine/transcript/transcript.ts';
import { isMediaUnjudged } from './checks/call-checks.ts';

const NO_MEDIA =
  'Media was not judged: no answer to its offer was taken. If the sandbox takes one under another name: --voice-answer-type, --voice-answer-field.';

/** Explains why parts of voice were not judged. */
export function voiceNotices(
  transcript: Transcript,
  { isBlocked }: { isBlocked: boolean },
): readonly string[] {
  if (isBlocked) return [];
  return [
    ...(isMediaUnjudged(transcript) ? [NO_MEDIA] : []),
    ...(isVoiceMissing(transcript) ? [missingAt(transcript.run.voiceUrl ?? '/voice')] : []),
  ];
}

function isVoiceMissing({ run, exchanges }: Transcript): boolean {
  return run.areas.includes('voice') && isVoiceAbsent(exchanges) && exchanges.some(claimsVoice);
}

const missingAt = (address: string): string =>
  `Voice was not judged: there is none at ${address}, though health says that webrtc_status is operational. If it is elsewhere: --voice-url.`;
