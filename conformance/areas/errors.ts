/** The bodies of the error responses of an endpoint (spec 7). */
import type { Endpoint } from '../../src/contract/index.ts';
import { type Check, unjudgedAs } from '../engine/checks/check.ts';
import {
  checkErrorCode,
  checkErrorShape,
  checkErrorStrings,
  isErrorResponse,
} from '../engine/checks/responses.ts';
import type { When } from '../engine/mutants/combinators.ts';
import type { PartialEntry, RequirementEntry } from '../engine/requirement.ts';
import type { Exchange } from '../engine/transcript/reading.ts';
import { createErrorMutants } from './error-mutants.ts';

/** Why the fields of an error matter. */
export const ERROR_REASON =
  'The service tells errors apart by these fields; without them it can only give up.';

/** Which error responses are judged, and which ones the mutants change. */
interface ErrorDefaults {
  /** The endpoint whose errors the mutants change. */
  endpoint: Endpoint;
  /** Selects the requests whose refusals the mutants change. */
  isRefused: When;
  /** Selects the exchanges that are judged. */
  isJudged: (exchange: Exchange) => boolean;
  /** Selects errors whose code another requirement checks. */
  hasOwnCode?: (exchange: Exchange) => boolean;
  /** Completes "No … got an error response." */
  requests: string;
}

/** A requirement about error responses, except what those of every endpoint have in common. */
type ErrorEntry = Omit<PartialEntry, 'rule' | 'check'> & { rule?: string };

/** Returns functions that write the requirements about error responses. */
export function errorsOf({ endpoint, isRefused, isJudged, requests, ...options }: ErrorDefaults) {
  const { hasOwnCode = () => false } = options;
  const isError = (exchange: Exchange): boolean =>
    isJudged(exchange) && (isErrorResponse(exchange) || hasOwnCode(exchange));
  const isErrorWith =
    (status: number) =>
    (exchange: Exchange): boolean =>
      isError(exchange) && exchange.response?.status === status && !hasOwnCode(exchange);
  const noError = unjudgedAs('not_observed', `No ${requests} got an error response.`);
  const noErrorWith = (status: number): Check['unjudged'] =>
    unjudgedAs('not_observed', `No ${requests} got a ${status} response.`);
  const mutants = createErrorMutants(endpoint, isRefused);

  const completeWith =
    (common: Omit<PartialEntry, 'statements'>) =>
    (entry: ErrorEntry): RequirementEntry => ({
      section: '7',
      observability: 'provoked',
      ...common,
      ...entry,
      reason: entry.reason ?? common.reason ?? ERROR_REASON,
      mutants: { ...common.mutants, ...entry.mutants },
    });
  return {
    shape: completeWith({
      rule: 'The body of a 400, 429, or 500 response is JSON with an `error` object.',
      check: checkErrorShape(isError, noError),
      mutants: mutants.shape,
    }),
    strings: completeWith({
      rule: '`error.message`, `error.type`, and `error.code` are strings.',
      check: checkErrorStrings(isError, noError),
      mutants: mutants.strings,
    }),
    badRequest: completeWith({
      rule: 'A 400 response has the type `invalid_request_error` and the code `bad_request`.',
      check: checkErrorCode('bad_request', isErrorWith(400), noErrorWith(400)),
      mutants: mutants.badRequest,
    }),
    rateLimit: completeWith({
      rule: 'A 429 response has the type `rate_limit_error` and the code `rate_limit_exceeded`.',
      reason: 'The service waits and retries only if it can tell that the rate limit is the cause.',
      check: checkErrorCode('rate_limit_exceeded', isErrorWith(429), noErrorWith(429)),
      mutants: mutants.rateLimit,
    }),
    serverError: completeWith({
      rule: 'A 500 response has the type `internal_error` and the code `server_error`.',
      check: checkErrorCode('server_error', isErrorWith(500), noErrorWith(500)),
      mutants: mutants.serverError,
    }),
  };
}
