import type { Test } from 'tap';
import { startMutant } from '../../../conformance/index.ts';

/** Starts a mutant in front of a sandbox, and stops it after the test. Returns its URL. */
export async function withMutant(t: Test, id: string, upstream: string): Promise<string> {
  const mutant = await startMutant(id, upstream);
  if (!mutant) throw new Error(`Unknown mutant ${id}.`);
  t.teardown(() => mutant.stop());
  return mutant.url;
}
