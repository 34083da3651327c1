import type { Clock } from '../../platform/clock.ts';
import { errorOrigin, toError } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import type { DatabaseRetry } from '../background/database-retry.ts';
import type { ServiceCounters } from '../background/metrics.ts';
import { findLiveEvals } from '../evals/definitions.ts';
import { buildConversationTurns } from '../sessions/transcripts.ts';
import { findDatabaseProblem } from '../store/database-problem.ts';
import type { CloseResult, Store } from '../store/store.ts';
import { describeTurnLosses, findTurnLosses, type TurnLoss } from '../turns/turn-losses.ts';
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
 * Closes a conversation (spec 3.1), and queues the evals of the live settings. A deleted eval is skipped
 * and logged. Missing evals are logged, and texts and tool names that the turns lack. Closing a closed
 * conversation changes nothing. Returns undefined for an unknown conversation.
 */
export async function closeConversation(
  deps: CloseDeps,
  { ownerId, conversationId }: ConversationRef,
): Promise<CloseResult | undefined> {
  const results = await closeTogether(deps, { ownerId, conversationIds: [conversationId] });
  return results.get(conversationId);
}

/**
 * Closes those conversations whose last span was received before `idleBeforeMs`, in groups of one owner
 * that take a few statements each. One that can't be closed does not prevent the others, and rejects
 * afterward.
 */
export async function closeIdleConversations(
  deps: CloseDeps,
  idle: readonly ConversationRef[],
  idleBeforeMs: number,
): Promise<void> {
  const failures: unknown[] = [];
  const closeGroup = async (ownerId: string, conversationIds: string[]): Promise<void> => {
    try {
      await closeTogether(deps, { ownerId, conversationIds, idleBeforeMs });
    } catch (error) {
      if (findDatabaseProblem(error)) throw error;
      if (conversationIds.length === 1) {
        failures.push(error);
        return;
      }
      deps.log.warn('conversations_closed_alone', { ...errorOrigin(error) });
      for (const id of conversationIds) await closeGroup(ownerId, [id]);
    }
  };
  for (const [ownerId, ofOwner] of Map.groupBy(idle, (conversation) => conversation.ownerId)) {
    const conversationIds = ofOwner.map(({ conversationId }) => conversationId);
    const groups = await deps.store.conversations.groupBySize(ownerId, conversationIds);
    for (const group of groups) await closeGroup(ownerId, group);
  }
  if (failures.length > 0) throw toError(failures[0]);
}

interface CloseOptions {
  ownerId: string;
  conversationIds: readonly string[];
  /** See `CloseRequest`. */
  idleBeforeMs?: number;
}

/** Closes conversations of one owner in one transaction. Returns the results by conversation id. */
async function closeTogether(
  deps: CloseDeps,
  { ownerId, conversationIds, idleBeforeMs }: CloseOptions,
): Promise<ReadonlyMap<string, CloseResult>> {
  const { store, clock } = deps;
  const { run_name: runName } = await store.settings.get(ownerId);
  const { evals, deletedIds } = await findLiveEvals(store, ownerId);
  const results = await store.conversations.closeAll({
    ownerId,
    conversations: conversationIds.map((conversationId) => ({
      conversationId,
      sessionId: deps.makeSessionId(ownerId, conversationId),
    })),
    atMs: clock.nowMs(),
    runName: (date: string) => `${runName} ${date}`,
    evals,
    ...(idleBeforeMs !== undefined && { idleBeforeMs }),
  });
  const closed = new Map([...results].filter(([, { alreadyClosed }]) => !alreadyClosed));
  if (idleBeforeMs !== undefined) deps.counters.idleCloses.add('', closed.size);
  await report(deps, { ownerId, closed, isScored: evals.length > 0, deletedIds });
  return results;
}

/** Conversations of one owner that were closed, and how. */
interface Closed {
  ownerId: string;
  closed: ReadonlyMap<string, CloseResult>;
  /** Whether evals score them. */
  isScored: boolean;
  /** The evals of the live settings that were deleted. */
  deletedIds: readonly string[];
}

/** Logs conversations that were closed, and starts to score them. */
async function report(
  deps: CloseDeps,
  { ownerId, closed, isScored, deletedIds }: Closed,
): Promise<void> {
  const [first] = closed.keys();
  if (first === undefined) return;
  try {
    await logDeletedEvals(deps, { ownerId, conversationIds: [...closed.keys()] }, deletedIds);
    await checkTurns(deps, ownerId, closed);
    if (isScored) await deps.missingEvals.recordScored(ownerId);
    else if (deletedIds.length === 0) {
      await deps.missingEvals.recordUnscored({ ownerId, conversationId: first });
    }
  } finally {
    // The evals are queued even if the log can't be written.
    const isAnyQueued = [...closed.values()].some(({ evaluationsQueued }) => evaluationsQueued > 0);
    if (isAnyQueued) deps.wake();
  }
}

const DELETED_EVAL_WARNING =
  'Skipped: an eval of the live settings was deleted. Remove it from the settings.';

async function logDeletedEvals(
  { store, clock, log }: CloseDeps,
  { ownerId, conversationIds }: { ownerId: string; conversationIds: string[] },
  evalIds: readonly string[],
): Promise<void> {
  for (const id of evalIds) {
    log.warn('deleted_eval_skipped', { owner: ownerId, eval: id, warning: DELETED_EVAL_WARNING });
  }
  const entries = conversationIds.flatMap((conversationId) =>
    evalIds.map((id) => ({
      level: 'warn' as const,
      code: 'eval_deleted',
      message: DELETED_EVAL_WARNING,
      about: { eval: id, conversation_id: conversationId },
    })),
  );
  if (entries.length > 0) await store.ingestLog.add(ownerId, clock.nowMs(), entries);
}

/** Logs what the turns of closed conversations lack. A failure does not affect the close. */
async function checkTurns(
  deps: CloseDeps,
  ownerId: string,
  closed: ReadonlyMap<string, CloseResult>,
): Promise<void> {
  const { store, clock, log, turnChecks } = deps;
  try {
    const entries = [];
    for (const [conversationId, { losses }] of closed) {
      const found = losses ?? (await findLosses(store, { ownerId, conversationId }));
      entries.push(...describeTurnLosses(conversationId, found));
    }
    if (entries.length > 0) await store.ingestLog.add(ownerId, clock.nowMs(), entries);
    turnChecks.reportSuccess();
  } catch (error) {
    if (!turnChecks.report(error)) log.error('turn_check_failed', { ...errorOrigin(error) });
  }
}

async function findLosses(store: Store, conversation: ConversationRef): Promise<TurnLoss[]> {
  using _held = await store.conversations.holdMemory(
    conversation.ownerId,
    conversation.conversationId,
  );
  return findTurnLosses(await buildConversationTurns(store, { ...conversation, late: false }));
}
