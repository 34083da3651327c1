import { isMediaUnjudged } from '../../areas/checks.ts';
import { valueAt } from '../../../src/contract/index.ts';
import { CLOCK_RESET_STEP } from '../../areas/probes.ts';
import { isAccepted, type Transcript } from '../transcript/reading.ts';
import { claimsVoice, isVoiceAbsent } from '../transcript/call-messages.ts';

/** What has to be known beside the verdict of a run, in a sentence or two each. */
export function noticesOf(transcript: Transcript, isGated: boolean): string[] {
  if (isGated) return clockNotice(transcript);
  return [
    ...(isMediaUnjudged(transcript) ? [NO_MEDIA] : []),
    ...clockNotice(transcript),
    ...(isVoiceMissing(transcript) ? [missingAt(transcript.run.voiceUrl ?? '/voice')] : []),
  ];
}

const HOUR_MS = 3_600_000;

/** That the clock of the service was moved on, and could not be put back. */
function clockNotice({ exchanges }: Transcript): string[] {
  const moves = exchanges.filter((one) => one.endpoint === 'admin' && isAccepted(one));
  if (moves.some(({ step }) => step === CLOCK_RESET_STEP)) return [];
  const movedMs = moves
    .map(({ sent }) => valueAt(sent, '/advance_ms'))
    .reduce((sum: number, ms) => sum + (typeof ms === 'number' ? ms : 0), 0);
  if (movedMs === 0) return [];
  const hours = Math.round((movedMs / HOUR_MS) * 10) / 10;
  return [
    `The clock of the service was moved on by ${hours} hours, and could not be put back: start the service anew for the time of its machine.`,
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
