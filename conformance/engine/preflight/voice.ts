import { noWayOf } from '../../areas/checks.ts';
import { describeOutcome, type Transcript } from '../transcript/reading.ts';
import { isOpened, isVoice, isVoiceAbsent, UPGRADE } from '../transcript/call-messages.ts';
import type { BlockingCause } from './preflight.ts';

/**
 * Why a preflight did not come to an open WebSocket; undefined where it did, or did not ask. That
 * there is no voice at all is wrong only where it is needed.
 */
export function shutVoice(
  { run, exchanges }: Transcript,
  isNeeded: boolean,
): BlockingCause | undefined {
  const probe = exchanges.findLast((one) => isVoice(one) && one.step === UPGRADE);
  if (!probe || isOpened(probe) || (!isNeeded && isVoiceAbsent(exchanges))) return undefined;
  const known = noWayOf(probe, run.voiceUrl ?? '');
  if (known) return { id: 'no_voice', ...known, evidence: probe };
  return {
    id: 'no_voice',
    message: `The WebSocket of its voice does not open: ${probe.request.path} is answered with ${describeOutcome(probe)}.`,
    cure: 'Check the address: /voice is appended to the URL, unless --voice-url names another; and the key.',
    evidence: probe,
  };
}
