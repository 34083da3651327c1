import { isNotFound, type Exchange } from '../../engine/transcript/reading.ts';
import type { Step } from '../../engine/probe.ts';
import type { SandboxContext } from '../sandbox-state.ts';

const STEP = 'without /v1';

/** Returns whether an exchange shows what the sandbox does at the chat route without its prefix. */
export const isUnprefixedStep = ({ endpoint, step }: Exchange): boolean =>
  endpoint === 'elsewhere' && step === STEP;

/** If the chat route is unknown, looks for it without the prefix, to name the cause. */
export async function lookForUnprefixed(
  context: SandboxContext,
  chat: Exchange | undefined,
  body: Step['body'],
): Promise<void> {
  if (!chat || !isNotFound(chat) || !body) return;
  await context.send({
    endpoint: 'elsewhere',
    step: STEP,
    intent: 'open',
    path: '/chat/completions',
    body,
  });
}
