import type { Area } from '../../src/contract/index.ts';
import { chatRequirements } from './chat.ts';
import { healthRequirements } from './health.ts';
import { areaOf, type Requirement } from './requirement.ts';
import { usersRequirements } from './users.ts';

export { areaOf, type Requirement, type Unseen } from './requirement.ts';
export { unseen } from './unseen.ts';

/** Every requirement that has a check, by id. */
export const requirements = {
  ...chatRequirements,
  ...healthRequirements,
  ...usersRequirements,
} as const;

/** The id of a requirement, e.g. `CHAT-012`. */
export type RequirementId = keyof typeof requirements;

/** All ids, in the order of the ledger. */
export const requirementIds = Object.keys(requirements) as RequirementId[];

/** The row of an id. */
export function requirement(id: RequirementId): Requirement {
  return requirements[id];
}

/** The ids of an area. */
export function idsOf(area: Area): RequirementId[] {
  return requirementIds.filter((id) => areaOf(id) === area);
}
