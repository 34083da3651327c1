import type { Area, Endpoint } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import {
  acceptInstead,
  combineEdits,
  drop,
  dropInstead,
  editErrors,
  errorResponse,
  isError,
  jsonResponse,
  refuseInstead,
  replaceParts,
  respondInstead,
  respondOnce,
  set,
  to,
  type Edit,
  type SandboxEndpoint,
  type When,
} from '../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type ProxyResponse,
  type ProxyResult,
  type TransformFactory,
} from '../engine/mutants/mutant.ts';
import { isNotJsonObject, where, type MalformedRequest } from '../engine/mutants/requests.ts';
import type { RequirementId } from '../engine/requirement.ts';

/** The requests of an endpoint that a sandbox must refuse, and the requirements about refusals. */
interface RefusedRequests<Step extends string> {
  area: Area;
  endpoint: SandboxEndpoint;
  /** How to recognize each malformed request, by step. */
  malformed: Readonly<Record<Step, MalformedRequest>>;
  /** The requirement that each step must get a 400 response. */
  requirements: Readonly<Record<Step, RequirementId>>;
  /** Selects the requests whose refusals are changed. */
  isRefused: When;
  errorObject: RequirementId;
  errorStrings: RequirementId;
  badRequest: RequirementId;
  rateLimit: RequirementId;
  serverError: RequirementId;
}

/** An HTML error page, as web frameworks send it. */
export const HTML_ERROR = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><title>Error</title><pre>SyntaxError: Unexpected end of JSON input</pre>',
};

/** Responds to the first request of an endpoint with 429 and this body. */
export function rateLimitOnce(endpoint: Endpoint, body: unknown): TransformFactory {
  return respondOnce(to(endpoint), () => jsonResponse(429, body, { 'retry-after': '0' }));
}

/**
 * Responds in place of the sandbox if `metadata` is not an object. The specification defines no
 * response to that, so a 500 is legal and only its body can be wrong.
 */
export function failOnOddMetadata(
  endpoint: Endpoint,
  respond: () => ProxyResponse,
): TransformFactory {
  const isOdd = where('metadata', (metadata) => !isObject(metadata));
  return respondInstead(to(endpoint, isOdd), respond);
}

/** Responds in place of the sandbox after an endpoint received a body that was not JSON. */
export function breakAfterMalformedJson(
  endpoint: Endpoint,
  when: When,
  respond: () => ProxyResponse,
): TransformFactory {
  return () => {
    let isBroken = false;
    return async (request, forward) => {
      if (request.endpoint === endpoint && request.json === undefined) isBroken = true;
      return isBroken && when(request) ? respond() : forward(request);
    };
  };
}

/** Fails at every seventh request to an endpoint. */
export function failEverySeventh(endpoint: Endpoint, how?: 'dropped'): TransformFactory {
  return () => {
    let requests = 0;
    return async (request, forward): Promise<ProxyResult> => {
      if (request.endpoint !== endpoint || ++requests % 7 !== 0) return forward(request);
      return how ?? errorResponse(500, 'server_error');
    };
  };
}

/** Returns a function that creates mutants of an endpoint that refuse some valid requests. */
export function createFalseRefusals(area: Area, endpoint: Endpoint) {
  const mutant = createMutantFactory(area);
  return (
    name: string,
    requests: string,
    kills: readonly RequirementId[],
    when: When,
    more: Partial<Mutant> = {},
  ): Mutant =>
    mutant(
      `refuses-${name}`,
      `Refuses ${requests}.`,
      kills,
      refuseInstead(to(endpoint, when)),
      more,
    );
}

