/** Sandboxes whose error responses have a wrong body (spec 7). */
import type { Endpoint } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import {
  combineEdits,
  drop,
  editErrors,
  isError,
  jsonResponse,
  replaceParts,
  respondInstead,
  respondOnce,
  set,
  to,
  type Edit,
  type When,
} from '../engine/mutants/combinators.ts';
import type { ProxyResponse, TransformFactory } from '../engine/mutants/mutant.ts';
import { isNotJsonObject, where } from '../engine/mutants/requests.ts';
import type { MutantEntry } from '../engine/requirement.ts';

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

/** The mutants by the rule that they break; `isRefused` selects the requests that are refused. */
export function createErrorMutants(endpoint: Endpoint, isRefused: When) {
  const refusals = to(endpoint, isRefused);
  const edits = (description: string, edit: Edit): MutantEntry => ({
    description,
    transform: editErrors(refusals, edit),
  });
  return {
    shape: {
      'error-html': {
        description: 'Responds to malformed JSON with the HTML error page of a framework.',
        transform: replaceParts(to(endpoint, isNotJsonObject), HTML_ERROR, isError),
      },
      'error-empty': {
        description: 'Sends errors without a body.',
        transform: replaceParts(refusals, { body: '' }, isError),
      },
      'error-missing': edits('Omits `error`.', combineEdits(set('/detail', 'no'), drop('/error'))),
      'error-a-string': edits('Sends `error` as a string.', set('/error', 'bad_request')),
    },
    strings: {
      'error-no-message': edits('Omits `error.message`.', drop('/error/message')),
      'error-no-type': edits('Omits `error.type`.', drop('/error/type')),
      'error-code-a-number': edits(
        'Sends the HTTP status as `error.code`.',
        set('/error/code', 400),
      ),
    },
    badRequest: {
      'error-code-of-its-own': edits(
        'Refuses with its own error code.',
        set('/error/code', 'missing_required_parameter'),
      ),
      'error-type-of-its-own': edits(
        'Refuses with its own error type.',
        set('/error/type', 'validation_error'),
      ),
    },
    rateLimit: {
      'rate-limit-code': {
        description: 'Sends a 429 with its own error code.',
        transform: rateLimitOnce(endpoint, {
          error: { message: 'Wait.', type: 'rate_limit_error', code: 'slow' },
        }),
      },
    },
    serverError: {
      'failure-code': {
        description: 'Sends a 500 with its own error code.',
        transform: failOnOddMetadata(endpoint, () =>
          jsonResponse(500, {
            error: { message: 'No.', type: 'internal_error', code: 'unexpected' },
          }),
        ),
      },
    },
  } satisfies Readonly<Record<string, Readonly<Record<string, MutantEntry>>>>;
}
