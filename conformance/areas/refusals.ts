/** Requests that a sandbox must refuse, each one edit away from a valid one (spec 7). */
import type { Endpoint } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import type { Check } from '../engine/checks/check.ts';
import { malformedBodyHint, type RefusalHint } from '../engine/checks/refusal-hints.ts';
import { checkRefused } from '../engine/checks/responses.ts';
import {
  acceptInstead,
  dropInstead,
  isError,
  refuseInstead,
  replaceParts,
  to,
  type When,
} from '../engine/mutants/combinators.ts';
import { isNotJsonObject } from '../engine/mutants/requests.ts';
import { bodyEdits, type RequestEdit } from '../engine/request-edit.ts';
import type { MutantEntry, RequirementEntry, RequirementId } from '../engine/requirement.ts';

/** What the refusals of an endpoint have in common. */
interface RefusalGroup {
  endpoint: Endpoint;
  /** The probe that sends the requests. */
  probe: string;
  reason: string;
  /** Why a refusal was not judged, if no valid request shows the reason. */
  unjudged: Check['unjudged'];
  /** Adapts the checks to an endpoint that is optional. */
  adapt?: (check: Check) => Check;
  /** Selects the requests whose refusals the mutants change (default: the malformed ones). */
  isRefused?: When;
}

/** A requirement that some malformed requests get a 400 response. */
interface RefusalEntry extends Pick<
  RequirementEntry,
  'rule' | 'statements' | 'section' | 'mutants'
> {
  /** What to do about a request that is not refused. */
  hint: RefusalHint;
  /** The edits by step. The name of a step also describes the request in findings and mutants. */
  edits: Readonly<Record<string, RequestEdit>>;
}

/** The requirements about malformed requests, and what their probe sends. */
export interface Refusals<Id extends RequirementId> {
  requirements: Readonly<Record<Id, RequirementEntry>>;
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
  group: RefusalGroup,
  entries: Readonly<Record<Id, RefusalEntry>>,
): Refusals<Id> {
  const { endpoint, probe, reason, unjudged, adapt = (check) => check } = group;
  const all = Object.entries(entries) as [Id, RefusalEntry][];
  const edits = Object.fromEntries(all.flatMap(([, entry]) => Object.entries(entry.edits)));
  const isMalformed: When = (request) => Object.values(edits).some(({ isIn }) => isIn(request));
  const statusMutants = createStatusMutants(
    endpoint,
    group.isRefused ?? isMalformed,
    all.map(([id]) => id),
    all.filter(([, entry]) => !('body not JSON' in entry.edits)).map(([id]) => id),
  );
  const toEntry = ([id, { hint, edits: own, mutants, ...entry }]: [Id, RefusalEntry]) => {
    const steps = Object.keys(own);
    const hints = Object.fromEntries(steps.map((step) => [step, own[step]?.hint ?? hint]));
    const requirement: RequirementEntry = {
      section: '7',
      observability: 'provoked',
      reason,
      probes: [probe],
      ...entry,
      check: adapt(checkRefused(endpoint, steps, 400, unjudged, hints)),
      mutants: { ...createAcceptingMutants(endpoint, own), ...mutants, ...statusMutants(id) },
    };
    return [id, requirement] as const;
  };
  return {
    requirements: Object.fromEntries(all.map(toEntry)) as Record<Id, RequirementEntry>,
    edits,
    isMalformed,
  };
}

/** The edits and the hint of the requirement that a body is a JSON object. */
export const notAnObject = { hint: malformedBodyHint, edits: bodyEdits };

/** Creates a mutant for each edit, which accepts the request. */
function createAcceptingMutants(
  endpoint: Endpoint,
  edits: RefusalEntry['edits'],
): Record<string, MutantEntry> {
  return Object.fromEntries(
    Object.entries(edits).map(([step, { isIn, name = toName(step) }]) => [
      `accepts-${name}`,
      {
        does: `Accepts a malformed request: ${step}.`,
        transform: acceptInstead(to(endpoint, isIn)),
      },
    ]),
  );
}

const toName = (step: string): string => step.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/**
 * Creates the mutants that refuse with a wrong status. Those that concern several requirements belong
 * to the first one.
 */
function createStatusMutants<Id extends RequirementId>(
  endpoint: Endpoint,
  isRefused: When,
  ids: readonly Id[],
  idsOfObjects: readonly Id[],
): (id: Id) => Record<string, MutantEntry> {
  const isMalformedObject: When = (request) => isObject(request.json) && isRefused(request);
  const hasNoObject = to(endpoint, isNotJsonObject);
  const sends422 = (when: When): MutantEntry['transform'] =>
    replaceParts(to(endpoint, when), { status: 422 }, ({ status }) => status === 400);
  const ofFirst = {
    'validation-422': {
      does: 'Refuses malformed JSON objects with 422.',
      transform: sends422(isMalformedObject),
      alsoKills: idsOfObjects.slice(1),
    },
    'everything-422': {
      does: 'Refuses every malformed request with 422.',
      transform: sends422(isRefused),
      alsoKills: ids.slice(1),
    },
  };
  const ofBodies = {
    'no-object-415': {
      does: 'Refuses a body that is not a JSON object with 415.',
      transform: replaceParts(hasNoObject, { status: 415 }, isError),
    },
    'no-object-500': {
      does: 'Responds with 500 to a body that is not a JSON object.',
      transform: refuseInstead(hasNoObject, 500, 'server_error'),
    },
    'no-object-dropped': {
      does: 'Drops the connection if the body is not a JSON object.',
      transform: dropInstead(hasNoObject),
    },
  };
  return (id) => ({
    ...(id === ids[0] && ofFirst),
    ...(!idsOfObjects.includes(id) && ofBodies),
  });
}
