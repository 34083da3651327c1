import type { ScoredSession } from '../scoring/scored-session.ts';
import { loadTurns } from './session-turns.ts';
import type { JsonObject, Session, Store } from '../store/store.ts';

/** Finds a session as scoring wants it; undefined when it is no longer kept. */
export function createScoredSessionLoader(
  store: Store,
): (ownerId: string, sessionId: string) => Promise<ScoredSession | undefined> {
  return async (ownerId, sessionId) => {
    const session = await store.sessions.find(ownerId, sessionId);
    if (!session) return undefined;
    const { sourceSessionId, agent, scenario, persona } = session;
    const metadata = session.metadata ?? (await tagsOf(store, session));
    const turns = await loadTurns(store, session, { late: false });
    return {
      sessionId,
      ...(sourceSessionId !== undefined && { sourceSessionId }),
      ...(agent && { agent: agent.name }),
      ...(scenario !== undefined && { scenario }),
      ...(persona !== undefined && { persona }),
      ...(metadata && { metadata }),
      turns: turns.map((turn) => ({
        sequence: turn.sequence,
        userInput: turn.userInput,
        agentResponse: turn.agentResponse,
        toolCalls: turn.toolCalls ?? [],
        ...(turn.latencyMs !== undefined && { latencyMs: turn.latencyMs }),
        ...(turn.failed !== undefined && { failed: turn.failed }),
        ...(turn.evaluationMetadata && { evaluationMetadata: turn.evaluationMetadata }),
      })),
    };
  };
}

/** The tags of a conversation as metadata: a text, or a list of texts where a tag has several. */
async function tagsOf(store: Store, session: Session): Promise<JsonObject | undefined> {
  const { ownerId, sourceSessionId } = session;
  if (sourceSessionId === undefined || session.kind === 'simulation') return undefined;
  const tags = await store.conversations.listTags(ownerId, sourceSessionId);
  if (tags.length === 0) return undefined;
  const byKey = Map.groupBy(tags, ({ key }) => key);
  return Object.fromEntries(
    Array.from(byKey, ([key, [first, ...more]]) => {
      const values = [first, ...more].map((tag) => tag?.value);
      return [key, more.length === 0 ? values[0] : values];
    }),
  );
}
