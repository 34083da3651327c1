/** Valid requests that a sandbox must accept. */
import type { Endpoint } from '../../src/contract/index.ts';
import { explainNoValidResponse } from '../engine/checks/check.ts';
import { readGenerated } from '../engine/checks/generated.ts';
import { checkAccepted, requirePlainAccepted } from '../engine/checks/responses.ts';
import { isObjectFrom } from '../engine/checks/shape.ts';
import { to, type When } from '../engine/mutants/combinators.ts';
import { refuseInstead } from './sandbox-responses.ts';
import {
  withDefaults,
  type MutantEntry,
  type PartialEntry,
  type RequirementDefaults,
  type RequirementEntry,
  type RequirementId,
} from '../engine/requirement.ts';
import type { Property } from '../engine/sweep/property.ts';
import type { Exchange } from '../engine/transcript/reading.ts';
import type { ChatStep } from './chat/requests.ts';
import type { CreateStep } from './users/requests.ts';

/** The step of all generated requests. Their properties name the requirements for their success. */
export const GENERATED = 'generated';

/** The steps of the endpoints whose valid requests are derived here, by endpoint. */
interface Steps {
  chat: ChatStep;
  create: CreateStep;
}

/** The common properties of the valid requests to an endpoint. */
interface AcceptedDefaults<Of extends keyof Steps> extends RequirementDefaults {
  endpoint: Of;
  /** What is special about the generated requests, each with its requirement. */
  properties: readonly Property[];
}

/** A requirement that some valid requests succeed, besides the generated ones. */
interface AcceptedEntry<Name extends string = string> extends Omit<PartialEntry, 'check'> {
  /** The steps of the requests; `others`: all that no requirement names, even in other recordings. */
  steps?: 'others' | readonly Name[];
  /**
   * The step of the plain request that these requests vary, for all or for each: if it is refused, too,
   * they show nothing. The plain request of a generated one is always the step `full`.
   */
  plain?: Name | ((exchange: Exchange) => Name);
  wrapCheck?: RequirementDefaults['wrapCheck'];
  isEvidence?: Parameters<typeof checkAccepted>[3];
}

/** The requirements about the success of some valid requests, by id. */
export type AcceptedEntries<Of extends keyof Steps> = Readonly<
  Record<RequirementId, AcceptedEntry<Steps[Of]>>
>;

/**
 * Derives the checks of valid requests from their steps.
 *
 * @throws {Error} if a property has a requirement that is not among the entries.
 */
export function defineAccepted<Of extends keyof Steps, Id extends RequirementId>(
  { endpoint, properties, ...defaults }: AcceptedDefaults<Of>,
  entries: Readonly<Record<Id, AcceptedEntry<Steps[Of]>>>,
): Record<Id, RequirementEntry> {
  const all: [Id, AcceptedEntry][] = Object.entries(entries) as [Id, AcceptedEntry<Steps[Of]>][];
  const stray = properties.find(({ requirement }) => !Object.hasOwn(entries, requirement));
  if (stray) throw new Error(`${stray.name} has the requirement ${stray.requirement}.`);
  const named = [
    GENERATED,
    ...all.flatMap(([, { steps = [] }]) => (typeof steps === 'string' ? [] : [...steps])),
  ];
  const generated = readGenerated(endpoint, properties);
  const withCheck = ([id, entry]: [Id, AcceptedEntry]): [Id, PartialEntry] => {
    const { steps = [], plain, wrapCheck, isEvidence, ...requirement } = entry;
    const isStep = (step: string): boolean =>
      typeof steps === 'string' ? !named.includes(step) : steps.includes(step);
    const accepted = generated.include(
      id,
      checkAccepted(endpoint, isStep, explainNoValidResponse(endpoint), isEvidence),
    );
    const plainStepOf = (exchange: Exchange): string | undefined =>
      exchange.properties ? 'full' : typeof plain === 'function' ? plain(exchange) : plain;
    const check =
      plain === undefined
        ? accepted
        : requirePlainAccepted(
            (other, exchange) =>
              other.endpoint === endpoint && other.step === plainStepOf(exchange),
            isObjectFrom(endpoint),
            accepted,
          );
    return [id, { ...requirement, check: wrapCheck?.(check) ?? check }];
  };
  return withDefaults(defaults, Object.fromEntries(all.map(withCheck)) as Record<Id, PartialEntry>);
}

/** Returns a function that writes mutants of an endpoint that refuse some valid requests. */
export function createFalseRefusals(endpoint: Endpoint) {
  return (requests: string, when: When, more: Partial<MutantEntry> = {}): MutantEntry => ({
    description: `Refuses ${requests}.`,
    transform: refuseInstead(to(endpoint, when)),
    ...more,
  });
}
