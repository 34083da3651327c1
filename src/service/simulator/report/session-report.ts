import type { ChatMessage, SimulatedSessionReport } from '../../../contract/index.ts';
import { isoTime } from '../../../platform/clock.ts';
import { roundTo } from '../../../platform/round.ts';
import type { Outcome } from '../../store/store.ts';
import type { SessionPlan } from '../session-plan.ts';
import { createChatRequest, createUserRequest } from '../sandbox/requests.ts';
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
  const reasons = new Map(plan.evals.map(({ id, reason }) => [id, reason]));
  const failedTurn = findFailedTurn(plan, session, { outcomes, verdict });
  const passed = judged.filter(({ outcome }) => outcome === 'pass').length;
  return {
    id: plan.sessionId,
    scenario_id: plan.scenario.id,
    scenario: plan.scenario.name,
    persona: plan.persona.name,
    channel: plan.scenario.channel,
    sample: plan.sample,
    status: session.status,
    end_reason: session.endReason,
    ...(session.error !== undefined && { error: session.error }),
    verdict,
    started_at: isoTime(session.startedAtMs),
    ended_at: isoTime(session.endedAtMs),
    turn_latency_ms: session.turns.map(({ latencyMs }) => roundTo(latencyMs, 1)),
    ...(session.turnTaking && { turn_taking: session.turnTaking }),
    ...(session.heard && { heard: session.heard }),
    user_id: session.userId ?? null,
    ...(session.traceIds.length > 0 && { trace_ids: [...session.traceIds] }),
    ...(verdict !== 'passed' &&
      plan.scenario.channel === 'chat' &&
      describeRequests(plan, session.userId, outcomes)),
    traces: session.turns.map(toTurnReport),
    ...(failedTurn && { failed_turn: failedTurn }),
    ...(session.otherSession && {
      other_session: {
        id: session.otherSession.id,
        traces: session.otherSession.turns.map(toTurnReport),
      },
    }),
    eval_outcomes: judged.map((outcome) => ({
      eval: outcome.evalId,
      eval_name: outcome.evalName,
      eval_category: outcome.category,
      eval_type: outcome.type,
      outcome: outcome.outcome,
      required: outcome.required,
      reasoning: outcome.reasoning,
      ...optionalFields(turnOf(outcome), reasons.get(outcome.evalId)),
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
    review: session.adherence,
    notes: session.notes,
  };
}

/** Returns the one turn that decides an outcome. */
function turnOf({ evidence = [] }: Outcome): number | undefined {
  const turns = new Set(evidence.map(({ turn }) => turn));
  const [turn] = turns;
  return turns.size === 1 ? turn : undefined;
}

const optionalFields = (turn: number | undefined, reason: string | undefined) => ({
  ...(turn !== undefined && { turn }),
  ...(reason !== undefined && { reason }),
});

/**
 * Returns the turn that failed or stopped a session by chat, with the body of its request: the turn of
 * the first required eval that failed, or else the last turn.
 */
function findFailedTurn(
  plan: SessionPlan,
  { turns, status, userId }: SimulatedSession,
  { outcomes, verdict }: SessionScore,
): SimulatedSessionReport['failed_turn'] {
  const { channel, initial_messages: initial } = plan.scenario;
  const last = turns.at(-1);
  if (channel !== 'chat' || verdict === 'passed' || status === 'canceled' || !last) return;
  const failed = outcomes.find(({ outcome, required }) => outcome === 'fail' && required);
  const sequence = (failed && turnOf(failed)) ?? last.sequence;
  const messages = turns
    .filter((turn) => turn.sequence <= sequence)
    .flatMap(({ sequence: nth, userInput, agentResponse }): ChatMessage[] => [
      ...(userInput === '' ? [] : [{ role: 'user' as const, content: userInput }]),
      ...(nth === sequence ? [] : [{ role: 'assistant' as const, content: agentResponse }]),
    ]);
  return {
    session_sequence: sequence,
    request: createChatRequest(plan, userId, [
      ...initial.map((each) => ({ ...each })),
      ...messages,
    ]),
  };
}

/** Returns what is needed, in addition to the turns, to send a request of the session again. */
function describeRequests(
  plan: SessionPlan,
  userId: string | undefined,
  outcomes: readonly Outcome[],
): Pick<SimulatedSessionReport, 'resendable'> {
  const open = outcomes.filter(({ outcome }) => outcome !== 'pass').map(({ evalId }) => evalId);
  const evals = plan.evals.filter(({ id }) => open.includes(id));
  const { initial_messages: initial, user } = plan.scenario;
  const messages = initial.map((message) => ({ ...message }));
  return {
    resendable: {
      ...(userId !== undefined && { user: createUserRequest(plan) }),
      chat_request: createChatRequest(plan, userId, messages),
      ...(!user.speaks_first && { agent_speaks_first: true }),
      ...(evals.length > 0 && { evals: evals.map((definition) => ({ ...definition })) }),
    },
  };
}

function toTurnReport(turn: SimulatedTurn): SimulatedSessionReport['traces'][number] {
  return {
    session_sequence: turn.sequence,
    ...(turn.scenarioLine !== undefined && { scenario_line: turn.scenarioLine }),
    ...(turn.interrupts && { interrupts: true as const }),
    user_input: turn.userInput,
    user_reason: turn.userReason,
    agent_response: turn.agentResponse,
    ...(turn.toolCalls.length > 0 && { tool_calls: turn.toolCalls.map((call) => ({ ...call })) }),
  };
}
