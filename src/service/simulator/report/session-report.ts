import type { SimulatedSessionReport } from '../../../contract/index.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Outcome } from '../../store/store.ts';
import type { SessionPlan } from '../session-plan.ts';
import { createChatRequest } from '../chat-channel.ts';
import { toUserRequest } from '../run-session.ts';
import type { SimulatedSession } from '../simulated-session.ts';
import type { SimulatedTurn } from '../../turns/turn-types.ts';

/** The outcomes of the evals and the verdict of the session. */
export interface SessionScore {
  outcomes: readonly Outcome[];
  verdict: SimulatedSessionReport['verdict'];
}

/** Builds the report of one session. */
export function buildSessionReport(
  plan: SessionPlan,
  session: SimulatedSession,
  { outcomes, verdict }: SessionScore,
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
    status: session.status,
    end_reason: session.endReason,
    ...(session.error !== undefined && { error: session.error }),
    verdict,
    started_at: isoTime(session.startedAtMs),
    ended_at: isoTime(session.endedAtMs),
    turn_latency_ms: session.turns.map(({ latencyMs }) => Math.round(latencyMs * 10) / 10),
    user_id: session.userId ?? null,
    ...(session.traceIds.length > 0 && { trace_ids: [...session.traceIds] }),
    ...(verdict !== 'passed' && plan.channel === 'chat' && describeRequests(plan, session.userId)),
    traces: session.turns.map(toTurnReport),
    eval_outcomes: judged.map((outcome) => ({
      eval: outcome.evalId,
      eval_name: outcome.evalName,
      eval_category: outcome.category,
      eval_type: outcome.type,
      outcome: outcome.outcome,
      required: outcome.required,
      reasoning: outcome.reasoning,
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
    review: session.review,
    notes: session.notes,
  };
}

/** Returns what is needed, in addition to the turns, to send a request of the session again. */
function describeRequests(
  plan: SessionPlan,
  userId: string | undefined,
): Pick<SimulatedSessionReport, 'resendable'> {
  const { initial_messages: initial = [], user } = plan.scenario;
  const messages = initial.map((message) => ({ ...message }));
  return {
    resendable: {
      ...(userId !== undefined && { user: toUserRequest(plan) }),
      chat_request: createChatRequest(plan, userId, messages),
      ...(user.speaks_first === false && { agent_speaks_first: true }),
    },
  };
}

function toTurnReport(turn: SimulatedTurn): SimulatedSessionReport['traces'][number] {
  return {
    session_sequence: turn.sequence,
    user_input: turn.userInput,
    user_reason: turn.userReason,
    agent_response: turn.agentResponse,
    ...(turn.toolCalls.length > 0 && { tool_calls: turn.toolCalls.map((call) => ({ ...call })) }),
  };
}
