import type { Endpoint, SandboxErrorCode } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import type { Repair } from '../engine/checks/check.ts';
import { routeNames } from '../engine/checks/route-names.ts';
import { isAccepted, isRateLimited, type Exchange } from '../engine/transcript/reading.ts';
import {
  acceptedBody,
  isDuplicate,
  respond,
  respondWithError,
} from './diagnoses/conforming-response.ts';

/** Validates the requests of some routes before anything else is done with them. */
function validateInput(endpoints: readonly Endpoint[], routes: string): Repair {
  return {
    description: `${routes}: validate the body first, and refuse an invalid one with 400, the type invalid_request_error, and the code bad_request`,
    apply: (exchange) =>
      endpoints.includes(exchange.endpoint) &&
      exchange.intent === 'refuse' &&
      !isDuplicate(exchange) &&
      !isRateLimited(exchange)
        ? { response: respondWithError(400, 'bad_request') }
        : undefined,
  };
}

/** Returns the code of the error table for an error response; undefined if the table has none. */
function errorCodeOf(exchange: Exchange): SandboxErrorCode | undefined {
  const status = exchange.response?.status ?? 0;
  if (isDuplicate(exchange) && status >= 400) return 'user_exists';
  switch (status) {
    case 400:
      return 'bad_request';
    case 429:
      return 'rate_limit_exceeded';
    case 500:
      return exchange.endpoint === 'health' ? 'health_check_failed' : 'server_error';
    default:
      return undefined;
  }
}

/** Sends every error response of some routes in the shape of the error table (spec 7). */
function handleErrors(endpoints: readonly Endpoint[], routes: string): Repair {
  return {
    description: `${routes}: one error handler that sends {"error": {"message", "type", "code"}} with the type and code of the status`,
    apply(exchange) {
      const code = endpoints.includes(exchange.endpoint) ? errorCodeOf(exchange) : undefined;
      return code === undefined
        ? undefined
        : { response: respondWithError(exchange.response?.status ?? 0, code) };
    },
  };
}

/** Accepts the valid requests of a route. */
function acceptValid(endpoint: 'chat' | 'create'): Repair {
  return {
    description: `${routeNames[endpoint]}: respond to every valid request with a 2xx status and a JSON object`,
    apply: (exchange) =>
      exchange.endpoint === endpoint &&
      exchange.intent === 'valid' &&
      !isRateLimited(exchange) &&
      !(isAccepted(exchange) && isObject(exchange.json))
        ? { response: respond(200, acceptedBody(exchange)) }
        : undefined,
  };
}

/** Changes to a sandbox that may clear many failures. A narrower one comes first. */
export const sandboxRepairs: readonly Repair[] = [
  handleErrors(['chat'], routeNames.chat),
  handleErrors(['create', 'delete'], 'The /users routes'),
  handleErrors(['chat', 'create', 'delete', 'health'], 'All routes'),
  validateInput(['chat'], routeNames.chat),
  validateInput(['create'], routeNames.create),
  validateInput(['chat', 'create'], `${routeNames.chat} and ${routeNames.create}`),
  acceptValid('chat'),
  acceptValid('create'),
];
