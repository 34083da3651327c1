import { areas, planCheck, type PlanOptions } from './check.ts';
import {
  findArea,
  dryRunText,
  idsOfStatement,
  requirementList,
  requirementText,
} from './reports/listing.ts';
import type { TextLayout } from '../src/report-kit/terminal.ts';
import { allAreas, allRequirementIds } from './areas/index.ts';
import type { RequirementId } from './engine/requirement.ts';

/** Lists the requirements that `check` would judge. */
export function listing(chosen: PlanOptions, options: TextLayout): string {
  return requirementList(chosen.areas ?? areas, options, chosen.selected);
}

/** Lists what `check` would send. */
export function dryRun(chosen: PlanOptions, options: TextLayout): string {
  const plan = planCheck(chosen);
  const alternative = planCheck({ ...chosen, intrusive: !(chosen.intrusive ?? false) });
  return dryRunText({ plan, alternative }, options);
}

/**
 * Explains a requirement, an area, or a statement of the specification. Lists all requirements for an
 * empty word; returns undefined for an unknown one.
 */
export function explanation(word: string, options: TextLayout): string | undefined {
  const area = findArea(word);
  if (area) return requirementList([area], options);
  if (word === '') return requirementList(allAreas, options);
  const explain = (id: RequirementId): string => requirementText(id, options);
  const id = allRequirementIds.find((candidate) => candidate === word.toUpperCase());
  if (id) return explain(id);
  const { ids, reason } = idsOfStatement(word);
  if (ids.length > 0) return ids.map(explain).join('\n');
  return reason === undefined ? undefined : `No requirement covers ${word}. ${reason}\n`;
}
