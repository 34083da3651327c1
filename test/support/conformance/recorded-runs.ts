/** Recorded runs against conforming peers. Each is made once in a process, by the first test that needs it. */
import type { Transcript } from '../../../conformance/engine/transcript/transcript.ts';
import { startAgent } from '../../../reference-agent/index.ts';
import { startService, type RunningService } from '../../../src/service/index.ts';
import { recordRun } from './checked-service.ts';

/** Returns a function that calls another one the first time, and returns the same result afterward. */
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

/** The recorded run of a service. */
interface ServiceRun {
  transcript: Transcript;
  apiKey: string;
  /** How far its clock is ahead after the run. */
  aheadMs: number;
}

/** Records an intrusive run against the service. */
export const recordServiceOnce = once(async (): Promise<ServiceRun> => {
  const service = await startService();
  try {
    const transcript = await recordRun(service);
    return { transcript, apiKey: service.apiKey, aheadMs: await measureClock(service) };
  } finally {
    await service.stop();
  }
});

/** Returns how far the clock of a service is ahead, in milliseconds. */
export async function measureClock({ adminUrl }: RunningService): Promise<number> {
  const response = await fetch(`${adminUrl}/clock`);
  return ((await response.json()) as { now_ms: number }).now_ms - Date.now();
}
