/** Valid requests that a sandbox must accept. */
import type { Endpoint } from '../../src/contract/index.ts';
import { type Check, explainNoValidResponse } from '../engine/checks/check.ts';
import { readGenerated } from '../engine/checks/generated.ts';
import { checkAccepted, requirePlainAccepted } from '../engine/checks/responses.ts';
import { isObjectFrom } from '../engine/checks/shape.ts';
import { refuseInstead, to, type When } from '../engine/mutants/combinators.ts';
import type { MutantEntry, RequirementEntry, RequirementId } from '../engine/requirement.ts';
import type { Property } from '../engine/sweep/property.ts';
import type { Exchange } from '../engine/transcript/reading.ts';

/** The step of all generated requests. Their properties name the requirements for their success. */
export const GENERATED = 'generated';

/** What the valid requests to an endpoint have in common. */
interface AcceptedGroup {
  endpoint: Endpoint;
  /** What is special about the generated requests. */
  properties: readonly Property[];
  /** Adapts the checks to an endpoint that is optional. */
  adapt?: (check: Check) => Check;
}

/** A requirement that some valid requests succeed. */
interface AcceptedEntry extends Omit<RequirementEntry, 'check'> {
  /** The steps (default: all that no other requirement has, also those of other recordings). */
  steps?: readonly string[];
  /**
   * The step of the request that these requests vary: without its success, they show nothing. A
   * record has it by step; the others and generated requests vary the step `full`.
   */
  varies?: string | Readonly<Record<string, string>>;
  /** Adapts the check of this requirement. */
  judge?: (check: Check) => Check;
  isEvidence?: Parameters<typeof checkAccepted>[3];
}

/** Derives the checks of valid requests from their steps. */
export function defineAccepted<Id extends RequirementId>(
  { endpoint, properties, adapt = (check) => check }: AcceptedGroup,
  entries: Readonly<Record<Id, AcceptedEntry>>,
): Readonly<Record<Id, RequirementEntry>> {
  const all = Object.entries(entries) as [Id, AcceptedEntry][];
  const named = new Set([GENERATED, ...all.flatMap(([, { steps = [] }]) => steps)]);
  const generated = readGenerated(endpoint, properties);
  const unjudged = explainNoValidResponse(endpoint);
  const toEntry = ([id, { steps, varies, judge, isEvidence, ...entry }]: [Id, AcceptedEntry]) => {
    const isStep = (step: string): boolean => steps?.includes(step) ?? !named.has(step);
    const accepted = generated.include(id, checkAccepted(endpoint, isStep, unjudged, isEvidence));
    const plainOf = ({ step, properties: special }: Exchange): string =>
      special ? 'full' : ((typeof varies === 'string' ? varies : varies?.[step]) ?? 'full');
    const check =
      varies === undefined
        ? accepted
        : requirePlainAccepted(
            (plain, exchange) => plain.endpoint === endpoint && plain.step === plainOf(exchange),
            isObjectFrom(endpoint),
            accepted,
          );
    return [id, { ...entry, check: adapt(judge ? judge(check) : check) }] as const;
  };
  return Object.fromEntries(all.map(toEntry)) as Record<Id, RequirementEntry>;
}

/** Returns a function that creates mutants of an endpoint that refuse some valid requests. */
export function createFalseRefusals(endpoint: Endpoint) {
  return (requests: string, when: When, more: Partial<MutantEntry> = {}): MutantEntry => ({
    does: `Refuses ${requests}.`,
    transform: refuseInstead(to(endpoint, when)),
    ...more,
  });
}
