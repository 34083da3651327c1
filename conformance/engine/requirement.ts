import type { Area, Level } from '../../src/contract/index.ts';
import type { Check } from './checks/check.ts';
import type { Distortion } from './mutants/mutant.ts';

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

/** A mutant or legal variant of a requirement. Its id is its key, after the name of the area. */
export interface DistortionEntry extends Partial<Omit<Distortion, 'id' | 'transform'>> {
  /** What it does: one sentence without a subject. */
  does: string;
  transform: Distortion['transform'];
}

/** A mutant, which fails the requirement that lists it. */
export interface MutantEntry extends DistortionEntry {
  /** The other requirements that it fails. */
  alsoKills?: readonly RequirementId[];
}

/** Everything about one requirement: the rule, what shows it, how it is judged, and its proof. */
export interface RequirementEntry {
  /** Default: `must`. */
  level?: Level;
  /** Default: the section of the first statement. */
  section?: string;
  /** The numbered statements that it covers, e.g. "2.8.3". */
  statements: readonly [string, ...string[]];
  /** The rule, in one sentence. */
  rule: string;
  /** What breaks for the user when the rule is broken. */
  reason: string;
  /** Whether ordinary requests show a violation (the default), or only requests that provoke it. */
  observability?: Requirement['observability'];
  inMedia?: true;
  /** The probes that yield evidence from a peer that implements everything. */
  probes?: readonly string[];
  check: Check;
  /** Peers that break the rule, by name. Each fails this requirement and those of `alsoKills` only. */
  mutants?: Readonly<Record<string, MutantEntry>>;
  /** Unusual but legal peers, by name: no requirement may fail. */
  legal?: Readonly<Record<string, DistortionEntry>>;
}

/** The requirements of an area, or of a part of it, by id. Ids are never reused. */
export type RequirementEntries = Readonly<Record<RequirementId, RequirementEntry>>;

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

/** Completes the ledger's row of a requirement: `7.b3` is in section 7. */
export function toRequirement(entry: RequirementEntry): Requirement {
  const { level = 'must', statements, rule, reason, observability = 'black-box', inMedia } = entry;
  const section = entry.section ?? statements[0].slice(0, statements[0].lastIndexOf('.'));
  return {
    level,
    section,
    statements,
    rule,
    reason,
    observability,
    ...(inMedia && { inMedia }),
  };
}

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
