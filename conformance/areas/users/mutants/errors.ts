import type { UsersRequirementId } from '../requirements.ts';
import { malformedCreates } from './malformed.ts';
import { rateLimitOnce } from '../../chat/mutants/errors.ts';
import {
  drop,
  errorResponse,
  respondInstead,
  isError,
  jsonResponse,
  editErrors,
  replaceParts,
  set,
  to,
  type Edit,
  type When,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { isNotJsonObject, where } from '../../../engine/mutants/requests.ts';
import { onDuplicate } from './requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

const mutant = createMutantFactory('users');

const isMalformed: When = (request) =>
  Object.values(malformedCreates).some(({ when }) => when(request));
const malformed = to('create', isMalformed);
const refusal = (
  name: string,
  description: string,
  kills: UsersRequirementId,
  edit: Edit,
): Mutant => mutant(name, description, kills, editErrors(malformed, edit));
const duplicate = (
  name: string,
  description: string,
  kills: UsersRequirementId | readonly UsersRequirementId[],
  body: unknown,
): Mutant =>
  mutant(
    name,
    description,
    kills,
    onDuplicate(() => jsonResponse(409, body)),
  );

// The specification doesn't say what to do with a wrong type here, so only the body of a 500 is wrong.
const oddMetadata: When = where('metadata', (metadata) => !isObject(metadata));
const fails = (body: object): TransformFactory =>
  respondInstead(to('create', oddMetadata), () => jsonResponse(500, body));

/** Mutants whose error responses about users have the wrong body. */
export const userErrorMutants: readonly Mutant[] = [
  mutant(
    'error-html',
    'Responds to malformed JSON with the HTML error page of a framework.',
    'USERS-070',
    replaceParts(
      to('create', isNotJsonObject),
      { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Error</title>' },
      isError,
    ),
  ),
  mutant(
    'error-empty',
    'Sends errors without a body.',
    'USERS-070',
    replaceParts(malformed, { body: '' }, isError),
  ),
  refusal('error-missing', 'Omits `error`.', 'USERS-070', drop('/error')),
  refusal(
    'error-a-string',
    'Sends `error` as a string.',
    'USERS-070',
    set('/error', 'bad_request'),
  ),
  duplicate(
    'duplicate-no-error',
    'Refuses duplicates without `error`.',
    ['USERS-070', 'USERS-075'],
    {
      detail: 'exists',
    },
  ),
  refusal('error-no-message', 'Omits `error.message`.', 'USERS-071', drop('/error/message')),
  refusal('error-no-type', 'Omits `error.type`.', 'USERS-071', drop('/error/type')),
  refusal(
    'error-code-a-number',
    'Sends the HTTP status as `error.code`.',
    'USERS-071',
    set('/error/code', 400),
  ),
  duplicate(
    'duplicate-no-type',
    'Refuses duplicates without `error.type`.',
    ['USERS-071', 'USERS-075'],
    {
      error: { message: 'It exists.', code: 'user_exists' },
    },
  ),
  refusal(
    'error-code-of-its-own',
    'Refuses with its own error code.',
    'USERS-072',
    set('/error/code', 'invalid_user_id'),
  ),
  refusal(
    'error-type-of-its-own',
    'Refuses with its own error type.',
    'USERS-072',
    set('/error/type', 'validation_error'),
  ),
  mutant(
    'rate-limit-code',
    'Sends a 429 with its own error code.',
    'USERS-073',
    rateLimitOnce('create', {
      error: { message: 'Wait.', type: 'rate_limit_error', code: 'slow' },
    }),
  ),
  mutant(
    'delete-rate-limit-type',
    'Sends a 429 to a deletion with its own error type.',
    'USERS-073',
    rateLimitOnce('delete', {
      error: { message: 'Wait.', type: 'tokens', code: 'rate_limit_exceeded' },
    }),
  ),
  mutant(
    'failure-code',
    'Sends a 500 with its own error code.',
    'USERS-074',
    fails({ error: { message: 'No.', type: 'internal_error', code: 'unexpected' } }),
  ),
  mutant(
    'failure-type',
    'Sends a 500 with its own error type.',
    'USERS-074',
    fails({ error: { message: 'No.', type: 'server_error', code: 'server_error' } }),
  ),
  duplicate('duplicate-code', 'Refuses duplicates with its own error code.', 'USERS-075', {
    error: { message: 'It exists.', type: 'duplicate_user_error', code: 'conflict' },
  }),
  duplicate('duplicate-type', 'Refuses duplicates with its own error type.', 'USERS-075', {
    error: { message: 'It exists.', type: 'invalid_request_error', code: 'user_exists' },
  }),
  mutant(
    'duplicate-bad-request',
    'Refuses duplicates with the error of a bad request.',
    'USERS-075',
    onDuplicate(() => errorResponse(400, 'bad_request')),
  ),
];
