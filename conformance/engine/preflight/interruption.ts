import type { Suite } from '../area.ts';
import { isVoice } from '../transcript/call-messages.ts';
import { isBroken, PREFLIGHT, type Exchange, type Transcript } from '../transcript/reading.ts';

/**
 * Returns what can be judged of an interrupted run: all exchanges of the probes that finished, and
 * complete responses to single requests of the others. Undefined if the preflight did not finish.
 */
export function findFinishedPart(
  { peer }: Suite,
  { run, exchanges }: Transcript,
): Transcript | undefined {
  const { interrupted, unfinishedProbes, ...settings } = run;
  if (!unfinishedProbes || unfinishedProbes.includes(PREFLIGHT)) return undefined;
  // A call or a conversation that was cut short looks like a fault of the peer, and so does a failed
  // request that was to be sent again.
  const isComplete = (exchange: Exchange): boolean =>
    !unfinishedProbes.includes(exchange.probe) ||
    (peer === 'sandbox' && !isVoice(exchange) && !isBroken(exchange));
  return { run: settings, exchanges: exchanges.filter(isComplete) };
}
