import { isMediaUnjudged } from '../checks/index.ts';
import type { Transcript } from '../transcript/reading.ts';
import { claimsVoice, isVoiceAbsent } from '../transcript/voice-reading.ts';

/** What has to be known beside the verdict of a run, in a sentence or two each. */
export function noticesOf(transcript: Transcript): string[] {
  return [
    ...(isMediaUnjudged(transcript) ? [NO_MEDIA] : []),
    ...(isVoiceMissing(transcript) ? [missingAt(transcript.run.voiceUrl ?? '/voice')] : []),
  ];
}

/** Whether health speaks of voice, and none is there. */
function isVoiceMissing({ run, exchanges }: Transcript): boolean {
  return run.areas.includes('voice') && isVoiceAbsent(exchanges) && exchanges.some(claimsVoice);
}

const missingAt = (address: string): string =>
  `Voice was not judged: there is none at ${address}, though health says that webrtc_status is operational. If it is elsewhere: --voice-url.`;

const NO_MEDIA =
  'Media was not judged: no answer to its offer was taken. If the sandbox takes one under another name: --voice-answer-type, --voice-answer-field.';
