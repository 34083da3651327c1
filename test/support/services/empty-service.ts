/** A service that the tests of a process share, one after another. */
import root, { type Test } from 'tap';
import { createKitFunctions } from '../../../library/kit-functions.ts';
import { startService, type RunningService } from '../../../src/service/index.ts';
import { manualClock, type ManualClock } from '../../../src/platform/manual-clock.ts';
import { createServiceUnderTest, START_MS, type ServiceUnderTest } from './service.ts';

let shared: Promise<{ service: RunningService; clock: ManualClock }> | undefined;

async function startShared(): Promise<{ service: RunningService; clock: ManualClock }> {
  const clock = manualClock(START_MS);
  const service = await startService({ clock, randomSeed: 'test', kit: createKitFunctions() });
  root.teardown(() => service.stop());
  return { service, clock };
}

/**
 * Returns a service without data, with the functions of the kit: the service of earlier tests, after a
 * reset. A test starts its own with `withService` if it needs options, moves the clock, adds keys, stops
 * the service, or expects ids from 1.
 */
export async function withEmptyService(t: Test): Promise<ServiceUnderTest> {
  shared ??= startShared();
  const tested = createServiceUnderTest(t, await shared);
  await tested.admin('POST /reset', { to: 'empty' });
  return tested;
}
