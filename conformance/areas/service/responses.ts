/** Rules for all responses of all endpoints. */
import {
  checkEach,
  explainNoValidResponse,
  outcomeFinding,
  unjudgedAs,
  type Check,
} from '../../engine/checks/check.ts';
import { isServiceEndpoint } from '../../engine/checks/route-names.ts';
import {
  always,
  changeResponse,
  dropInstead,
  editBody,
  isError,
  jsonResponse,
  replaceParts,
  respondInstead,
  set,
  to,
} from '../../engine/mutants/combinators.ts';
import type { Subject } from '../../engine/requirement.ts';
import {
  isAccepted,
  isRateLimited,
  toPrintable,
  type Exchange,
} from '../../engine/transcript/reading.ts';
import { isObject } from '../../../src/platform/json.ts';
import { isResultsEndpoint } from './results-api.ts';
import { NO_SLASH_PATH } from './results/evidence.ts';
import { isBusyResponse } from './traces/bursts.ts';
import {
  contains,
  isPlainJson,
  isWellFormed,
  refuseTraces,
  traces,
} from './traces/trace-requests.ts';
import { isSpecified } from './transforms.ts';

export const responses: Subject = {
  requirements: {
    'SERVICE-010': {
      rule: 'Every valid request gets a complete response without a 5xx status.',
      statements: ['4.1.9', '4.2.5', '4.3.17', '4.4.19'],
      reason:
        "Without such a response, the client can't tell whether its conversation was stored, closed, or scored.",
      check: checkServerErrors('valid', 'No valid request was answered.'),
    },
    'SERVICE-187': {
      level: 'should',
      rule: 'The content type of results is JSON.',
      section: '4.4',
      statements: ['4.3.17', '4.4.12', '4.4.19'],
      reason: 'Many HTTP clients parse a body only if its content type is JSON.',
      probes: ['service/production', 'service/simulations'],
      check: hasJsonType(),
      mutants: {
        'results-as-html': {
          description: 'Sends results as text/html.',
          transform: changeResponse(to('production'), (response) => ({
            ...response,
            headers: { ...response.headers, 'content-type': 'text/html' },
          })),
        },
      },
    },
    'SERVICE-011': {
      level: 'should',
      rule: 'Malformed and unusual requests get a complete response without a 5xx status.',
      statements: ['4.1.9'],
      reason: 'Exporters retry a 5xx response, so one malformed batch is sent again and again.',
      observability: 'provoked',
      probes: ['service/silences'],
      check: checkServerErrors('open', 'No malformed or unusual request was answered.'),
      mutants: {
        'odd-500': refuseTraces(
          'Returns 500 for a body that is not JSON.',
          (request) => isPlainJson(request) && !isWellFormed(request),
          500,
        ),
        'odd-dropped': {
          description: 'Drops the connection when messages are structured values.',
          transform: dropInstead(traces(contains('"gen_ai.input.messages","value":{"arrayValue"'))),
        },
      },
      legal: {
        'odd-taken': {
          description: 'Accepts invalid query parameters.',
          transform: changeResponse(to('production'), (response) =>
            response.status === 400
              ? jsonResponse(200, { items: [], total: 0, skip: 0, limit: 50 })
              : response,
          ),
        },
        'no-slash-404': {
          description: 'Does not know the results path without the trailing slash.',
          transform: respondInstead(
            ({ path }) => path === NO_SLASH_PATH,
            () => jsonResponse(404, {}),
          ),
        },
      },
    },
  },
  legal: {
    'error-bodies': {
      description: 'Returns other bodies for all errors except 400.',
      transform: changeResponse(isSpecified, (response) =>
        isError(response) && response.status !== 400 ? { ...response, body: 'no' } : response,
      ),
    },
    'error-fields': {
      description: 'Adds unspecified fields to errors.',
      transform: changeResponse(isSpecified, (response, request) =>
        isError(response) ? editBody(response, request, set('/code', 7)) : response,
      ),
    },
    'extra-fields': {
      description: 'Adds unspecified fields to responses.',
      transform: changeResponse(
        (request) => isSpecified(request) && request.endpoint !== 'traces',
        (response, request) => editBody(response, request, set('/request_id', 'r-1')),
      ),
    },
    chunked: {
      description: 'Sends chunked bodies.',
      transform: replaceParts(always, { framing: 'chunked' }),
    },
  },
};

/** Requires `application/json`, or another type of JSON, for results that are a JSON object. */
function hasJsonType(): Check {
  return checkEach(
    (exchange) =>
      isResultsEndpoint(exchange.endpoint) &&
      exchange.intent === 'valid' &&
      isAccepted(exchange) &&
      isObject(exchange.json),
    ({ id, response }) => {
      const type = response?.headers['content-type'];
      if (type !== undefined && /^(application|text)\/([\w.-]+\+)?json\b/i.test(type)) return [];
      const received = type === undefined ? 'no Content-Type' : toPrintable(type, 60);
      const expected = 'Content-Type: application/json';
      return [{ exchange: id, pointer: '', expected, received }];
    },
    explainNoValidResponse('production'),
  );
}

/**
 * Requires a complete response without a 5xx status to every request with an intent, except where a
 * burst of requests makes the service busy.
 */
function checkServerErrors(intent: Exchange['intent'], reason: string): Check {
  return checkEach(
    (exchange, transcript) =>
      isServiceEndpoint(exchange.endpoint) &&
      exchange.intent === intent &&
      !isRateLimited(exchange) &&
      !isBusyResponse(exchange, transcript),
    (exchange) =>
      exchange.failure || (exchange.response?.status ?? 0) >= 500
        ? [outcomeFinding(exchange, 'a complete response that is not a server error')]
        : [],
    unjudgedAs('blocked', reason),
  );
}
