import type { Area } from '../../src/contract/index.ts';
import { chatRequirements } from './chat/requirements.ts';
import { healthRequirements } from './health/requirements.ts';
import { areaOf, type Requirement } from '../engine/requirement.ts';
import { serviceRequirements } from './service/requirements.ts';
import { usersRequirements } from './users/requirements.ts';
import { voiceRequirements } from './voice/requirements.ts';

export { areaOf, type Requirement, type UntestableStatements } from '../engine/requirement.ts';
export { untestable } from './untestable.ts';

/** Every requirement of a sandbox that has a check, by id. */
const sandboxRequirements = {
  ...chatRequirements,
  ...healthRequirements,
  ...usersRequirements,
  ...voiceRequirements,
} as const;

/** Every requirement that has a check, by id. */
export const requirements = { ...sandboxRequirements, ...serviceRequirements } as const;

/** The id of a requirement, e.g. `CHAT-012`. */
export type RequirementId = keyof typeof requirements;

/** The ids of what a sandbox must do, in the order of the ledger. */
export const requirementIds = Object.keys(sandboxRequirements) as RequirementId[];

/** The ids of what the service must do (area A). */
export const serviceRequirementIds = Object.keys(serviceRequirements) as RequirementId[];

/** Whether a run is of the service; one of a sandbox never is. */
export function isServiceRun({ areas }: { areas: readonly Area[] }): boolean {
  return areas.includes('service');
}

/** The ids that a run of some areas is judged by: those of the service, or those of a sandbox. */
export function idsOfRun(run: { areas: readonly Area[] }): readonly RequirementId[] {
  return isServiceRun(run) ? serviceRequirementIds : requirementIds;
}

/** The row of an id. */
export function requirement(id: RequirementId): Requirement {
  return requirements[id];
}

/** The ids of an area. */
export function idsOf(area: Area): RequirementId[] {
  return [...requirementIds, ...serviceRequirementIds].filter((id) => areaOf(id) === area);
}
