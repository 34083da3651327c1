/** The bodies of error responses about users (spec 7). */
import { type Check, unjudgedAs } from '../../engine/checks/check.ts';
import {
  checkErrorCode,
  checkErrorShape,
  checkErrorStrings,
  isErrorResponse,
  requireControlAccepted,
} from '../../engine/checks/responses.ts';
import { errorResponse, jsonResponse } from '../../engine/mutants/combinators.ts';
import { type MutantEntry, type Subject, withDefaults } from '../../engine/requirement.ts';
import { type Exchange, isRateLimited } from '../../engine/transcript/reading.ts';
import { createErrorMutants, failOnOddMetadata, rateLimitOnce } from '../error-mutants.ts';
import { unlessAbsent } from './absence.ts';
import { onDuplicate } from './known-users.ts';
import { malformed } from './refusals.ts';
import { isAboutUsers, isCreateStep } from './requests.ts';

const REASON = 'The service tells errors apart by these fields; without them it can only give up.';

const isRefusedDuplicate = (exchange: Exchange): boolean =>
  isCreateStep('duplicate')(exchange) &&
  (exchange.response?.status ?? 0) >= 400 &&
  !isRateLimited(exchange);
const isError = (exchange: Exchange): boolean =>
  isAboutUsers(exchange) && (isErrorResponse(exchange) || isRefusedDuplicate(exchange));
const isErrorWith =
  (status: number) =>
  (exchange: Exchange): boolean =>
    isAboutUsers(exchange) &&
    isErrorResponse(exchange) &&
    exchange.response?.status === status &&
    !isRefusedDuplicate(exchange);

const noErrorResponse = unjudgedAs('not_observed', 'No request about users got an error response.');
const noResponseWith = (status: number): Check['unjudged'] =>
  unjudgedAs('not_observed', `No request about users got a ${status} response.`);

const wrong = createErrorMutants('create', malformed.isMalformed);
const duplicate = (description: string, body: unknown): MutantEntry => ({
  description,
  transform: onDuplicate(() => jsonResponse(409, body)),
});

const defaults = { section: '7', observability: 'provoked', reason: REASON } as const;

const ofRefusals = withDefaults(
  {
    ...defaults,
    probes: ['users/refusals'],
    wrapCheck: (check) => unlessAbsent('create', check),
  },
  {
    'USERS-070': {
      rule: 'The body of a 400, 429, or 500 response, or of a refused duplicate, is JSON with an `error` object.',
      statements: ['7.b1'],
      check: checkErrorShape(isError, noErrorResponse),
      mutants: {
        ...wrong.shape,
        'duplicate-no-error': {
          ...duplicate('Refuses duplicates without `error`.', { detail: 'exists' }),
          alsoKills: ['USERS-075'],
        },
      },
    },
    'USERS-071': {
      rule: '`error.message`, `error.type`, and `error.code` are strings.',
      statements: ['7.b1', '7.b2'],
      check: checkErrorStrings(isError, noErrorResponse),
      mutants: {
        ...wrong.strings,
        'duplicate-no-type': {
          ...duplicate('Refuses duplicates without `error.type`.', {
            error: { message: 'It exists.', code: 'user_exists' },
          }),
          alsoKills: ['USERS-075'],
        },
      },
    },
    'USERS-072': {
      rule: 'A 400 response has the type `invalid_request_error` and the code `bad_request`.',
      statements: ['4.7.7', '7.b3', '7.b5'],
      check: checkErrorCode('bad_request', isErrorWith(400), noResponseWith(400)),
      mutants: wrong.badRequest,
    },
    'USERS-075': {
      rule: 'A refused duplicate has the type `duplicate_user_error` and the code `user_exists`.',
      statements: ['4.7.6', '7.b8'],
      reason:
        'The service can choose another id instead of giving up only if it can tell that the user exists.',
      check: requireControlAccepted(
        checkErrorCode(
          'user_exists',
          isRefusedDuplicate,
          unjudgedAs('blocked', 'The sandbox did not refuse the duplicate.'),
          { withoutErrorObject: 'judge' },
        ),
      ),
      mutants: {
        'duplicate-code': duplicate('Refuses duplicates with its own error code.', {
          error: { message: 'It exists.', type: 'duplicate_user_error', code: 'conflict' },
        }),
        'duplicate-type': duplicate('Refuses duplicates with its own error type.', {
          error: { message: 'It exists.', type: 'invalid_request_error', code: 'user_exists' },
        }),
        'duplicate-bad-request': {
          description: 'Refuses duplicates with the error of a bad request.',
          transform: onDuplicate(() => errorResponse(400, 'bad_request')),
        },
      },
    },
  },
);

/** Any request may get these errors, also a deletion. */
const ofAnyRequest = withDefaults(defaults, {
  'USERS-073': {
    rule: 'A 429 response has the type `rate_limit_error` and the code `rate_limit_exceeded`.',
    statements: ['7.b6'],
    reason: 'The service waits and retries only if it can tell that the rate limit is the cause.',
    check: checkErrorCode('rate_limit_exceeded', isErrorWith(429), noResponseWith(429)),
    mutants: {
      ...wrong.rateLimit,
      'delete-rate-limit-type': {
        description: 'Sends a 429 to a deletion with its own error type.',
        transform: rateLimitOnce('delete', {
          error: { message: 'Wait.', type: 'tokens', code: 'rate_limit_exceeded' },
        }),
      },
    },
  },
  'USERS-074': {
    rule: 'A 500 response has the type `internal_error` and the code `server_error`.',
    statements: ['7.b7'],
    check: checkErrorCode('server_error', isErrorWith(500), noResponseWith(500)),
    mutants: {
      ...wrong.serverError,
      'failure-type': {
        description: 'Sends a 500 with its own error type.',
        transform: failOnOddMetadata('create', () =>
          jsonResponse(500, {
            error: { message: 'No.', type: 'server_error', code: 'server_error' },
          }),
        ),
      },
    },
  },
});

export const errors: Subject = { requirements: { ...ofRefusals, ...ofAnyRequest } };