/** Creates the mutants that accept malformed requests, or refuse them in a wrong way. */
export function createRefusalMutants<Step extends string>(
  requests: RefusedRequests<Step | 'body not JSON'>,
): Mutant[] {
  const { area, endpoint, malformed, requirements, isRefused } = requests;
  const mutant = createMutantFactory(area);
  const steps = Object.keys(malformed) as Step[];
  const noObject = requirements['body not JSON'];
  const all = [...new Set(steps.map((step) => requirements[step]))];
  const is400 = ({ status }: ProxyResponse): boolean => status === 400;
  const hasNoObject = to(endpoint, isNotJsonObject);
  const sends422 = (when: When): TransformFactory =>
    replaceParts(to(endpoint, when), { status: 422 }, is400);
  return [
    ...steps.map((step) =>
      mutant(
        `accepts-${malformed[step].name}`,
        `Accepts a malformed request: ${step}.`,
        requirements[step],
        acceptInstead(to(endpoint, malformed[step].when)),
      ),
    ),
    mutant(
      'validation-422',
      'Refuses malformed JSON objects with 422.',
      all.filter((id) => id !== noObject),
      sends422((request) => isObject(request.json) && isRefused(request)),
    ),
    mutant('everything-422', 'Refuses every malformed request with 422.', all, sends422(isRefused)),
    mutant(
      'no-object-415',
      'Refuses a body that is not a JSON object with 415.',
      noObject,
      replaceParts(hasNoObject, { status: 415 }, isError),
    ),
    mutant(
      'no-object-500',
      'Responds with 500 to a body that is not a JSON object.',
      noObject,
      refuseInstead(hasNoObject, 500, 'server_error'),
    ),
    mutant(
      'no-object-dropped',
      'Drops the connection if the body is not a JSON object.',
      noObject,
      dropInstead(hasNoObject),
    ),
    ...createErrorMutants(requests),
  ];
}

/** Creates the mutants whose error responses have a wrong body. */
function createErrorMutants(requests: Omit<RefusedRequests<never>, 'malformed' | 'requirements'>) {
  const { area, endpoint, isRefused, errorObject, errorStrings, badRequest } = requests;
  const mutant = createMutantFactory(area);
  const refusals = to(endpoint, isRefused);
  const edits = (name: string, description: string, kills: RequirementId, edit: Edit): Mutant =>
    mutant(name, description, kills, editErrors(refusals, edit));
  const ownError = { message: 'No.', type: 'internal_error', code: 'unexpected' };
  const ownLimit = { message: 'Wait.', type: 'rate_limit_error', code: 'slow' };
  return [
    mutant(
      'error-html',
      'Responds to malformed JSON with the HTML error page of a framework.',
      errorObject,
      replaceParts(to(endpoint, isNotJsonObject), HTML_ERROR, isError),
    ),
    mutant(
      'error-empty',
      'Sends errors without a body.',
      errorObject,
      replaceParts(refusals, { body: '' }, isError),
    ),
    edits(
      'error-missing',
      'Omits `error`.',
      errorObject,
      combineEdits(set('/detail', 'no'), drop('/error')),
    ),
    edits(
      'error-a-string',
      'Sends `error` as a string.',
      errorObject,
      set('/error', 'bad_request'),
    ),
    edits('error-no-message', 'Omits `error.message`.', errorStrings, drop('/error/message')),
    edits('error-no-type', 'Omits `error.type`.', errorStrings, drop('/error/type')),
    edits(
      'error-code-a-number',
      'Sends the HTTP status as `error.code`.',
      errorStrings,
      set('/error/code', 400),
    ),
    edits(
      'error-code-of-its-own',
      'Refuses with its own error code.',
      badRequest,
      set('/error/code', 'missing_required_parameter'),
    ),
    edits(
      'error-type-of-its-own',
      'Refuses with its own error type.',
      badRequest,
      set('/error/type', 'validation_error'),
    ),
    mutant(
      'rate-limit-code',
      'Sends a 429 with its own error code.',
      requests.rateLimit,
      rateLimitOnce(endpoint, { error: ownLimit }),
    ),
    mutant(
      'failure-code',
      'Sends a 500 with its own error code.',
      requests.serverError,
      failOnOddMetadata(endpoint, () => jsonResponse(500, { error: ownError })),
    ),
  ];
}
