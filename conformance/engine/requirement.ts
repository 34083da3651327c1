import type { Area, Level } from '../../src/contract/index.ts';

/** A row of the ledger that has a check. */
export interface Requirement {
  level: Level;
  /** Section of the specification, e.g. "2.8". */
  section: string;
  /** The numbered statements that it covers, e.g. "2.8.3". */
  statements: readonly string[];
  /** What it asks, in one sentence of ours. */
  rule: string;
  /** Why it matters to a simulation. */
  reason: string;
  /** How it can be seen: by ordinary requests, or only when something provokes it. */
  seen: 'black-box' | 'provoked';
  /** It takes media, and mostly speech, to be seen: no single message shows it. */
  inMedia?: true;
}

/** A row of the ledger that no check can have, with the reason. */
export interface UntestableStatements {
  statements: readonly string[];
  /** Why it can't be seen from outside a sandbox. */
  reason: string;
}

/** The id of a requirement, e.g. `CHAT-012`. Each area exports the union of its ids. */
export type RequirementId = `${Uppercase<Area>}-${string}`;

/** The requirements of an area by id. Ids are never reused. */
export type Ledger = Readonly<Record<RequirementId, Requirement>>;

/** Returns the area of a requirement: `CHAT-012` belongs to `chat`. */
export function areaOf(id: RequirementId): Area {
  return id.slice(0, id.indexOf('-')).toLowerCase() as Area;
}
