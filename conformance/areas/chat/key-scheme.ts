import { isKeyRefused, type Exchange } from '../../engine/transcript/reading.ts';
import type { Step } from '../../engine/probe.ts';
import type { SandboxContext } from '../sandbox-state.ts';

/** Other forms of the header with the key that some sandboxes expect, by step. */
const FORMS = {
  'key after bearer': { keyScheme: 'bearer ' },
  'key without Bearer': { keyScheme: '' },
  'key in Authorization': { keyHeaderCase: 'capitalized' },
  'key in AUTHORIZATION': { keyHeaderCase: 'upper' },
} as const satisfies Record<string, Partial<Step>>;

const steps = Object.keys(FORMS) as (keyof typeof FORMS)[];

/** If the key is refused, sends it in other forms, to find out which one is accepted. */
export async function lookForKeyScheme(
  context: SandboxContext,
  chat: Exchange | undefined,
  body: Step['body'],
): Promise<void> {
  if (!chat || !isKeyRefused(chat) || !body) return;
  if (chat.request.headers['authorization'] === undefined) return;
  for (const step of steps) {
    await context.send({ endpoint: 'chat', step, intent: 'open', body, ...FORMS[step] });
  }
}
