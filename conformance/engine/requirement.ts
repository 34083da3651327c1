import type { Area, Level } from '../../src/contract/index.ts';

/** One rule of the interface that has a check. */
export interface Requirement {
  level: Level;
  /** Section of the specification, e.g. "2.8". */
  section: string;
  /** The numbered statements that it covers, e.g. "2.8.3". */
  statements: readonly string[];
  /** The rule, in one sentence. */
  rule: string;
  /** What breaks for the user when the rule is broken. */
  reason: string;
  /** Whether ordinary requests show a violation, or only requests that provoke it. */
  observability: 'black-box' | 'provoked';
  /** A violation shows only in the media of a call, not in any single message. */
  inMedia?: true;
}

/** Statements that no check can cover, with the reason. */
export interface UntestableStatements {
  statements: readonly string[];
  /** Why a violation can't be observed from outside a sandbox. */
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

/** The requirements that a release of the kit judges. Later ones are notes. */
export interface RequirementSet {
  /** The release, such as "0.2". */
  name: string;
  ids: ReadonlySet<string>;
}
