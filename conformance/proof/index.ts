import { systemClock } from '../../src/platform/clock.ts';
import { isClientRun, isServiceRun } from '../areas/index.ts';
import { mutants, serviceMutants } from '../areas/mutants.ts';
import type { PeerChoice } from './peer-runs.ts';
import type { SelftestOptions, SelftestResult } from './selftest.ts';

// The self-test and its proxies are loaded on demand, because `check` doesn't need them.

/** Returns how many rows a self-test has. */
export async function selftestSize(choice: PeerChoice): Promise<number> {
  const { selftestSize: sizeOf } = await import('./selftest.ts');
  return sizeOf(choice);
}

/** Returns the ids of the rows of a self-test. */
export async function selftestIds(choice: PeerChoice): Promise<string[]> {
  const { choosePeers } = await import('./peer-runs.ts');
  const { mutants, variants, deadPeers } = choosePeers(choice);
  return [...mutants, ...variants, ...deadPeers].map(({ id }) => id);
}

/** Returns how many requirements a proven self-test names because it runs no mutant of them. */
export async function countUnkilled(choice: PeerChoice): Promise<number> {
  const { countUnkilled: count } = await import('./selftest.ts');
  return count(choice);
}

/** Returns which conforming peers a self-test needs as the base of its mutants and variants. */
export async function selftestNeeds(
  choice: PeerChoice,
): Promise<{ sandbox: boolean; service: boolean }> {
  const { choosePeers } = await import('./peer-runs.ts');
  const { mutants, variants } = choosePeers(choice);
  const needsService = [...mutants, ...variants]
    .filter((distortion) => !isClientRun(distortion))
    .map(isServiceRun);
  return { sandbox: needsService.includes(false), service: needsService.includes(true) };
}

/** Proves the engine with mutants, legal variants and dead peers. */
export async function selftest(options: SelftestOptions): Promise<SelftestResult> {
  const { selftest: run } = await import('./selftest.ts');
  return run(options);
}

/** A mutant that accepts requests. */
export interface RunningMutant {
  url: string;
  /** What the mutant does wrong, in one sentence. */
  description: string;
  stop: () => Promise<void>;
}

/**
 * Starts a mutant as a proxy in front of a sandbox or a service, on a port of loopback (default: a
 * free one). Returns undefined if no mutant has the id, or if the mutant changes the run instead of
 * the traffic.
 *
 * @throws {StartError} if the port can't be used.
 */
export async function startMutant(
  id: string,
  upstream: string,
  port?: number,
): Promise<RunningMutant | undefined> {
  const mutant = [...mutants, ...serviceMutants].find((candidate) => candidate.id === id);
  if (!mutant || mutant.run) return undefined;
  const { startProxy } = await import('./proxy.ts');
  const { url, stop } = await startProxy({
    upstream,
    port,
    transform: mutant.transform(),
    voice: mutant.voice?.(),
    clock: systemClock,
  });
  return { url, description: mutant.description, stop };
}
