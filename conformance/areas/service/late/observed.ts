import type { ObservedBehaviors } from '../../../../src/contract/index.ts';
import { observeEach } from '../../../engine/judge/observed.ts';
import type { Transcript } from '../../../engine/transcript/reading.ts';
import { isStep } from '../steps.ts';
import { conversationIdOf, lastAccepted, sessionsById, turnsOf } from '../transcript.ts';

const observeRequests = observeEach([
  {
    name: 'spans after the close',
    of: (exchange) => isStep(exchange, 'traces', 'late again'),
  },
]);

/** Returns what the service does with late spans. */
export function observeLateSpans(transcript: Transcript): ObservedBehaviors {
  const page = lastAccepted(transcript, 'production', 'after late spans');
  if (!page) return observeRequests(transcript);
  const request = transcript.exchanges.find((exchange) => isStep(exchange, 'traces', 'late again'));
  const [session] = sessionsById(page, request && conversationIdOf(request));
  const lateTurns = session && turnsOf(session).length > 1 ? 'shown' : 'not shown';
  return {
    ...observeRequests(transcript),
    'turns after late spans': session ? lateTurns : 'not listed',
  };
}
