import type { Test } from 'tap';
import type { AgentOptions } from '../../../reference-agent/index.ts';
import { withMutant } from './mutant.ts';
import { withReferenceAgent } from './reference-agent.ts';

/** Starts the reference agent without voice, because calls run in real time. Returns its URL. */
export async function startTextAgent(
  t: Test,
  options: Partial<AgentOptions> = {},
): Promise<string> {
  const { agent } = await withReferenceAgent(t, { voice: null, ...options });
  return agent.url;
}

/** Starts a mutant of the reference agent without voice. Returns its URL. */
export const startTextMutant = async (t: Test, id: string): Promise<string> =>
  withMutant(t, id, await startTextAgent(t));
