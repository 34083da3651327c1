import { toolCallsIn, type ScoredSession } from './scored-session.ts';

/**
 * The session as a `json_path` eval walks it: names as on the wire, absent what is not known. Values
 * of tool calls are parsed where they came as JSON text.
 */
export function sessionView(session: ScoredSession): Record<string, unknown> {
  return present({
    session_id: session.sessionId,
    source_session_id: session.sourceSessionId,
    agent: session.agent,
    scenario: session.scenario,
    persona: session.persona,
    metadata: session.metadata,
    turns: session.turns.map((turn) =>
      present({
        session_sequence: turn.sequence,
        user_input: turn.userInput,
        agent_response: turn.agentResponse,
        tool_calls: toolCallsIn(turn).map(({ name, arguments: given, result }) => ({
          name,
          arguments: given,
          result,
        })),
        latency_ms: turn.latencyMs,
        failed: turn.failed,
        evaluation_metadata: turn.evaluationMetadata,
      }),
    ),
  });
}

function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
