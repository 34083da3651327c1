import type { Test } from 'tap';
import { startService, type RunningService } from '../../../src/service/index.ts';

/** Starts a service as a program does, and stops it after the test. */
export async function withStartedService(
  t: Test,
  options?: Parameters<typeof startService>[0],
): Promise<RunningService> {
  const service = await startService(options);
  t.teardown(() => service.stop());
  return service;
}
