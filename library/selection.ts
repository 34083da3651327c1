import type { CheckOptions, RequirementSet, Selection } from '../conformance/index.ts';
import type { Area } from '../src/contract/index.ts';
import type { SpellOption } from '../src/options/table.ts';
import type { Reject } from './rejection.ts';
import type { Conformance } from './packages.ts';

/** The options that select requirements. */
export type RequirementOptions = Pick<CheckOptions, 'only' | 'skip' | 'requirements'>;

/** A resolved selection and its requirement set. */
export type ResolvedSelection = Selection & { requirementSet: RequirementSet | undefined };

/** The requirements to select from. */
export interface SelectionSource {
  areas: readonly Area[];
  /** The recording that is judged again. */
  recording?: { selected: readonly string[] | undefined };
  /** Spells options in messages (default: as on the command line). */
  spell?: SpellOption | undefined;
}

/**
 * Resolves the options that select requirements.
 *
 * @throws {SelectionError} if a requirement or a set is unknown, or no requirement is left.
 */
export function resolveSelection(
  { only, skip, requirements }: RequirementOptions,
  source: SelectionSource,
  { findRequirementSet, selectRequirements }: Conformance,
): ResolvedSelection {
  const requirementSet = findRequirementSet(requirements, source.spell);
  return { ...selectRequirements({ ...source, only, skip, requirementSet }), requirementSet };
}

/**
 * Returns what the options select. The error of `reject` says why they select nothing, or which
 * requirement or set is unknown.
 */
export function selectOrReject<Selected>(
  select: () => Selected,
  { SelectionError }: Conformance,
  reject: Reject,
): Selected {
  try {
    return select();
  } catch (error) {
    throw error instanceof SelectionError ? reject(error.message, error) : error;
  }
}
