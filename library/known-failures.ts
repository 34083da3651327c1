import type { Area } from '../src/contract/index.ts';
import type { KnownFailure } from '../src/options/shared.ts';
import type { Conformance } from './packages.ts';

/** The peers of areas that are not part of a sandbox. */
const peerNames: Readonly<Partial<Record<Area, string>>> = {
  service: 'the service',
  client: 'a client of the service',
};

/**
 * Returns the first known failure that does not fit a run, and why, as sentences. An id of an area
 * that is not checked is allowed, because one list can serve several runs.
 */
export function findKnownFailureProblem(
  accepted: readonly KnownFailure[],
  areas: readonly Area[],
  { allRequirementIds, areaOf, idsOfRun, suggestRequirement }: Conformance,
): { index: number; message: string } | undefined {
  const runIds: readonly string[] = idsOfRun({ areas });
  for (const [index, { id }] of accepted.entries()) {
    const known = allRequirementIds.find((candidate) => candidate === id);
    if (!known) {
      const hint = suggestRequirement(id, allRequirementIds);
      return { index, message: `Unknown requirement ${JSON.stringify(id)}. ${hint}` };
    }
    if (!runIds.includes(id)) {
      const peer = peerNames[areaOf(known)] ?? 'a sandbox';
      const message = `${id} is not part of this run: it is a requirement of ${peer}. Remove it.`;
      return { index, message };
    }
    if (accepted.findIndex((failure) => failure.id === id) !== index) {
      return { index, message: `Duplicate requirement ${JSON.stringify(id)}.` };
    }
  }
  return undefined;
}

/** @throws {TypeError} about the first known failure that does not fit the run. */
export function rejectKnownFailures(
  caller: string,
  { knownFailures, areas }: { knownFailures: readonly KnownFailure[]; areas: readonly Area[] },
  conformance: Conformance,
): void {
  const problem = findKnownFailureProblem(knownFailures, areas, conformance);
  if (problem) {
    throw new TypeError(`${caller}: knownFailures[${problem.index}].id: ${problem.message}`);
  }
}
