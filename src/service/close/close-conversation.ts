import type { Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import type { DatabaseRetry } from '../background/database-retry.ts';
import type { ServiceCounters } from '../background/metrics.ts';
import { findLiveEvals } from '../evals/definitions.ts';
import { buildConversationTurns } from '../sessions/transcripts.ts';
import type { CloseResult, Store } from '../store/store.ts';
import { describeTurnLosses, findTurnLosses } from '../turns/turn-losses.ts';
import type { MissingEvals } from './missing-evals.ts';

/** Dependencies of closing. */
export interface CloseDeps {
  store: Store;
  clock: Clock;
  log: Log;
  /** Returns the id of the session that scores a conversation; deterministic. */
  makeSessionId: (ownerId: string, conversationId: string) => string;
  missingEvals: MissingEvals;
  counters: Pick<ServiceCounters, 'idleCloses'>;
  /** Logs problems of the database while turns are checked. */
  turnChecks: Pick<DatabaseRetry, 'report' | 'reportSuccess'>;
  /** Called when there is something to score. */
  wake: () => void;
}

/** One conversation of one owner. */
export interface ConversationRef {
  ownerId: string;
  conversationId: string;
}

/**
 * Closes a conversation for the close endpoint or after the idle timeout (spec 3.1), and queues the
 * evals of the live settings. A deleted eval is skipped and logged. Missing evals are logged, and texts
 * and tool names that the turns lack. Closing a closed conversation changes nothing. With
 * `idleBeforeMs`, closes the conversation only if its last span was received before that time. Returns
 * undefined for an unknown conversation, and for one that is not idle.
 */
export async function closeConversation(
  deps: CloseDeps,
  { ownerId, conversationId }: ConversationRef,
  idleBeforeMs?: number,
): Promise<CloseResult | undefined> {
  const { store, clock } = deps;
  const { run_name: runName } = await store.settings.get(ownerId);
  const { evals, deletedIds } = await findLiveEvals(store, ownerId);
  const atMs = clock.nowMs();
  const sessionId = deps.makeSessionId(ownerId, conversationId);
  const closed = await store.conversations.close({
    ownerId,
    conversationId,
    atMs,
    runName: (date) => `${runName} ${date}`,
    evals,
    sessionId,
    ...(idleBeforeMs !== undefined && { idleBeforeMs }),
  });
  if (closed && !closed.alreadyClosed) {
    if (idleBeforeMs !== undefined) deps.counters.idleCloses.add('');
    const isScored = closed.evaluationsQueued > 0;
    try {
      await logDeletedEvals(deps, { ownerId, conversationId }, deletedIds);
      await checkTurns(deps, { ownerId, conversationId });
      if (evals.length > 0) await deps.missingEvals.recordScored(ownerId);
      else if (deletedIds.length === 0) {
        await deps.missingEvals.recordUnscored({ ownerId, conversationId });
      }
    } finally {
      // The evals are queued even if the log can't be written.
      if (isScored) deps.wake();
    }
  }
  return closed;
}

const DELETED_EVAL_WARNING =
  'Skipped: an eval of the live settings was deleted. Remove it from the settings.';

async function logDeletedEvals(
  { store, clock, log }: CloseDeps,
  { ownerId, conversationId }: ConversationRef,
  evalIds: string[],
): Promise<void> {
  for (const id of evalIds) {
    log.warn('deleted_eval_skipped', { owner: ownerId, eval: id, warning: DELETED_EVAL_WARNING });
  }
  const entries = evalIds.map((id) => ({
    level: 'warn' as const,
    code: 'eval_deleted',
    message: DELETED_EVAL_WARNING,
    about: { eval: id, conversation_id: conversationId },
  }));
  if (entries.length > 0) await store.ingestLog.add(ownerId, clock.nowMs(), entries);
}

/** Logs what the turns of a closed conversation lack. A failure does not affect the close. */
async function checkTurns(
  { store, clock, log, turnChecks }: CloseDeps,
  { ownerId, conversationId }: ConversationRef,
): Promise<void> {
  try {
    using _held = await store.conversations.holdMemory(ownerId, conversationId);
    const conversation = { ownerId, conversationId, late: false };
    const turns = await buildConversationTurns(store, conversation);
    const entries = describeTurnLosses(conversationId, findTurnLosses(turns));
    if (entries.length > 0) await store.ingestLog.add(ownerId, clock.nowMs(), entries);
    turnChecks.reportSuccess();
  } catch (error) {
    if (!turnChecks.report(error)) log.error('turn_check_failed', { ...errorOrigin(error) });
  }
}
