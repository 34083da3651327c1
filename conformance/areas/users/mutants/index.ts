import { userFailureMutants } from './failures.ts';
import { userRequestMutants } from './requests.ts';
import { userShapeMutants } from './shapes.ts';
import type { UsersRequirementId } from '../requirements.ts';
import {
  changeResponse,
  createOverlap,
  drop,
  errorResponse,
  isAccepted,
  jsonResponse,
  editAccepted,
  replaceParts,
  set,
  to,
  type Edit,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type ProxyRequest,
  type Mutant,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../../engine/mutants/requests.ts';
import { withKnownUsers } from './requests.ts';

const mutant = createMutantFactory('users');

const editsCreation = (
  name: string,
  description: string,
  kills: UsersRequirementId,
  ...edits: Edit[]
): Mutant => mutant(name, description, kills, editAccepted('create', ...edits));

const editsDeletion = (
  name: string,
  description: string,
  kills: UsersRequirementId,
  ...edits: Edit[]
): Mutant => mutant(name, description, kills, editAccepted('delete', ...edits));

/** Keeps the user id of a request where concurrent requests change it. */
function shareUserId(
  endpoint: 'create' | 'delete',
  idOf: (request: ProxyRequest) => unknown,
): TransformFactory {
  return () => {
    let latest: unknown;
    const announce = createOverlap();
    return async (request, forward, clock) => {
      if (request.endpoint !== endpoint) return forward(request);
      latest = idOf(request) ?? latest;
      const waitForNext = announce(clock);
      const response = await forward(request);
      await waitForNext();
      const transform = editAccepted(endpoint, set('/user_id', latest))();
      return transform(request, () => Promise.resolve(response), clock);
    };
  };
}

const creating: Mutant[] = [
  mutant(
    'created-in-user',
    'Wraps the response to creations in `user`.',
    ['USERS-020', 'USERS-022', 'USERS-023'],
    changeResponse(to('create'), (response) =>
      isAccepted(response) ? { ...response, body: `{"user":${response.body}}` } : response,
    ),
  ),
  editsCreation(
    'user-id-missing',
    'Omits `user_id` from the create response.',
    'USERS-020',
    drop('/user_id'),
  ),
  editsCreation(
    'user-id-a-number',
    'Sends `user_id` as a number.',
    'USERS-020',
    set('/user_id', 17),
  ),
  editsCreation(
    'user-id-its-own',
    'Replaces the user id with its own.',
    'USERS-021',
    set('/user_id', '7f9c24e8'),
  ),
  editsCreation(
    'user-id-lower-case',
    'Sends the user id in lowercase.',
    'USERS-021',
    set('/user_id', (request: ProxyRequest) => stringAt('user_id', request)?.toLowerCase()),
  ),
  mutant(
    'users-swapped-in-overlap',
    'Keeps the created user in a variable that concurrent requests share.',
    'USERS-021',
    shareUserId('create', (request) => stringAt('user_id', request)),
  ),
  editsCreation('created-at-missing', 'Omits `created_at`.', 'USERS-022', drop('/created_at')),
  editsCreation(
    'created-at-unix',
    'Sends `created_at` as Unix time.',
    'USERS-022',
    set('/created_at', 1_795_167_000),
  ),
  editsCreation(
    'created-at-space',
    'Sends `created_at` with a space between date and time.',
    'USERS-022',
    set('/created_at', '2026-11-20 09:30:00'),
  ),
  editsCreation(
    'created-at-empty',
    'Sends `created_at` as an empty string.',
    'USERS-022',
    set('/created_at', ''),
  ),
  editsCreation(
    'status-missing',
    'Omits `status` from the create response.',
    'USERS-023',
    drop('/status'),
  ),
  editsCreation(
    'status-created',
    'Sends the status "created".',
    'USERS-023',
    set('/status', 'created'),
  ),
  editsCreation(
    'status-capital',
    'Sends the status "Active", capitalized.',
    'USERS-023',
    set('/status', 'Active'),
  ),
  editsCreation(
    'session-id-null',
    'Sends `session_id` as null.',
    'USERS-024',
    set('/session_id', null),
  ),
  editsCreation(
    'profile-id-a-number',
    'Sends `profile_id` as a number.',
    'USERS-025',
    set('/profile_id', 4),
  ),
  editsCreation(
    'capabilities-a-string',
    'Sends `capabilities` as a string.',
    'USERS-026',
    set('/capabilities', 'chat'),
  ),
  editsCreation(
    'capabilities-objects',
    'Sends `capabilities` as an array of objects.',
    'USERS-026',
    set('/capabilities', [{ chat: true }]),
  ),
];

const remove = to('delete');

const deleting: Mutant[] = [
  mutant(
    'delete-204',
    'Responds to a deletion with an empty 204.',
    'USERS-030',
    replaceParts(remove, { status: 204, headers: {}, body: '' }, isAccepted),
  ),
  mutant(
    'delete-text',
    'Responds to a deletion with the text OK.',
    'USERS-030',
    replaceParts(remove, { body: 'OK' }, isAccepted),
  ),
  mutant(
    'delete-500',
    'Responds to a deletion with 500.',
    ['USERS-010', 'USERS-030'],
    withKnownUsers((request, isKnown) =>
      request.endpoint === 'delete' && isKnown ? errorResponse(500, 'server_error') : undefined,
    ),
  ),
  mutant(
    'delete-403',
    'Responds to a deletion with 403.',
    'USERS-030',
    replaceParts(remove, { status: 403 }, isAccepted),
  ),
  editsDeletion(
    'deleted-id-missing',
    'Omits `user_id` from the delete response.',
    'USERS-031',
    drop('/user_id'),
  ),
  editsDeletion(
    'deleted-id-wrong',
    'Sends the id of another user in the delete response.',
    'USERS-031',
    set('/user_id', 'sim_user_other'),
  ),
  mutant(
    'deleted-swapped-in-overlap',
    'Keeps the deleted user in a variable that concurrent requests share.',
    'USERS-031',
    shareUserId('delete', userIdOf),
  ),
  editsDeletion('deleted-at-missing', 'Omits `deleted_at`.', 'USERS-032', drop('/deleted_at')),
  editsDeletion(
    'deleted-at-null',
    'Sends `deleted_at` as null.',
    'USERS-032',
    set('/deleted_at', null),
  ),
  editsDeletion(
    'deleted-at-http-date',
    'Sends `deleted_at` as an HTTP date.',
    'USERS-032',
    set('/deleted_at', 'Fri, 20 Nov 2026 09:30:00 GMT'),
  ),
  editsDeletion(
    'deleted-status-missing',
    'Omits `status` from the delete response.',
    'USERS-033',
    drop('/status'),
  ),
  editsDeletion(
    'deleted-status-inactive',
    'Sends the status "inactive" in the delete response.',
    'USERS-033',
    set('/status', 'inactive'),
  ),
  editsDeletion(
    'deleted-status-true',
    'Sends `status` of the delete response as a boolean.',
    'USERS-033',
    set('/status', true),
  ),
  mutant(
    'unknown-500',
    'Responds with 500 to the deletion of an unknown user.',
    'USERS-034',
    withKnownUsers((request, isKnown) =>
      request.endpoint === 'delete' && !isKnown ? errorResponse(500, 'server_error') : undefined,
    ),
  ),
  mutant(
    'unknown-dropped',
    'Drops the connection at the deletion of an unknown user.',
    'USERS-034',
    () => {
      const inner = withKnownUsers((request, isKnown) =>
        request.endpoint === 'delete' && !isKnown ? jsonResponse(599, {}) : undefined,
      )();
      return async (request, forward, clock) => {
        const reply = await inner(request, forward, clock);
        return reply !== 'dropped' && reply.status === 599 ? 'dropped' : reply;
      };
    },
  ),
];

/** Mutants of `POST /users` and `DELETE /users/{user_id}`. */
export const usersMutants: readonly Mutant[] = [
  ...userRequestMutants,
  ...userShapeMutants,
  ...creating,
  ...deleting,
  ...userFailureMutants,
];
