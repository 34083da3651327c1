/** Requests that a sandbox must refuse, each one edit away from a valid one (spec 7). */
import type { Endpoint } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import { explainNoValidResponse } from '../engine/checks/check.ts';
import type { RefusalHint } from '../engine/checks/refusal-hints.ts';
import { checkRefused } from '../engine/checks/responses.ts';
import {
  dropInstead,
  isError,
  replaceParts,
  to,
  type When,
} from '../engine/mutants/combinators.ts';
import { acceptInstead, refuseInstead, type SandboxEndpoint } from './sandbox-responses.ts';
import { isNotJsonObject } from '../engine/mutants/requests.ts';
import type { RequestEdit } from '../engine/request-edit.ts';
import {
  withDefaults,
  type MutantEntry,
  type PartialEntry,
  type RequirementDefaults,
  type RequirementId,
  type Subject,
} from '../engine/requirement.ts';

/** The common properties of the refusals of an endpoint. */
interface RefusalDefaults<Id> extends RequirementDefaults {
  endpoint: SandboxEndpoint;
  /** The requirement that a body is a JSON object. */
  notAnObject: Id;
  /** Selects the requests whose refusals the mutants change (default: the malformed ones). */
  isRefused?: When;
}

/** A requirement that some malformed requests get a 400 response. */
interface RefusalEntry extends Omit<PartialEntry, 'check'> {
  /** Advice about a request that is not refused. */
  hint: RefusalHint;
  /** The edits by step. The name of a step also describes the request in findings and mutants. */
  edits: Readonly<Record<string, RequestEdit>>;
}

/** The requirements about malformed requests, and what their probe sends. */
export interface Refusals extends Subject {
  /** Every edit by step. */
  edits: Readonly<Record<string, RequestEdit>>;
  /** Recognizes a malformed request. */
  isMalformed: When;
}

/**
 * Derives everything about malformed requests from their edits: the checks, and the mutants that
 * accept a request, or refuse it with another status.
 */
export function defineRefusals<Id extends RequirementId>(
  { endpoint, notAnObject, isRefused, ...defaults }: RefusalDefaults<NoInfer<Id>>,
  entries: Readonly<Record<Id, RefusalEntry>>,
): Refusals {
  const all = Object.entries(entries) as [Id, RefusalEntry][];
  const edits = Object.fromEntries(all.flatMap(([, entry]) => Object.entries(entry.edits)));
  const isMalformed: When = (request) => Object.values(edits).some(({ isIn }) => isIn(request));
  const requirements = all.map(([id, { hint, edits: own, mutants, ...entry }]) => {
    const steps = Object.keys(own);
    const hints = Object.fromEntries(steps.map((step) => [step, own[step]?.hint ?? hint]));
    const check = checkRefused(endpoint, steps, 400, explainNoValidResponse(endpoint), hints);
    return [
      id,
      { ...entry, check, mutants: { ...acceptEach(endpoint, own), ...mutants } },
    ] as const;
  });
  const ids = all.map(([id]) => id);
  return {
    requirements: withDefaults(
      { section: '7', observability: 'provoked', ...defaults },
      Object.fromEntries(requirements) as Record<Id, PartialEntry>,
    ),
    mutants: refuseWithOtherStatus(endpoint, isRefused ?? isMalformed, ids, notAnObject),
    edits,
    isMalformed,
  };
}

/** Creates a mutant for each edit, which accepts the request. */
function acceptEach(
  endpoint: SandboxEndpoint,
  edits: RefusalEntry['edits'],
): Record<string, MutantEntry> {
  const toMutant = ([step, { isIn, name }]: [string, RequestEdit]) => {
    const description = `Accepts a malformed request: ${step}.`;
    const key = `accepts-${name ?? step.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
    return [key, { description, transform: acceptInstead(to(endpoint, isIn)) }] as const;
  };
  return Object.fromEntries(Object.entries(edits).map(toMutant));
}

/** Creates the mutants that refuse malformed requests with a wrong status. */
function refuseWithOtherStatus(
  endpoint: Endpoint,
  isRefused: When,
  ids: readonly RequirementId[],
  notAnObject: RequirementId,
): NonNullable<Subject['mutants']> {
  const hasNoObject = to(endpoint, isNotJsonObject);
  const send422 = (when: When): MutantEntry['transform'] =>
    replaceParts(to(endpoint, when), { status: 422 }, ({ status }) => status === 400);
  return {
    'validation-422': {
      description: 'Refuses malformed JSON objects with 422.',
      kills: ids.filter((id) => id !== notAnObject),
      transform: send422((request) => isObject(request.json) && isRefused(request)),
    },
    'everything-422': {
      description: 'Refuses every malformed request with 422.',
      kills: ids,
      transform: send422(isRefused),
    },
    'no-object-415': {
      description: 'Refuses a body that is not a JSON object with 415.',
      kills: [notAnObject],
      transform: replaceParts(hasNoObject, { status: 415 }, isError),
    },
    'no-object-500': {
      description: 'Responds with 500 to a body that is not a JSON object.',
      kills: [notAnObject],
      transform: refuseInstead(hasNoObject, 500, 'server_error'),
    },
    'no-object-dropped': {
      description: 'Drops the connection if the body is not a JSON object.',
      kills: [notAnObject],
      transform: dropInstead(hasNoObject),
    },
  };
}
