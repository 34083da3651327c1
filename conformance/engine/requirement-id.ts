import type { Area } from '../../src/contract/index.ts';

/** The id of a requirement, e.g. `CHAT-012`. */
export type RequirementId = `${Uppercase<Area>}-${string}`;

/** Returns the area of a requirement: `CHAT-012` belongs to `chat`. */
export function areaOf(id: RequirementId): Area {
  return id.slice(0, id.indexOf('-')).toLowerCase() as Area;
}
