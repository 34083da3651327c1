import { parseToolCalls, type ScoredSession } from '../sessions/scored-session.ts';

/**
 * Returns a session in the form that `json_path` evals read: wire names, unknown fields absent, and
 * tool arguments and results parsed if they are JSON text.
 */
export function viewSession(session: ScoredSession): Record<string, unknown> {
  return withoutUndefined({
    session_id: session.sessionId,
    source_session_id: session.sourceSessionId,
    agent: session.agent,
    scenario: session.scenario,
    persona: session.persona,
    metadata: session.metadata,
    turns: session.turns.map((turn) =>
      withoutUndefined({
        session_sequence: turn.sequence,
        user_input: turn.userInput,
        agent_response: turn.agentResponse,
        tool_calls: parseToolCalls(turn).map(({ name, arguments: input, result }) => ({
          name,
          arguments: input,
          result,
        })),
        latency_ms: turn.latencyMs,
        failed: turn.failed,
        evaluation_metadata: turn.evaluationMetadata,
      }),
    ),
  });
}

function withoutUndefined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
