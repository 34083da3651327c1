import type { Store } from '../store/store.ts';
import { buildConversationTurns, type SessionTurn } from './sessions.ts';

/** Stores the text that a search finds the session of a live conversation by. */
export async function storeSearchText(
  store: Store,
  { ownerId, conversationId }: { ownerId: string; conversationId: string },
  sessionId: string,
): Promise<void> {
  const turns = await buildConversationTurns(store, { ownerId, conversationId, late: false });
  await store.sessions.putSearchText(ownerId, sessionId, listLines(turns));
}

/** Returns the lines of the user and the agent that a search reads. */
export const listLines = (turns: readonly SessionTurn[]): string[] =>
  turns.flatMap(({ userInput, agentResponse }) => [userInput, agentResponse]);
