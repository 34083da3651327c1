import { chatFailureMutants } from './failures.ts';
import { chatReplyMutants } from './replies.ts';
import { chatRequestMutants } from './requests.ts';
import { chatSessionMutants } from './sessions.ts';
import { chatShapeMutants } from './shapes.ts';
import type { Mutant } from '../../../engine/mutants/mutant.ts';

/** Mutants of `POST /v1/chat/completions`. */
export const chatMutants: readonly Mutant[] = [
  ...chatRequestMutants,
  ...chatShapeMutants,
  ...chatFailureMutants,
  ...chatReplyMutants,
  ...chatSessionMutants,
];
