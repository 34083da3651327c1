import type { Endpoint } from '../../../src/contract/index.ts';
import { formatList } from '../../../src/report-kit/format.ts';
import type { RequirementId } from '../requirement.ts';
import { createLookup, explains, type Property, type PropertyLookup } from '../sweep/property.ts';
import { isAnswered } from '../sweep/sweep.ts';
import {
  errorOf,
  isAccepted,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../transcript/reading.ts';
import { isConclusive } from '../transcript/repetitions.ts';
import { outcomeFinding, type Check, type Finding } from './check.ts';
import { notObjectFinding } from './responses.ts';

/** A recorded generated request. */
interface Generated extends Exchange {
  properties: string[];
}

/** Adds generated requests to the evidence of checks for the success of valid requests. */
export interface GeneratedRequests {
  /**
   * Extends a check by the generated requests with properties of a requirement. Of the refused ones,
   * only the smallest count.
   */
  include(id: RequirementId, check: Check): Check;
}

/** Reads the generated requests of an endpoint. Pure, as all checks. */
export function readGenerated(
  endpoint: Endpoint,
  properties: readonly Property[],
): GeneratedRequests {
  const lookup = createLookup(properties);
  const requirementOf = (name: string): RequirementId | undefined =>
    lookup(name)?.property.requirement;
  // A size below the usual ones proves nothing: the search sent it after a refusal.
  const proves = (name: string, id: RequirementId): boolean => {
    const found = lookup(name);
    return found?.property.requirement === id && found.size >= (found.property.sizes?.from ?? 0);
  };
  const generatedIn = (exchanges: readonly Exchange[], transcript: Transcript): Generated[] =>
    exchanges.filter(
      (exchange): exchange is Generated =>
        exchange.endpoint === endpoint &&
        exchange.intent === 'valid' &&
        (exchange.properties?.length ?? 0) > 0 &&
        !isRateLimited(exchange) &&
        isConclusive(exchange, transcript) &&
        errorOf(exchange)?.code !== 'user_exists',
    );

  return {
    include(id, check) {
      const evidenceIn = (transcript: Transcript): Generated[] => {
        const generated = generatedIn(transcript.exchanges, transcript);
        if (generated.length === 0) return [];
        return [
          ...generated.filter(
            (exchange) =>
              isAnswered(exchange) && exchange.properties.some((name) => proves(name, id)),
          ),
          ...findSmallestRefused(generated, lookup).filter(
            ({ properties }) => requirementOf(properties.at(-1) ?? '') === id,
          ),
        ].sort((a, b) => a.id - b.id);
      };
      return {
        evidence: (transcript) => [
          ...check.evidence(transcript).filter(({ properties }) => properties === undefined),
          ...evidenceIn(transcript),
        ],
        judge: (evidence, transcript) => [
          ...check.judge(
            evidence.filter(({ properties }) => properties === undefined),
            transcript,
          ),
          ...findSmallestRefused(generatedIn(evidence, transcript), lookup).map((exchange) =>
            refusalFinding(exchange, transcript.exchanges, lookup),
          ),
        ],
        unjudged: (transcript) => check.unjudged(transcript),
      };
    },
  };
}

/** Returns the refused requests whose refusal no smaller one explains. */
function findSmallestRefused(generated: readonly Generated[], lookup: PropertyLookup): Generated[] {
  const coversAll = (small: Generated, large: Generated): boolean =>
    small.properties.every((cause) =>
      large.properties.some((name) => explains(lookup, cause, name)),
    );
  const answered = new Set(generated.filter(isAnswered).map(propertyText));
  const refused = generated.filter(
    (exchange) => !isAnswered(exchange) && !answered.has(propertyText(exchange)),
  );
  const smallest = refused.filter(
    (exchange) =>
      !refused.some(
        (other) =>
          coversAll(other, exchange) && (!coversAll(exchange, other) || other.id < exchange.id),
      ),
  );
  // If a single property is refused, requests with several may be refused because of similar ones.
  const single = smallest.filter(({ properties }) => properties.length === 1);
  return single.length > 0 ? single : smallest;
}

const propertyText = ({ properties }: Generated): string => [...properties].sort().join('\n');

/** Describes a refusal, and names an accepted request that differs only in what is refused. */
function refusalFinding(
  exchange: Generated,
  all: readonly Exchange[],
  lookup: PropertyLookup,
): Finding {
  const response = isAccepted(exchange) ? 'a JSON object' : 'a 2xx response';
  const expected = `${response} for a request with ${formatList(exchange.properties)}`;
  const finding = isAccepted(exchange)
    ? { ...notObjectFinding(exchange), expected }
    : outcomeFinding(exchange, expected);
  const answered = all.filter((one) => one.endpoint === exchange.endpoint && isAnswered(one));
  const plain = answered.find(({ properties }) => properties?.length === 0);
  const [largest] = answered
    .filter((one) => isSmallerForm(one, exchange, lookup))
    .sort((a, b) => sizeIn(b, lookup) - sizeIn(a, lookup));
  if (largest?.properties) {
    const hint = `A request with ${formatList(largest.properties)} was accepted (exchange ${largest.id}).`;
    return { hint, ...finding };
  }
  const it = exchange.properties.length === 1 ? 'it' : 'them';
  const hint = `The same request without ${it} was accepted (exchange ${plain?.id}).`;
  return { ...(plain && { hint }), ...finding };
}

/** Returns whether a request has only the property of another one, in a smaller size. */
function isSmallerForm(
  { properties: [name = '', ...others] = [] }: Exchange,
  { properties: [refused = '', ...more] }: Generated,
  lookup: PropertyLookup,
): boolean {
  const found = lookup(name);
  const isSame = found !== undefined && found.property === lookup(refused)?.property;
  return isSame && name !== refused && others.length + more.length === 0;
}

const sizeIn = ({ properties: [name = ''] = [] }: Exchange, lookup: PropertyLookup): number =>
  lookup(name)?.size ?? 0;
