import { createDatabaseRetry } from '../background/database-retry.ts';
import type { Sweeper } from '../background/sweeper.ts';
import {
  closeConversation,
  closeIdleConversations,
  type CloseDeps,
  type ConversationRef,
} from '../close/close-conversation.ts';
import { startIdleCloser } from '../close/idle-closer.ts';
import { createMissingEvals } from '../close/missing-evals.ts';
import { createIdMaker } from '../store/ids.ts';
import type { CloseResult } from '../store/store.ts';
import type { Base } from './base.ts';
import type { Scoring } from './workers.ts';

/** What closes conversations, by request or after a time without activity. */
export interface Closing {
  makeSessionId: (ownerId: string, conversationId: string) => string;
  close: (conversation: ConversationRef) => Promise<CloseResult | undefined>;
  idleCloser: Sweeper;
}

/** Starts what closes conversations, by request or after a time without activity. */
export function startClosing(
  base: Base,
  { randomSeed, wake }: { randomSeed: string; wake: Scoring['wake'] },
): Closing {
  const makeId = createIdMaker(randomSeed);
  const makeSessionId = (ownerId: string, conversationId: string): string =>
    makeId('ses', ['conversation', ownerId, conversationId]);
  const deps: CloseDeps = {
    ...base,
    makeSessionId,
    wake,
    missingEvals: createMissingEvals(base),
    turnChecks: createDatabaseRetry(base, 'turn_check'),
  };
  return {
    makeSessionId,
    close: (conversation) => closeConversation(deps, conversation),
    idleCloser: startIdleCloser({
      ...base,
      close: (conversations, idleBeforeMs) =>
        closeIdleConversations(deps, conversations, idleBeforeMs),
    }),
  };
}
