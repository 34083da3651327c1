import type { RequirementId } from '../../index.ts';
import { putOffOnce } from '../../chat/mutants/errors.ts';
import {
  drop,
  failure,
  instead,
  isError,
  json,
  onErrors,
  replaces,
  set,
  to,
  type Edit,
  type When,
} from '../../../engine/mutants/combinators.ts';
import { mutantsOf, type Mutant, type TransformFactory } from '../../../engine/mutants/mutant.ts';
import { isNoObject, malformedUsers, where } from '../../../engine/mutants/requests.ts';
import { onDuplicate } from './requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

const mutant = mutantsOf('users');

const isMalformed: When = (asked) => Object.values(malformedUsers).some(({ when }) => when(asked));
const malformed = to('create', isMalformed);
const refusal = (name: string, breaks: string, kills: RequirementId, edit: Edit): Mutant =>
  mutant(name, breaks, kills, onErrors(malformed, edit));
const duplicate = (
  name: string,
  breaks: string,
  kills: RequirementId | readonly RequirementId[],
  body: unknown,
): Mutant =>
  mutant(
    name,
    breaks,
    kills,
    onDuplicate(() => json(409, body)),
  );

// The specification is silent on a wrong type here, so that a 500 breaks nothing but its body.
const oddMetadata: When = where('metadata', (metadata) => !isObject(metadata));
const fails = (body: object): TransformFactory =>
  instead(to('create', oddMetadata), () => json(500, body));

/** Mutants whose refusals and failures about users have the wrong body. */
export const userErrorMutants: readonly Mutant[] = [
  mutant(
    'error-html',
    'Answers what is not JSON with the error page of its framework.',
    'USERS-070',
    replaces(
      to('create', isNoObject),
      { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Error</title>' },
      isError,
    ),
  ),
  mutant(
    'error-empty',
    'Refuses without a body.',
    'USERS-070',
    replaces(malformed, { body: '' }, isError),
  ),
  refusal('error-missing', 'Leaves the error object out.', 'USERS-070', drop('/error')),
  refusal('error-a-string', 'Gives the error as text.', 'USERS-070', set('/error', 'bad_request')),
  duplicate(
    'duplicate-no-error',
    'Refuses duplicates without an error object.',
    ['USERS-070', 'USERS-075'],
    {
      detail: 'exists',
    },
  ),
  refusal('error-no-message', 'Leaves the message out.', 'USERS-071', drop('/error/message')),
  refusal('error-no-type', 'Leaves the type out.', 'USERS-071', drop('/error/type')),
  refusal('error-code-a-number', 'Gives the status as code.', 'USERS-071', set('/error/code', 400)),
  duplicate('duplicate-no-type', 'Refuses duplicates without a type.', ['USERS-071', 'USERS-075'], {
    error: { message: 'It exists.', code: 'user_exists' },
  }),
  refusal(
    'error-code-of-its-own',
    'Refuses with a code of its own.',
    'USERS-072',
    set('/error/code', 'invalid_user_id'),
  ),
  refusal(
    'error-type-of-its-own',
    'Refuses with a type of its own.',
    'USERS-072',
    set('/error/type', 'validation_error'),
  ),
  mutant(
    'rate-limit-code',
    'Puts a request off with a code of its own.',
    'USERS-073',
    putOffOnce('create', { error: { message: 'Wait.', type: 'rate_limit_error', code: 'slow' } }),
  ),
  mutant(
    'delete-rate-limit-type',
    'Puts a deletion off with a type of its own.',
    'USERS-073',
    putOffOnce('delete', {
      error: { message: 'Wait.', type: 'tokens', code: 'rate_limit_exceeded' },
    }),
  ),
  mutant(
    'failure-code',
    'Fails with a code of its own.',
    'USERS-074',
    fails({ error: { message: 'No.', type: 'internal_error', code: 'unexpected' } }),
  ),
  mutant(
    'failure-type',
    'Fails with a type of its own.',
    'USERS-074',
    fails({ error: { message: 'No.', type: 'server_error', code: 'server_error' } }),
  ),
  duplicate('duplicate-code', 'Refuses duplicates with a code of its own.', 'USERS-075', {
    error: { message: 'It exists.', type: 'duplicate_user_error', code: 'conflict' },
  }),
  duplicate('duplicate-type', 'Refuses duplicates with a type of its own.', 'USERS-075', {
    error: { message: 'It exists.', type: 'invalid_request_error', code: 'user_exists' },
  }),
  mutant(
    'duplicate-bad-request',
    'Refuses duplicates as if they were malformed.',
    'USERS-075',
    onDuplicate(() => failure(400, 'bad_request')),
  ),
];
