import {
  isOpened,
  isVoice,
  isVoiceAbsent,
  refusedAsUnknown,
  UPGRADE,
} from '../../engine/transcript/call-messages.ts';
import type { BlockingCause, Preflight } from '../../engine/preflight/blocking-cause.ts';
import {
  describeOutcome,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { noWayOf } from './checks/upgrade.ts';

const isUpgrade = (one: Exchange): boolean => isVoice(one) && one.step === UPGRADE;

/** Failures that say nothing about an unknown path, because nothing at all can be asked there. */
const UNREACHABLE: readonly unknown[] = ['refused', 'unresolved', 'tls', 'plain_http', 'protocol'];

/**
 * Returns why a run of voice alone has nothing to judge. If the WebSocket request got no response,
 * the failure is the cause, because nothing else is known.
 */
export function findVoiceAbsence({ run, exchanges }: Preflight): BlockingCause | undefined {
  const upgrade = exchanges.findLast(isUpgrade);
  if (!upgrade) return undefined;
  const { failure } = upgrade;
  const noWay = noWayOf(upgrade, run.voiceUrl ?? '');
  const isAlike = refusedAsUnknown(exchanges) !== undefined;
  if (failure && noWay && (isAlike || UNREACHABLE.includes(failure.kind))) {
    return { id: failure.kind, ...noWay, evidence: upgrade };
  }
  if (!isVoiceAbsent(exchanges)) return undefined;
  return {
    id: 'no_voice',
    message: `There is no voice here: the WebSocket is refused like an unknown path (${describeOutcome(upgrade)}).`,
    cure: 'Check the address: /voice is appended to the URL, unless --voice-url names another.',
    evidence: upgrade,
  };
}

/**
 * Returns why the preflight did not open the voice WebSocket; undefined if it did or did not try. A
 * sandbox without any voice endpoint is only reported if voice is needed.
 */
export function findClosedVoice(
  { run, exchanges }: Transcript,
  isNeeded: boolean,
): BlockingCause | undefined {
  const upgrade = exchanges.findLast(isUpgrade);
  if (!upgrade || isOpened(upgrade) || (!isNeeded && isVoiceAbsent(exchanges))) return undefined;
  const known = noWayOf(upgrade, run.voiceUrl ?? '');
  if (known) return { id: 'no_voice', ...known, evidence: upgrade };
  return {
    id: 'no_voice',
    message: `The WebSocket of its voice does not open: ${upgrade.request.path} is answered with ${describeOutcome(upgrade)}.`,
    cure: 'Check the address: /voice is appended to the URL, unless --voice-url names another; and the key.',
    evidence: upgrade,
  };
}
