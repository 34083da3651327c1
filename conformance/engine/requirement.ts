import type { Level } from '../../src/contract/index.ts';
import type { Check } from './checks/check.ts';
import type { Distortion } from './mutants/mutant.ts';
import type { RequirementId } from './requirement-id.ts';

export { areaOf, type RequirementId } from './requirement-id.ts';

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

/** A mutant or legal variant where it is written. Its id is its key, after the name of the area. */
export type DistortionEntry = Partial<Distortion> &
  Pick<Distortion, 'transform'> & {
    /** What it does: one sentence without a subject. */
    description: string;
  };

/** A mutant of a requirement. */
export type MutantEntry = DistortionEntry & {
  /** The other requirements that it fails. */
  alsoKills?: readonly RequirementId[];
};

/** A mutant that breaks several requirements and belongs to none of them. */
export type SharedMutantEntry = DistortionEntry & {
  /** Exactly the requirements that it fails. */
  kills: readonly RequirementId[];
};

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
  /** The ids of the probes that yield evidence from a peer that implements everything. */
  probes?: readonly string[];
  check: Check;
  /** Peers that break the rule, by name. Each fails this requirement and those of `alsoKills` only. */
  mutants?: Readonly<Record<string, MutantEntry>>;
  /** Unusual but legal peers, by name, on which the rule could be judged wrongly. */
  legal?: Readonly<Record<string, DistortionEntry>>;
}

/** The requirements of an area, or of a part of it, by id. Ids are never reused. */
export type RequirementEntries = Readonly<Record<RequirementId, RequirementEntry>>;

/** The requirements about one subject, and the proof that they share. */
export interface Subject {
  requirements: RequirementEntries;
  /** Mutants that belong to no single requirement, by name. */
  mutants?: Readonly<Record<string, SharedMutantEntry>>;
  /** Unusual but legal peers that concern several requirements, by name. */
  legal?: Readonly<Record<string, DistortionEntry>>;
}

/** The common properties of requirements of a subject. */
export type RequirementDefaults = Partial<
  Pick<RequirementEntry, 'section' | 'reason' | 'observability' | 'inMedia' | 'probes'>
> & {
  /** Changes each check, for example because its endpoint is optional. */
  wrapCheck?: (check: Check) => Check;
};

/** A requirement without what it has in common with others. */
export type PartialEntry = Omit<RequirementEntry, 'reason'> & { reason?: string };

/** Completes entries with what they have in common. */
export function withDefaults<Id extends RequirementId>(
  { wrapCheck = (check) => check, ...defaults }: RequirementDefaults,
  entries: Readonly<Record<Id, PartialEntry>>,
): Record<Id, RequirementEntry> {
  const complete = Object.entries<PartialEntry>(entries).map(([id, entry]) => [
    id,
    { reason: '', ...defaults, ...entry, check: wrapCheck(entry.check) },
  ]);
  return Object.fromEntries(complete) as Record<Id, RequirementEntry>;
}

/** Statements that no check can cover, with the reason. */
export interface UntestableStatements {
  statements: readonly string[];
  /** Why a violation can't be observed from outside a sandbox. */
  reason: string;
}

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

/** The requirements that a release of the kit judges. Later ones are notes. */
export interface RequirementSet {
  /** The release, such as "0.2". */
  name: string;
  ids: ReadonlySet<string>;
}
