import type { Clock } from '../../platform/clock.ts';
import { errorOrigin, toError } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import type { DatabaseRetry } from '../background/database-retry.ts';
import type { ServiceCounters } from '../background/metrics.ts';
import { findLiveEvals } from '../evals/definitions.ts';
import { buildConversationTurns } from '../sessions/transcripts.ts';
import { findDatabaseProblem } from '../store/database-problem.ts';
import type { CloseAllRequest, CloseResult, Store } from '../store/store.ts';
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
 * conversation changes nothing. With `idleBeforeMs`, closes the conversation only if its last span was
 * received before that time. Returns undefined for an unknown conversation, and for one that is not idle.
 */
export async function closeConversation(
  deps: CloseDeps,
  conversation: ConversationRef,
  idleBeforeMs?: number,
): Promise<CloseResult | undefined> {
  const { ownerId, conversationId } = conversation;
  const { request, deletedIds } = await findSettings(deps, ownerId, idleBeforeMs);
  const sessionId = deps.makeSessionId(ownerId, conversationId);
  const result = await deps.store.conversations.close({ ...request, conversationId, sessionId });
  if (result && !result.alreadyClosed) {
    await report(deps, { request, deletedIds, closed: new Map([[conversationId, result]]) });
  }
  return result;
}

/**
 * Closes idle conversations like `closeConversation`, in groups of one owner that take a few statements
 * each. If a group can't be closed, closes its conversations one by one: one that can't be closed does not
 * prevent the others, and rejects afterward.
 */
export async function closeIdleConversations(
  deps: CloseDeps,
  idle: readonly ConversationRef[],
  idleBeforeMs: number,
): Promise<void> {
  const failures: unknown[] = [];
  const closeAlone = async (conversation: ConversationRef): Promise<void> => {
    try {
      await closeConversation(deps, conversation, idleBeforeMs);
    } catch (error) {
      if (findDatabaseProblem(error)) throw error;
      failures.push(error);
    }
  };
  for (const [ownerId, ofOwner] of Map.groupBy(idle, (conversation) => conversation.ownerId)) {
    const conversationIds = ofOwner.map(({ conversationId }) => conversationId);
    for (const ids of await deps.store.conversations.groupBySize(ownerId, conversationIds)) {
      if (ids.length > 1 && (await closeGroup(deps, { ownerId, ids, idleBeforeMs }))) continue;
      for (const conversationId of ids) await closeAlone({ ownerId, conversationId });
    }
  }
  if (failures.length > 0) throw toError(failures[0]);
}

/** Returns whether it closed them. */
async function closeGroup(
  deps: CloseDeps,
  { ownerId, ids, idleBeforeMs }: { ownerId: string; ids: string[]; idleBeforeMs: number },
): Promise<boolean> {
  const { store, log } = deps;
  const { request, deletedIds } = await findSettings(deps, ownerId, idleBeforeMs);
  const conversations = ids.map((conversationId) => ({
    conversationId,
    sessionId: deps.makeSessionId(ownerId, conversationId),
  }));
  let closed: Map<string, CloseResult>;
  try {
    closed = await store.conversations.closeAll({ ...request, conversations });
  } catch (error) {
    if (findDatabaseProblem(error)) throw error;
    log.warn('conversations_closed_alone', { ...errorOrigin(error) });
    return false;
  }
  await report(deps, { request, deletedIds, closed });
  return true;
}

type CommonRequest = Omit<CloseAllRequest, 'conversations'>;

/** Returns what is the same for all conversations of an owner. */
async function findSettings(
  { store, clock }: CloseDeps,
  ownerId: string,
  idleBeforeMs: number | undefined,
): Promise<{ request: CommonRequest; deletedIds: string[] }> {
  const { run_name: runName } = await store.settings.get(ownerId);
  const { evals, deletedIds } = await findLiveEvals(store, ownerId);
  const request = {
    ownerId,
    atMs: clock.nowMs(),
    runName: (date: string) => `${runName} ${date}`,
    evals,
    ...(idleBeforeMs !== undefined && { idleBeforeMs }),
  };
  return { request, deletedIds };
}

/** What was closed, and how. */
interface Closed {
  request: CommonRequest;
  deletedIds: string[];
  closed: ReadonlyMap<string, CloseResult>;
}

/** Counts and logs conversations that were closed, and starts to score them. */
async function report(deps: CloseDeps, { request, deletedIds, closed }: Closed): Promise<void> {
  const { ownerId, evals, idleBeforeMs } = request;
  const [first] = closed.keys();
  if (first === undefined) return;
  if (idleBeforeMs !== undefined) deps.counters.idleCloses.add('', closed.size);
  try {
    await logDeletedEvals(deps, { ownerId, conversationIds: [...closed.keys()] }, deletedIds);
    await checkTurns(deps, ownerId, closed);
    if (evals.length > 0) await deps.missingEvals.recordScored(ownerId);
    else if (deletedIds.length === 0) {
      await deps.missingEvals.recordUnscored({ ownerId, conversationId: first });
    }
  } finally {
    // The evals are queued even if the log can't be written.
    const isAnyScored = [...closed.values()].some(({ evaluationsQueued }) => evaluationsQueued > 0);
    if (isAnyScored) deps.wake();
  }
}

const DELETED_EVAL_WARNING =
  'Skipped: an eval of the live settings was deleted. Remove it from the settings.';

async function logDeletedEvals(
  { store, clock, log }: CloseDeps,
  { ownerId, conversationIds }: { ownerId: string; conversationIds: string[] },
  evalIds: string[],
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
