/**
 * The requirement sets: for each release, the requirements that it added. A released set never
 * changes, so that an upgrade of the kit never fails a run that passed (docs/check.md#requirement-sets).
 */
import releases from './requirement-sets.json' with { type: 'json' };
import type { RequirementSet } from './engine/requirement.ts';

/** The requirements that a release added, with their levels. */
export interface Release {
  /** SHA-256 of the requirements; null until the release is published. */
  digest: string | null;
  requirements: Readonly<Record<string, string>>;
}

/** Releases by name, such as "0.2". */
export type Releases = Readonly<Record<string, Release>>;

/** Compares two releases by their numbers, because 0.10 is later than 0.9. */
export function compareReleases(left: string, right: string): number {
  const [leftMajor = 0, leftMinor = 0] = left.split('.').map(Number);
  const [rightMajor = 0, rightMinor = 0] = right.split('.').map(Number);
  return leftMajor - rightMajor || leftMinor - rightMinor;
}

/** Creates a set per release, oldest first. Each has the requirements of all releases before it. */
export function createRequirementSets(all: Releases): RequirementSet[] {
  const names = Object.keys(all).sort(compareReleases);
  return names.map((name, index) => ({
    name,
    ids: new Set(
      names.slice(0, index + 1).flatMap((each) => Object.keys(all[each]?.requirements ?? {})),
    ),
  }));
}

/** The sets that `--requirements` accepts, oldest first. */
export const requirementSets: readonly RequirementSet[] = createRequirementSets(releases);

/** The set that judges runs by default. */
export const newestRequirementSet = requirementSets.at(-1);

/** Returns the release that added a requirement; undefined if no release lists it. */
export function sinceOf(id: string): string | undefined {
  return requirementSets.find(({ ids }) => ids.has(id))?.name;
}
