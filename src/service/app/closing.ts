import { closeConversation, type ConversationRef } from '../close/close-conversation.ts';
import { startIdleCloser } from '../close/idle-closer.ts';
import { createMissingEvals } from '../close/missing-evals.ts';
import { createDatabaseRetry } from '../background/database-retry.ts';
import { createIdMaker } from '../store/ids.ts';
import type { ServiceCounters } from '../background/metrics.ts';
import type { ReportedProblems } from '../background/reported-problems.ts';
import type { Sweeper } from '../background/sweeper.ts';
import type { CloseResult } from '../store/store.ts';
import type { Base } from './base.ts';

/** What closes conversations, by request or after a time without activity. */
export interface Closing {
  makeSessionId: (ownerId: string, conversationId: string) => string;
  /** With `idleBeforeMs`, closes the conversation only if its last span was received before that time. */
  close: (conversation: ConversationRef, idleBeforeMs?: number) => Promise<CloseResult | undefined>;
  idleCloser: Sweeper;
}

/** Starts what closes conversations, by request or after a time without activity. */
export function startClosing(
  { store, clock, log }: Base,
  {
    seed,
    counters: { idleCloses },
    reportedProblems,
    wake,
  }: {
    seed: string;
    counters: Pick<ServiceCounters, 'idleCloses'>;
    reportedProblems: ReportedProblems;
    /** Starts scoring what was queued. */
    wake: () => void;
  },
): Closing {
  const makeId = createIdMaker(seed);
  const makeSessionId = (ownerId: string, conversationId: string): string =>
    makeId('ses', ['conversation', ownerId, conversationId]);
  const { ingestLog, conversations } = store;
  const deps = {
    store,
    clock,
    log,
    makeSessionId,
    idleCloses,
    wake,
    missingEvals: createMissingEvals({ ingestLog, reportedProblems, clock, log }),
    turnChecks: createDatabaseRetry({ log, clock }, 'turn_check'),
  };
  const close = (conversation: ConversationRef, idleBeforeMs?: number) =>
    closeConversation(deps, conversation, idleBeforeMs);
  const idleCloser = startIdleCloser({ conversations, clock, log, close });
  return { makeSessionId, close, idleCloser };
}
