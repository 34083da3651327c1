import { chatErrorMutants } from './chat-errors.ts';
import { chatFailureMutants } from './chat-failures.ts';
import { chatReplyMutants } from './chat-replies.ts';
import { chatRequestMutants } from './chat-requests.ts';
import { chatSessionMutants } from './chat-sessions.ts';
import type { Mutant } from './mutant.ts';

/** Mutants of `POST /v1/chat/completions`. */
export const chatMutants: readonly Mutant[] = [
  ...chatRequestMutants,
  ...chatFailureMutants,
  ...chatReplyMutants,
  ...chatSessionMutants,
  ...chatErrorMutants,
];
