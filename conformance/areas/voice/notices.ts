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
    ...describeRefusedAddresses(transcript),
    ...(isMediaUnjudged(transcript) ? [describeUnjudgedMedia(transcript)] : []),
    ...(transcript.run.areas.includes('voice') && isVoiceAbsent(transcript.exchanges)
      ? [describeAbsence(transcript)]
      : []),
  ];
}

const ADDRESSES_SHOWN_MAX = 5;

/** A sandbox must not make the kit send packets into other networks. */
function describeRefusedAddresses({ exchanges }: Transcript): string[] {
  const addresses = new Set(exchanges.flatMap(({ call }) => call?.media?.refusedAddresses ?? []));
  if (addresses.size === 0) return [];
  const shown = [...addresses].slice(0, ADDRESSES_SHOWN_MAX).join(', ');
  const more = addresses.size > ADDRESSES_SHOWN_MAX ? ' and more' : '';
  return [
    `No media was sent to ${shown}${more}: the offer names these addresses, but they are not in the network of the sandbox.`,
  ];
}

function describeAbsence({ run, exchanges }: Transcript): string {
  const address = run.voiceUrl ?? '/voice';
  const claim = exchanges.some(claimsVoice)
    ? ', although webrtc_status of the health response is operational'
    : '';
  return `Voice was not judged: no voice endpoint at ${address}${claim}. If voice has another address, set --voice-url.`;
}
