import type { ScoredSession } from './scoring/scored-session.ts';
import { turnsOfSession } from './session-turns.ts';
import type { Store } from './store/store.ts';

/** Finds a session as scoring wants it; undefined when it is no longer kept. */
export function scoredSessionOf(
  store: Store,
): (ownerId: string, sessionId: string) => Promise<ScoredSession | undefined> {
  return async (ownerId, sessionId) => {
    const session = await store.sessions.find(ownerId, sessionId);
    if (!session) return undefined;
    const { sourceSessionId, agent, scenario, persona } = session;
    const turns = await turnsOfSession(store, session, { late: false });
    return {
      sessionId,
      ...(sourceSessionId !== undefined && { sourceSessionId }),
      ...(agent && { agent: agent.name }),
      ...(scenario !== undefined && { scenario }),
      ...(persona !== undefined && { persona }),
      turns: turns.map((turn) => ({
        sequence: turn.sequence,
        userInput: turn.userInput,
        agentResponse: turn.agentResponse,
        toolCalls: turn.toolCalls ?? [],
        ...(turn.latencyMs !== undefined && { latencyMs: turn.latencyMs }),
        ...(turn.failed !== undefined && { failed: turn.failed }),
      })),
    };
  };
}
