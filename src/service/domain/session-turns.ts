import type { JsonObject, Session, Store } from '../store/store.ts';
import { buildTurns, type Turn } from '../turns/turns.ts';

/** A turn of a session, whichever way the session came in. */
export interface SessionTurn extends Partial<
  Omit<Turn, 'sequence' | 'userInput' | 'agentResponse' | 'evaluationMetadata'>
> {
  /** 1 for the first. */
  sequence: number;
  userInput: string;
  /** Why a simulated user said it. */
  userReason?: string | undefined;
  agentResponse: string;
  /** What the sandbox hinted at (spec 2.8). */
  evaluationMetadata?: JsonObject | undefined;
}

/**
 * The session's turns: those that were handed in, else those that its spans make. Spans that came
 * after the close count for what is shown, and not for what is scored.
 */
export async function loadTurns(
  store: Store,
  session: Session,
  { late = true }: { late?: boolean } = {},
): Promise<SessionTurn[]> {
  const { ownerId, id, sourceSessionId } = session;
  const kept = await store.sessions.listTurns(ownerId, id);
  if (kept.length > 0 || session.kind === 'simulation' || sourceSessionId === undefined) {
    return kept;
  }
  const spans = await store.conversations.listSpans(ownerId, sourceSessionId);
  return buildTurns(late ? spans : spans.filter((span) => !span.late));
}
