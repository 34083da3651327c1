import type { UsersRequirementId } from '../requirements.ts';
import { onDuplicate } from './requests.ts';
import { failEverySeventh, failOnOddMetadata, rateLimitOnce } from '../../refusal-mutants.ts';
import {
  errorResponse,
  isError,
  jsonResponse,
  replaceParts,
  to,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type ProxyResult,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';

const mutant = createMutantFactory('users');

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

/** Mutants whose error responses have a wrong body, in addition to those of every endpoint. */
const errorMutants: readonly Mutant[] = [
  duplicate(
    'duplicate-no-error',
    'Refuses duplicates without `error`.',
    ['USERS-070', 'USERS-075'],
    { detail: 'exists' },
  ),
  duplicate(
    'duplicate-no-type',
    'Refuses duplicates without `error.type`.',
    ['USERS-071', 'USERS-075'],
    { error: { message: 'It exists.', code: 'user_exists' } },
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
  mutant(
    'errors-with-200',
    'Sends the errors of creations with 200.',
    ['USERS-060', 'USERS-061', 'USERS-062', 'USERS-063', 'USERS-064', 'USERS-065', 'USERS-066'],
    replaceParts(to('create'), { status: 200 }, isError),
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
    'failure-type',
    'Sends a 500 with its own error type.',
    'USERS-074',
    failOnOddMetadata('create', () =>
      jsonResponse(500, { error: { message: 'No.', type: 'server_error', code: 'server_error' } }),
    ),
  ),
];

// Longer than the check waits for a response.
const HANG_MS = 60_000;

/** Counts create requests and fails at some of them. */
const failsAtCreation =
  (failsAt: (creation: number) => boolean, fail: 'with 500' | 'silently' | 'dropped') =>
  (): ReturnType<TransformFactory> => {
    let creations = 0;
    return async (request, forward, clock): Promise<ProxyResult> => {
      if (request.endpoint !== 'create' || !failsAt(++creations)) return forward(request);
      if (fail === 'dropped') return 'dropped';
      if (fail === 'silently') await clock.sleep(HANG_MS);
      return errorResponse(500, 'server_error');
    };
  };

/** Mutants that fail at some create requests, or send a wrong error. */
export const userFailureMutants: readonly Mutant[] = [
  ...errorMutants,
  mutant(
    'every-seventh-creation-500',
    'Responds with 500 to every seventh create request, even if it is valid.',
    ['USERS-010'],
    failEverySeventh('create'),
  ),
  mutant(
    'second-creation-500',
    'Responds with 500 to the second create request.',
    ['USERS-010'],
    failsAtCreation((creation) => creation === 2, 'with 500'),
  ),
  mutant(
    'third-creation-500',
    'Responds with 500 to the third create request.',
    ['USERS-010'],
    failsAtCreation((creation) => creation === 3, 'with 500'),
  ),
  mutant(
    'fourth-creation-dropped',
    'Drops the connection of the fourth create request.',
    ['USERS-010'],
    failsAtCreation((creation) => creation === 4, 'dropped'),
  ),
  mutant(
    'recreation-500',
    'Responds with 500 to the sixth create request, which creates a deleted user again.',
    ['USERS-010'],
    failsAtCreation((creation) => creation === 6, 'with 500'),
  ),
  mutant(
    'every-second-creation-hangs',
    'Never responds to every second create request.',
    ['USERS-010'],
    failsAtCreation((creation) => creation % 2 === 0, 'silently'),
    { clockFactor: 20 },
  ),
];
