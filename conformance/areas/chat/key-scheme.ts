import { isKeyRefused, type Exchange } from '../../engine/transcript/reading.ts';
import type { Step } from '../../engine/probe.ts';
import type { SandboxContext } from '../sandbox-state.ts';

/** What sandboxes expect before the key that do not expect the word Bearer. */
const SCHEMES = ['bearer ', ''] as const;

/** If the key is refused, sends it without `Bearer`, and with the word in lower case, to name the cause. */
export async function lookForKeyScheme(
  context: SandboxContext,
  chat: Exchange | undefined,
  body: Step['body'],
): Promise<void> {
  if (!chat || !isKeyRefused(chat) || !body) return;
  if (chat.request.headers['authorization'] === undefined) return;
  for (const keyScheme of SCHEMES) {
    const step = keyScheme === '' ? 'key without Bearer' : 'key after bearer';
    await context.send({ endpoint: 'chat', step, intent: 'open', keyScheme, body });
  }
}
