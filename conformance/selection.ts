import type { Area } from '../src/contract/index.ts';
import { areaOf, idsOf, requirements, type RequirementId } from './areas/index.ts';
import type { RequirementSet } from './engine/requirement.ts';
import { checkOptions } from './options.ts';
import { requirementSets } from './requirement-sets.ts';
import { spellAsFlag, type SpellOption } from '../src/options/table.ts';
import { didYouMean } from '../src/platform/suggest.ts';

/** The requirements that a run judges. */
export interface Selection {
  /** The areas with a selected requirement. */
  areas: readonly Area[];
  /** The selected requirements; absent if the run judges all requirements of the areas. */
  selected?: readonly RequirementId[];
}

/** Options of `selectRequirements`. */
export interface SelectionOptions {
  areas: readonly Area[];
  /** Ids, or patterns with `*`, of the requirements to judge (default: all). */
  only?: readonly string[] | undefined;
  /** Ids, or patterns with `*`, of the requirements to skip. */
  skip?: readonly string[] | undefined;
  /** The requirement set of a release; other requirements are only notes (default: all count). */
  requirementSet?: RequirementSet | undefined;
  /** Spells the options in messages (default: as on the command line). */
  spell?: SpellOption | undefined;
  /** For a recording: the requirements that the recorded run selected. */
  recording?: { selected: readonly string[] | undefined } | undefined;
}

/** A selection is invalid. The message says how to correct it. */
export class SelectionError extends Error {
  override name = 'SelectionError';
}

/**
 * Selects requirements by id or by a pattern such as `CHAT-*`. Areas without a selected requirement
 * are omitted, so that the run sends no requests for them.
 *
 * @throws {SelectionError} if an id matches no requirement of the areas, or no requirement is left.
 */
export function selectRequirements(options: SelectionOptions): Selection {
  const { areas, only, skip, requirementSet, recording } = options;
  if (!only && !skip) return { areas };
  const recorded = recording?.selected;
  const candidates = areas.flatMap(idsOf).filter((id) => recorded?.includes(id) ?? true);
  const chosen = only ? findAll('only', only, candidates, options) : new Set(candidates);
  for (const id of skip ? findAll('skip', skip, candidates, options) : []) chosen.delete(id);
  const selected = candidates.filter((id) => chosen.has(id));
  if (selected.length === 0) {
    throw new SelectionError('No requirement is left to judge. Select more, or skip fewer.');
  }
  if (requirementSet && !selected.some((id) => requirementSet.ids.has(id))) {
    throw new SelectionError(
      `Every selected requirement was added after the requirement set ${requirementSet.name}, so none of them counts. Select others, or a later set.`,
    );
  }
  return { areas: areas.filter((area) => selected.some((id) => areaOf(id) === area)), selected };
}

/** Returns the requirements that match one of the patterns. Every pattern must match. */
function findAll(
  option: 'only' | 'skip',
  patterns: readonly string[],
  candidates: readonly RequirementId[],
  options: SelectionOptions,
): Set<RequirementId> {
  const matching = patterns.flatMap((pattern) => {
    const expression = toExpression(pattern);
    const matches = candidates.filter((id) => expression.test(id));
    if (matches.length === 0) throw new SelectionError(describeMismatch(option, pattern, options));
    return matches;
  });
  return new Set(matching);
}

/** Returns the pattern as an expression. Several stars in a row are one, because they take long to match. */
const toExpression = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern.replaceAll(/\*+|[^A-Za-z0-9-]/g, (mark) => (mark.startsWith('*') ? '.*' : `\\${mark}`))}$`,
    'i',
  );

function describeMismatch(
  option: 'only' | 'skip',
  pattern: string,
  { areas, spell = spellAsFlag(checkOptions), recording }: SelectionOptions,
): string {
  const all = Object.keys(requirements) as RequirementId[];
  const where = `${JSON.stringify(pattern)} (${spell(option)})`;
  const expression = toExpression(pattern);
  const matches = all.filter((id) => expression.test(id));
  const [other] = matches;
  if (other === undefined) {
    const area = all.find((id) => areaOf(id) === pattern.toLowerCase());
    const hint = area
      ? `Did you mean ${pattern.toUpperCase()}-*?`
      : suggestRequirement(pattern, all);
    return `Unknown requirement ${where}. ${hint}`;
  }
  if (matches.some((id) => areas.includes(areaOf(id)))) {
    return `${where} was not selected when the run was recorded. Remove it.`;
  }
  const area = areaOf(other);
  const subject = `${where} is a requirement of ${area}, but`;
  if (recording) return `${subject} the recording has only ${areas.join(', ')}. Remove it.`;
  if (area === 'client') {
    return `${where} is a requirement of clients of the service. Judge a client with sandbox-kit exec --judge-client.`;
  }
  const isPossible = (area === 'service') === areas.includes('service');
  const wanted = isPossible ? [...areas, area] : [area];
  return `${subject} this run checks only ${areas.join(', ')}. Did you mean ${spell('areas')} ${wanted.join(',')}?`;
}

/**
 * Returns a hint for an unknown requirement id. Ids within an area are too similar for a guess, so
 * the hint says how to list them.
 */
export function suggestRequirement(id: string, known: readonly string[]): string {
  const [, area = '', number = ''] = /^([a-z]+)-0*(\d+)$/i.exec(id) ?? [];
  if (!known.some((each) => each.startsWith(`${area.toUpperCase()}-`))) {
    return didYouMean(id, known, 'Run sandbox-kit explain to list all requirements.');
  }
  const padded = `${area.toUpperCase()}-${number.padStart(3, '0')}`;
  if (known.includes(padded)) return `Did you mean ${padded}?`;
  return `Run sandbox-kit explain ${area.toLowerCase()} to list the requirements of this area.`;
}

/**
 * Returns the requirement set of a release; undefined without a name.
 *
 * @throws {SelectionError} if the name is unknown.
 */
export function findRequirementSet(
  name: string | undefined,
  spell = spellAsFlag(checkOptions),
): RequirementSet | undefined {
  if (name === undefined) return undefined;
  const set = requirementSets.find((each) => each.name === name);
  if (set) return set;
  const known = requirementSets.map((each) => each.name).join(', ');
  throw new SelectionError(
    `Unknown requirement set ${JSON.stringify(name)} (${spell('requirements')}). Known sets: ${known}.`,
  );
}
