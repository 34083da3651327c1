/** Explains why parts of voice were not judged. */
import { claimsVoice, isVoiceAbsent } from '../../engine/transcript/call-messages.ts';
import type { Transcript } from '../../engine/transcript/transcript.ts';
import { describeRefusedAnswer, isMediaUnjudged } from './media-evidence.ts';

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
