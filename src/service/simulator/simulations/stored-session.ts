import type { NewSession, Outcome, SimulationPlan } from '../../store/store.ts';
import type { SessionPlan } from '../session-plan.ts';
import type { SimulatedSession } from '../simulated-session.ts';

/** Returns the row of a session that has ended, with the outcomes that it already has. */
export function toStoredSession(
  plan: SimulationPlan,
  session: SessionPlan,
  result: SimulatedSession,
  outcomes: readonly Outcome[],
): NewSession {
  const { scenario, persona, sample } = session;
  const { userId, error, adherence, notes, traceIds, turnTaking, heard } = result;
  return {
    id: session.sessionId,
    kind: 'simulation',
    ownerId: plan.ownerId,
    status: result.status,
    startedAtMs: result.startedAtMs,
    endedAtMs: result.endedAtMs,
    simulation: { id: plan.id, name: plan.name, deleted: false },
    agent: {
      ...(plan.agentId !== undefined && { id: plan.agentId }),
      name: plan.agent.name,
      url: plan.agent.url,
    },
    scenario: scenario.name,
    persona: persona.name,
    endReason: result.endReason,
    metadata: scenario.metadata,
    simulated: {
      scenario_id: scenario.id,
      channel: scenario.channel,
      sample,
      review: adherence,
      notes,
      ...(userId !== undefined && { user_id: userId }),
      ...(error !== undefined && { error }),
      ...(traceIds.length > 0 && { trace_ids: traceIds }),
      ...(turnTaking && { turn_taking: turnTaking }),
      ...(heard && { heard }),
    },
    runName: undefined,
    sourceSessionId: undefined,
    outcomes: [...outcomes],
    turns: result.turns,
    // Only a completed session is scored later.
    evals: result.status === 'completed' ? [...result.evals] : [],
  };
}
