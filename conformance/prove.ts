import { systemClock } from '../src/shared/clock.ts';
import type { SelftestOptions, SelftestResult } from './mutants/selftest.ts';

// The mutants are loaded when they are asked for: a check needs none of them.

/**
 * How many peers a self-test runs: those with `only` in their id, all when left out; those of the
 * service where there is one to prove.
 */
export async function selftestSize(only = '', withService = false): Promise<number> {
  const { selftestSize: sizeOf } = await import('./mutants/selftest.ts');
  return sizeOf(only, withService);
}

/** Proves the judge against a conforming sandbox: see `mutants/`. */
export async function selftest(options: SelftestOptions): Promise<SelftestResult> {
  const { selftest: run } = await import('./mutants/selftest.ts');
  return run(options);
}

/** A mutant that listens. */
export interface RunningMutant {
  url: string;
  /** What it does wrong, in one sentence. */
  breaks: string;
  stop: () => Promise<void>;
}

/** Puts a mutant before a sandbox; undefined when there is none of that id that traffic can show. */
export async function startMutant(
  id: string,
  upstream: string,
): Promise<RunningMutant | undefined> {
  const { mutants } = await import('./mutants/index.ts');
  const mutant = mutants.find((one) => one.id === id);
  if (!mutant || mutant.run) return undefined;
  const { startProxy } = await import('./mutants/proxy.ts');
  const transform = mutant.transform();
  const { url, stop } = await startProxy({ upstream, transform, clock: systemClock });
  return { url, breaks: mutant.breaks, stop };
}
