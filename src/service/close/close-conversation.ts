import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { findLiveEvals } from '../domain/evals.ts';
import type { CloseResult, Store } from '../store/store.ts';

/** What closing works with. */
export interface CloseDeps {
  store: Store;
  clock: Clock;
  log: Log;
  /** The id of the session that scores a conversation; the same each time it is asked. */
  sessionIdOf: (ownerId: string, conversationId: string) => string;
  /** Told that there is something to score. */
  wake: () => void;
}

/** One conversation of one owner. */
export interface ConversationRef {
  ownerId: string;
  conversationId: string;
}

/**
 * Closes a conversation, whoever asks for it: the end call or its idleness (spec 3.1). Queues each
 * eval of the live settings that still exists; a deleted one is skipped and noted. A conversation
 * that is closed already stays as it is. With `idleBeforeMs` it closes only if its last span came
 * before that time. Undefined for an unknown conversation, and for one that is not idle.
 */
export async function closeConversation(
  deps: CloseDeps,
  { ownerId, conversationId }: ConversationRef,
  idleBeforeMs?: number,
): Promise<CloseResult | undefined> {
  const { store, clock } = deps;
  const { run_name: base } = await store.evals.getSettings(ownerId);
  const { evals, deletedIds } = await findLiveEvals(store.evals, ownerId);
  const atMs = clock.nowMs();
  const closed = await store.conversations.close({
    ownerId,
    conversationId,
    atMs,
    runName: (date) => `${base} ${date}`,
    evals,
    sessionId: deps.sessionIdOf(ownerId, conversationId),
    ...(idleBeforeMs !== undefined && { idleBeforeMs }),
  });
  if (closed && !closed.alreadyClosed) {
    await noteDeleted(deps, { ownerId, conversationId }, deletedIds);
    if (closed.evaluationsQueued > 0) deps.wake();
  }
  return closed;
}

async function noteDeleted(
  { store, clock, log }: CloseDeps,
  { ownerId, conversationId }: ConversationRef,
  deleted: string[],
): Promise<void> {
  for (const id of deleted) log.warn('a deleted eval was skipped', { eval: id });
  const notes = deleted.map((id) => ({
    level: 'warn' as const,
    code: 'eval_deleted',
    message: 'an eval of the live settings was deleted and is skipped; take it out of the settings',
    about: { eval: id, conversation_id: conversationId },
  }));
  if (notes.length > 0) await store.ingestLog.add(ownerId, clock.nowMs(), notes);
}
