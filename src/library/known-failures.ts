import type * as conformanceModule from '../../conformance/index.ts';
import type { Area } from '../contract/index.ts';
import type { KnownFailure } from './options.ts';

type Conformance = typeof conformanceModule;

/** A known failure that does not fit a run. */
export interface KnownFailureProblem {
  index: number;
  id: string;
  /** unknown: no requirement has the id. otherPeer: it belongs to the other kind of server. */
  kind: 'unknown' | 'otherPeer' | 'duplicate';
}

/**
 * Returns the first known failure that does not fit a run. An id of an area that is not checked is
 * allowed, because one file can serve several runs.
 */
export function findKnownFailureProblem(
  accepted: readonly KnownFailure[],
  areas: readonly Area[],
  { idsOfRun, allRequirementIds }: Conformance,
): KnownFailureProblem | undefined {
  const runIds: readonly string[] = idsOfRun({ areas });
  const allIds: readonly string[] = allRequirementIds;
  for (const [index, { id }] of accepted.entries()) {
    if (!allIds.includes(id)) return { index, id, kind: 'unknown' };
    if (!runIds.includes(id)) return { index, id, kind: 'otherPeer' };
    if (accepted.findIndex((failure) => failure.id === id) !== index) {
      return { index, id, kind: 'duplicate' };
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
  if (!problem) return;
  const { index, id, kind } = problem;
  const reasons = {
    unknown: `is not the id of a requirement: ${JSON.stringify(id)}`,
    otherPeer: `is not part of this run: ${JSON.stringify(id)}`,
    duplicate: `occurs twice: ${JSON.stringify(id)}`,
  };
  throw new TypeError(`${caller}: knownFailures[${index}].id ${reasons[kind]}.`);
}
