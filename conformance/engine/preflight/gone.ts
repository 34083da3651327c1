import type { Exchange, Transcript } from '../transcript/reading.ts';
import type { FailureKind, RunRecord } from '../../../src/contract/index.ts';
import { isVoice } from '../transcript/call-messages.ts';
import type { BlockingCause } from './preflight.ts';

/**
 * A sandbox that answered and then died: nothing is answered any more up to the end of the run, and
 * connections are refused. What died with it is one cause, and no finding.
 */
export function gone({ run, exchanges: all }: Transcript): BlockingCause | undefined {
  const exchanges = isVoiceElsewhere(run) ? all.filter((one) => !isVoice(one)) : all;
  // A call that was cut off was answered at its beginning, and not at its end.
  const lastAnswered = exchanges.findLast(({ response, failure }) => response && !failure);
  if (!lastAnswered) return undefined;
  // An answer that was on its way already may be read after a neighbour's connection broke, or
  // after a new one was refused.
  const isLost = (one: Exchange): boolean =>
    one.failure !== undefined &&
    (one.id > lastAnswered.id ||
      (isBroken(one.failure.kind) && one.endedMs >= lastAnswered.startedMs));
  const lost = exchanges.filter(isLost);
  const [first] = lost;
  const isOver = lost.some(
    ({ id, failure }) => id > lastAnswered.id && failure?.kind === 'refused',
  );
  if (!first || !isOver) return undefined;
  // Of requests that left together, only some were answered: they are no whole to judge by.
  const isBesideFirst = (one: Exchange): boolean =>
    one.endpoint === first.endpoint && one.endedMs > first.startedMs;
  return {
    id: 'gone',
    message: `The sandbox is gone since exchange ${first.id} ("${first.step}"): nothing accepts connections there any more.`,
    cure: 'Look into its log for what ended it: a request that was in flight then, or something else. Then run it again.',
    evidence: first,
    before: { run, exchanges: all.filter((one) => !isLost(one) && !isBesideFirst(one)) },
  };
}

const isBroken = (kind: FailureKind): boolean => kind === 'reset' || kind === 'refused';

/** Whether calls go to another address than requests: one may be gone, and the other there. */
function isVoiceElsewhere({ target, voiceUrl }: RunRecord): boolean {
  return voiceUrl !== undefined && URL.parse(voiceUrl)?.host !== URL.parse(target)?.host;
}
