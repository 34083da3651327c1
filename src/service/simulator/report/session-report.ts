import type { SimulatedSessionReport } from '../../../contract/index.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Outcome } from '../../store/store.ts';
import type { SessionPlan } from '../session-plan.ts';
import type { SimulatedSession, SimulatedTurn } from '../simulated-session.ts';

/** What the evals found, and what that makes of the session. */
export interface Scored {
  outcomes: readonly Outcome[];
  verdict: SimulatedSessionReport['verdict'];
}

/** A session as the report of a run has it. All that is time stands under `_at` and `_ms`. */
export function sessionReport(
  plan: SessionPlan,
  held: SimulatedSession,
  { outcomes, verdict }: Scored,
): SimulatedSessionReport {
  const judged = outcomes.filter(({ outcome }) => outcome !== 'error');
  const passed = judged.filter(({ outcome }) => outcome === 'pass').length;
  return {
    id: plan.sessionId,
    scenario_id: plan.scenario.id,
    scenario: plan.scenario.name,
    persona: plan.persona.name,
    channel: plan.channel,
    sample: plan.sample,
    status: held.status,
    end_reason: held.endReason,
    ...(held.error !== undefined && { error: held.error }),
    verdict,
    started_at: isoTime(held.startedAtMs),
    ended_at: isoTime(held.endedAtMs),
    turn_latency_ms: held.turns.map(({ latencyMs }) => Math.round(latencyMs * 10) / 10),
    user_id: held.userId ?? null,
    traces: held.turns.map(turnReport),
    eval_outcomes: judged.map((one) => ({
      eval: one.evalId,
      eval_name: one.evalName,
      eval_category: one.category,
      eval_type: one.type,
      outcome: one.outcome,
      required: one.required,
      reasoning: one.reasoning,
    })),
    errored_evals: outcomes
      .filter(({ outcome }) => outcome === 'error')
      .map(({ evalId, evalName, reasoning }) => ({ eval: evalId, eval_name: evalName, reasoning })),
    outcome_summary: {
      total_evaluations: judged.length,
      passed_count: passed,
      failed_count: judged.length - passed,
      pass_rate: judged.length === 0 ? 0 : passed / judged.length,
    },
    review: held.review,
    notes: held.notes,
  };
}

function turnReport(turn: SimulatedTurn): SimulatedSessionReport['traces'][number] {
  return {
    session_sequence: turn.sequence,
    user_input: turn.userInput,
    user_reason: turn.userReason,
    agent_response: turn.agentResponse,
    ...(turn.toolCalls.length > 0 && { tool_calls: turn.toolCalls.map((call) => ({ ...call })) }),
  };
}
