import { areas, defaultPrompts, planned, serviceArea, type Chosen } from './check.ts';
import {
  areaNamed,
  dryRunText,
  idsOfStatement,
  requirementList,
  requirementText,
  type ListingOptions,
} from './reports/listing.ts';
import { requirementIds, serviceRequirementIds } from './areas/index.ts';
import type { RequirementId } from './engine/requirement.ts';

/** The requirements that `check` would judge, for people. */
export function listing(chosen: Chosen, options: ListingOptions): string {
  return requirementList(chosen.areas ?? areas, options);
}

/** What `check` would send, for people. */
export function dryRun(chosen: Chosen, options: ListingOptions): string {
  const plan = planned(chosen);
  const otherwise = planned({ ...chosen, intrusive: !(chosen.intrusive ?? false) });
  return dryRunText({ plan, otherwise, prompts: chosen.prompts ?? defaultPrompts }, options);
}

/**
 * Explains a requirement, an area or a statement of the specification, for people; all requirements
 * for an empty word, undefined for an unknown one.
 */
export async function explanation(
  word: string,
  options: ListingOptions,
): Promise<string | undefined> {
  const area = areaNamed(word);
  if (word === '' || area)
    return requirementList(area ? [area] : [...areas, ...serviceArea], options);
  const { mutants, serviceMutants } = await import('./areas/mutants.ts');
  const explained = (id: RequirementId): string =>
    requirementText(
      id,
      [...mutants, ...serviceMutants].filter(({ kills }) => kills.includes(id)),
      options,
    );
  const id = [...requirementIds, ...serviceRequirementIds].find(
    (one) => one === word.toUpperCase(),
  );
  if (id) return explained(id);
  const { ids, reason } = idsOfStatement(word);
  if (ids.length > 0) return ids.map(explained).join('\n');
  return reason === undefined ? undefined : `${word} has no check. ${reason}\n`;
}
