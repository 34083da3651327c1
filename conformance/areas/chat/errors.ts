/** The bodies of error responses to chat requests (spec 7). */
import { type Check, unjudgedAs } from '../../engine/checks/check.ts';
import {
  checkErrorCode,
  checkErrorShape,
  checkErrorStrings,
  isErrorResponse,
} from '../../engine/checks/responses.ts';
import {
  always,
  drop,
  type Edit,
  editErrors,
  errorResponse,
  set,
  to,
} from '../../engine/mutants/combinators.ts';
import { type DistortionEntry, type Subject, withDefaults } from '../../engine/requirement.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';
import {
  createErrorMutants,
  failOnOddMetadata,
  HTML_ERROR,
  rateLimitOnce,
} from '../error-mutants.ts';

const isError = (exchange: Exchange): boolean =>
  exchange.endpoint === 'chat' && isErrorResponse(exchange);
const isErrorWith =
  (status: number) =>
  (exchange: Exchange): boolean =>
    isError(exchange) && exchange.response?.status === status;

const noErrorResponse = unjudgedAs('not_observed', 'No chat request got an error response.');
const noResponseWith = (status: number): Check['unjudged'] =>
  unjudgedAs('not_observed', `No chat request got a ${status} response.`);

const wrong = createErrorMutants('chat', always);
const refusals = (description: string, ...edits: Edit[]): DistortionEntry => ({
  description,
  transform: editErrors(to('chat'), ...edits),
});

const probes = ['chat/refusals'];

export const errors: Subject = {
  requirements: withDefaults(
    {
      section: '7',
      observability: 'provoked',
      reason: 'The service tells errors apart by these fields; without them it can only give up.',
    },
    {
      'CHAT-070': {
        rule: 'The body of a 400, 429, or 500 response is JSON with an `error` object.',
        statements: ['4.5.6', '7.b1'],
        probes,
        check: checkErrorShape(isError, noErrorResponse),
        mutants: {
          ...wrong.shape,
          'rate-limit-no-error': {
            description: 'Sends a 429 without `error`.',
            transform: rateLimitOnce('chat', { message: 'Too many requests' }),
          },
          'failure-html': {
            description: 'Sends a 500 with an HTML error page.',
            transform: failOnOddMetadata('chat', () => ({ status: 500, ...HTML_ERROR })),
          },
        },
      },
      'CHAT-071': {
        rule: '`error.message`, `error.type`, and `error.code` are strings.',
        statements: ['7.b1', '7.b2'],
        probes,
        check: checkErrorStrings(isError, noErrorResponse),
        mutants: {
          ...wrong.strings,
          'error-no-code': refusals('Omits `error.code`.', drop('/error/code')),
          'error-code-null': refusals('Sends `error.code` as null.', set('/error/code', null)),
          'error-message-a-list': refusals(
            'Sends `error.message` as an array.',
            set('/error/message', ['messages is missing']),
          ),
        },
      },
      'CHAT-072': {
        rule: 'A 400 response has the type `invalid_request_error` and the code `bad_request`.',
        statements: ['4.5.6', '7.b3', '7.b4'],
        probes,
        check: checkErrorCode('bad_request', isErrorWith(400), noResponseWith(400)),
        mutants: wrong.badRequest,
      },
      'CHAT-073': {
        rule: 'A 429 response has the type `rate_limit_error` and the code `rate_limit_exceeded`.',
        statements: ['4.5.6', '7.b6'],
        reason:
          'The service waits and retries only if it can tell that the rate limit is the cause.',
        check: checkErrorCode('rate_limit_exceeded', isErrorWith(429), noResponseWith(429)),
        mutants: {
          ...wrong.rateLimit,
          'rate-limit-type': {
            description: 'Sends a 429 with its own error type.',
            transform: rateLimitOnce('chat', {
              error: { message: 'Wait.', type: 'tokens', code: 'rate_limit_exceeded' },
            }),
          },
        },
      },
      'CHAT-074': {
        rule: 'A 500 response has the type `internal_error` and the code `server_error`.',
        statements: ['4.5.6', '7.b7'],
        check: checkErrorCode('server_error', isErrorWith(500), noResponseWith(500)),
        mutants: {
          ...wrong.serverError,
          'failure-type': {
            description: 'Sends a 500 with the error type of a bad request.',
            transform: failOnOddMetadata('chat', () => ({
              ...errorResponse(400, 'bad_request'),
              status: 500,
            })),
          },
        },
      },
    },
  ),
  legal: {
    'error-extra-fields': refusals(
      'Adds unknown fields to its errors.',
      set('/error/param', 'messages'),
      set('/request_id', 'r-1'),
    ),
  },
};
