/** Distortions of sandboxes: the proxy that applies them. */
import type { Test } from 'tap';
import type { TransformFactory } from '../../../conformance/engine/mutants/mutant.ts';
import { startProxy } from '../../../conformance/proof/proxy.ts';
import { systemClock } from '../../../src/platform/clock.ts';

/** Starts a proxy that distorts a peer, and stops it after the test. Returns its URL. */
export async function withDistortion(
  t: Test,
  upstream: string,
  transform: TransformFactory,
): Promise<string> {
  const proxy = await startProxy({ upstream, transform: transform(), clock: systemClock });
  t.teardown(() => proxy.stop());
  return proxy.url;
}
