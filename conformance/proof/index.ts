import { systemClock } from '../../src/platform/clock.ts';
import { isServiceRun } from '../areas/index.ts';
import type { PeerChoice } from './peer-runs.ts';
import type { SelftestOptions, SelftestResult } from './selftest.ts';

// The mutants are loaded when they are asked for: a check needs none of them.

/** How many peers a self-test of a choice runs. */
export async function selftestSize(choice: PeerChoice = {}): Promise<number> {
  const { selftestSize: sizeOf } = await import('./selftest.ts');
  return sizeOf(choice);
}

/** Of what a choice has mutants and variants: what a self-test must be given. */
export async function selftestNeeds(
  choice: PeerChoice = {},
): Promise<{ sandbox: boolean; service: boolean }> {
  const { chosenPeers } = await import('./peer-runs.ts');
  const { mutants, variants } = chosenPeers(choice);
  const isOfService = [...mutants, ...variants].map(isServiceRun);
  return { sandbox: isOfService.includes(false), service: isOfService.includes(true) };
}

/** Proves the judge against a sandbox and a service that conform: see `mutants/`. */
export async function selftest(options: SelftestOptions): Promise<SelftestResult> {
  const { selftest: run } = await import('./selftest.ts');
  return run(options);
}

/** A mutant that listens. */
export interface RunningMutant {
  url: string;
  /** What it does wrong, in one sentence. */
  description: string;
  stop: () => Promise<void>;
}

/**
 * Puts a mutant before the sandbox or the service that it is of; undefined when there is none of
 * that id that traffic can show.
 */
export async function startMutant(
  id: string,
  upstream: string,
): Promise<RunningMutant | undefined> {
  const { mutants, serviceMutants } = await import('../areas/mutants.ts');
  const mutant = [...mutants, ...serviceMutants].find((one) => one.id === id);
  if (!mutant || mutant.run) return undefined;
  const { startProxy } = await import('./proxy.ts');
  const transform = mutant.transform();
  const voice = mutant.voice?.();
  const { url, stop } = await startProxy({ upstream, transform, voice, clock: systemClock });
  return { url, description: mutant.description, stop };
}
