/** The bodies of error responses about users (spec 7). */
import { sandboxErrors } from '../../../src/contract/index.ts';
import { unjudgedAs } from '../../engine/checks/check.ts';
import { checkErrorCode, requireControlAccepted } from '../../engine/checks/responses.ts';
import { jsonResponse } from '../../engine/mutants/combinators.ts';
import { errorResponse } from '../sandbox-responses.ts';
import { type MutantEntry, type Subject, withDefaults } from '../../engine/requirement.ts';
import { type Exchange, isRateLimited } from '../../engine/transcript/reading.ts';
import { failOnOddMetadata, rateLimitOnce } from '../error-mutants.ts';
import { errorsOf } from '../errors.ts';
import { unlessAbsent } from './absence.ts';
import { onDuplicate } from './known-users.ts';
import { malformed } from './refusals.ts';
import { isAboutUsers, isDuplicate, REFUSE_DUPLICATE } from './requests.ts';

const isErrorOfDuplicate = (exchange: Exchange): boolean =>
  isDuplicate(exchange) && (exchange.response?.status ?? 0) >= 400 && !isRateLimited(exchange);

/** Says what to change about the refusal of a duplicate. */
const hintForDuplicate = ({ response }: Exchange): string =>
  response?.status === 409
    ? `Send the type ${sandboxErrors.user_exists.type} and the code user_exists.`
    : `If the user exists, ${REFUSE_DUPLICATE}.`;

const { shape, strings, badRequest, rateLimit, serverError } = errorsOf({
  endpoint: 'create',
  isRefused: malformed.isMalformed,
  isJudged: isAboutUsers,
  hasOwnCode: isErrorOfDuplicate,
  requests: 'request about users',
});

const duplicate = (description: string, body: unknown): MutantEntry => ({
  description,
  transform: onDuplicate(() => jsonResponse(409, body)),
});

const ofRefusals = withDefaults(
  {
    probes: ['users/refusals'],
    wrapCheck: (check) => unlessAbsent('create', check),
  },
  {
    'USERS-070': shape({
      rule: 'The body of a 400, 429, or 500 response, or of a refused duplicate, is JSON with an `error` object.',
      statements: ['7.b1'],
      mutants: {
        'duplicate-no-error': {
          ...duplicate('Refuses duplicates without `error`.', { detail: 'exists' }),
          alsoKills: ['USERS-075'],
        },
      },
    }),
    'USERS-071': strings({
      statements: ['7.b1', '7.b2'],
      mutants: {
        'duplicate-no-type': {
          ...duplicate('Refuses duplicates without `error.type`.', {
            error: { message: 'It exists.', code: 'user_exists' },
          }),
          alsoKills: ['USERS-075'],
        },
      },
    }),
    'USERS-072': badRequest({ statements: ['4.7.7', '7.b3', '7.b5'] }),
    'USERS-075': {
      rule: 'A refused duplicate has the type `duplicate_user_error` and the code `user_exists`.',
      section: '7',
      statements: ['4.7.6', '7.b8'],
      reason:
        'The service can choose another id instead of giving up only if it can tell that the user exists.',
      observability: 'provoked',
      check: requireControlAccepted(
        checkErrorCode(
          'user_exists',
          isErrorOfDuplicate,
          unjudgedAs('blocked', 'The sandbox did not refuse the duplicate.'),
          { withoutErrorObject: 'judge', hint: hintForDuplicate },
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

export const errors: Subject = {
  requirements: {
    ...ofRefusals,
    // Any request may get the errors below, also a deletion.
    'USERS-073': rateLimit({
      statements: ['7.b6'],
      mutants: {
        'delete-rate-limit-type': {
          description: 'Sends a 429 to a deletion with its own error type.',
          transform: rateLimitOnce('delete', {
            error: { message: 'Wait.', type: 'tokens', code: 'rate_limit_exceeded' },
          }),
        },
      },
    }),
    'USERS-074': serverError({
      statements: ['7.b7'],
      mutants: {
        'failure-type': {
          description: 'Sends a 500 with its own error type.',
          transform: failOnOddMetadata('create', () =>
            jsonResponse(500, {
              error: { message: 'No.', type: 'server_error', code: 'server_error' },
            }),
          ),
        },
      },
    }),
  },
};
