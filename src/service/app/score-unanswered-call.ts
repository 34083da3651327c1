import { scoreSession } from '../scoring/eval-kinds.ts';
import { toOutcome } from '../scoring/score.ts';
import { turnTakingScorers } from '../scoring/turn-taking-evals.ts';
import type { Outcome } from '../store/store.ts';
import type { SessionPlan } from '../simulator/session-plan.ts';
import type { SimulatedSession } from '../simulator/simulated-session.ts';

/**
 * Returns the failed evals of a call that ended because the agent did not reply: the measurements until
 * then prove that they failed. They do not prove that the other evals passed, so these are left out.
 * Returns nothing for sessions that ended early for other reasons.
 */
export async function scoreUnansweredCall(
  { sessionId, scenario }: SessionPlan,
  { status, endReason, turns, turnTaking, evals }: SimulatedSession,
): Promise<Outcome[]> {
  const last = turns.at(-1);
  const isUnanswered =
    status === 'failed' &&
    endReason === 'timeout' &&
    last?.failed === true &&
    // A call can also end in the middle of a turn, because it took too long as a whole.
    last.latencyMs >= scenario.limits.turn_timeout_ms;
  if (!turnTaking || !isUnanswered) return [];
  const scored = evals.filter(({ kind }) => Object.hasOwn(turnTakingScorers, kind));
  const outcomes = await Promise.all(
    scored.map(async (definition) =>
      toOutcome(
        definition,
        await scoreSession(
          definition,
          { sessionId, turns, turnTaking },
          undefined,
          new AbortController().signal,
        ),
      ),
    ),
  );
  return outcomes.filter(({ outcome }) => outcome === 'fail');
}
