/** Recorded runs against conforming peers. Each is made once in a process, by the first test that needs it. */
import type { Transcript } from '../../conformance/engine/transcript/transcript.ts';
import { startAgent } from '../../reference-agent/index.ts';
import { startService } from '../../src/service/index.ts';
import { recordRun } from './checked-service.ts';

/** Returns a function that calls another one the first time, and returns the same result afterwards. */
const once = <Result>(create: () => Result): (() => Result) => {
  let made: { result: Result } | undefined;
  return () => (made ??= { result: create() }).result;
};

/** Records the chat, health, and users areas of the reference agent. */
export const recordSandboxOnce = once(async (): Promise<Transcript> => {
  const agent = await startAgent({ voice: null });
  const areas = ['chat', 'health', 'users'] as const;
  const more = { areas, apiKey: undefined, prompts: ['Where?'] };
  return recordRun({ url: agent.url, apiKey: '' }, more).finally(() => agent.stop());
});

/** Records an intrusive run against the service, and returns its API key. */
export const recordServiceOnce = once(
  async (): Promise<{ transcript: Transcript; apiKey: string }> => {
    const service = await startService();
    const transcript = await recordRun(service).finally(() => service.stop());
    return { transcript, apiKey: service.apiKey };
  },
);
