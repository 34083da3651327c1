import { userErrorMutants } from './errors.ts';
import { userFailureMutants } from './failures.ts';
import { userRequestMutants } from './requests.ts';
import type { RequirementId } from '../../index.ts';
import {
  drop,
  failure,
  isAccepted,
  json,
  onAccepted,
  replaces,
  set,
  to,
  type Edit,
} from '../../../engine/mutants/combinators.ts';
import {
  mutantsOf,
  type ProxyRequest,
  type Mutant,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { textAt, userOf } from '../../../engine/mutants/requests.ts';
import { knowing } from './requests.ts';

const mutant = mutantsOf('users');

const created = (name: string, breaks: string, kills: RequirementId, ...edits: Edit[]): Mutant =>
  mutant(name, breaks, kills, onAccepted('create', ...edits));

const deleted = (name: string, breaks: string, kills: RequirementId, ...edits: Edit[]): Mutant =>
  mutant(name, breaks, kills, onAccepted('delete', ...edits));

// Long enough for the requests in flight to meet, whichever order they come in.
const MEETING_MS = 10;

/** Keeps the id that a request is about where all requests of an endpoint see it. */
function swapped(
  endpoint: 'create' | 'delete',
  idOf: (asked: ProxyRequest) => unknown,
): TransformFactory {
  return () => {
    let latest: unknown;
    return async (asked, forward, clock) => {
      if (asked.endpoint !== endpoint) return forward(asked);
      latest = idOf(asked) ?? latest;
      const answer = await forward(asked);
      await clock.sleep(MEETING_MS);
      const transform = onAccepted(endpoint, set('/user_id', latest))();
      return transform(asked, () => Promise.resolve(answer), clock);
    };
  };
}

const creating: Mutant[] = [
  created('user-id-missing', 'Answers without user_id.', 'USERS-020', drop('/user_id')),
  created('user-id-a-number', 'Numbers its users.', 'USERS-020', set('/user_id', 17)),
  created(
    'user-id-its-own',
    'Answers with an id of its own.',
    'USERS-021',
    set('/user_id', '7f9c24e8'),
  ),
  created(
    'user-id-lower-case',
    'Writes the id in small letters.',
    'USERS-021',
    set('/user_id', (asked: ProxyRequest) => textAt('user_id', asked)?.toLowerCase()),
  ),
  mutant(
    'users-swapped-in-overlap',
    'Keeps the user in a variable that requests in flight share.',
    'USERS-021',
    swapped('create', (asked) => textAt('user_id', asked)),
  ),
  created('created-at-missing', 'Leaves created_at out.', 'USERS-022', drop('/created_at')),
  created('created-at-unix', 'Gives Unix time.', 'USERS-022', set('/created_at', 1_795_167_000)),
  created(
    'created-at-space',
    'Puts a space between date and time.',
    'USERS-022',
    set('/created_at', '2026-11-20 09:30:00'),
  ),
  created('created-at-empty', 'Gives no time.', 'USERS-022', set('/created_at', '')),
  created('status-missing', 'Leaves status out.', 'USERS-023', drop('/status')),
  created('status-created', 'Gives created for status.', 'USERS-023', set('/status', 'created')),
  created('status-capital', 'Writes Active.', 'USERS-023', set('/status', 'Active')),
  created('session-id-null', 'Makes session_id null.', 'USERS-024', set('/session_id', null)),
  created('profile-id-a-number', 'Numbers its profiles.', 'USERS-025', set('/profile_id', 4)),
  created(
    'capabilities-a-string',
    'Gives capabilities as text.',
    'USERS-026',
    set('/capabilities', 'chat'),
  ),
  created(
    'capabilities-objects',
    'Lists objects as capabilities.',
    'USERS-026',
    set('/capabilities', [{ chat: true }]),
  ),
];

const remove = to('delete');

const deleting: Mutant[] = [
  mutant(
    'delete-204',
    'Deletes with an empty 204.',
    'USERS-030',
    replaces(remove, { status: 204, headers: {}, body: '' }, isAccepted),
  ),
  mutant(
    'delete-text',
    'Deletes with the word OK.',
    'USERS-030',
    replaces(remove, { body: 'OK' }, isAccepted),
  ),
  mutant(
    'delete-500',
    'Fails to delete.',
    ['USERS-010', 'USERS-030'],
    knowing((asked, isKnown) =>
      asked.endpoint === 'delete' && isKnown ? failure(500, 'server_error') : undefined,
    ),
  ),
  mutant(
    'delete-403',
    'Does not let users be deleted.',
    'USERS-030',
    replaces(remove, { status: 403 }, isAccepted),
  ),
  deleted('deleted-id-missing', 'Deletes without user_id.', 'USERS-031', drop('/user_id')),
  deleted(
    'deleted-id-wrong',
    'Names another user.',
    'USERS-031',
    set('/user_id', 'sim_user_other'),
  ),
  mutant(
    'deleted-swapped-in-overlap',
    'Keeps the deleted user in a variable that requests in flight share.',
    'USERS-031',
    swapped('delete', userOf),
  ),
  deleted('deleted-at-missing', 'Leaves deleted_at out.', 'USERS-032', drop('/deleted_at')),
  deleted('deleted-at-null', 'Makes deleted_at null.', 'USERS-032', set('/deleted_at', null)),
  deleted(
    'deleted-at-http-date',
    'Gives deleted_at as an HTTP date.',
    'USERS-032',
    set('/deleted_at', 'Fri, 20 Nov 2026 09:30:00 GMT'),
  ),
  deleted('deleted-status-missing', 'Leaves the status out.', 'USERS-033', drop('/status')),
  deleted(
    'deleted-status-inactive',
    'Makes a deleted user inactive.',
    'USERS-033',
    set('/status', 'inactive'),
  ),
  deleted('deleted-status-true', 'Gives true for a status.', 'USERS-033', set('/status', true)),
  mutant(
    'unknown-500',
    'Fails when an unknown user is to be deleted.',
    'USERS-034',
    knowing((asked, isKnown) =>
      asked.endpoint === 'delete' && !isKnown ? failure(500, 'server_error') : undefined,
    ),
  ),
  mutant('unknown-dropped', 'Drops the connection when a user is unknown.', 'USERS-034', () => {
    const inner = knowing((asked, isKnown) =>
      asked.endpoint === 'delete' && !isKnown ? json(599, {}) : undefined,
    )();
    return async (asked, forward, clock) => {
      const reply = await inner(asked, forward, clock);
      return reply !== 'dropped' && reply.status === 599 ? 'dropped' : reply;
    };
  }),
];

/** Mutants of `POST /users` and `DELETE /users/{user_id}`. */
export const usersMutants: readonly Mutant[] = [
  ...userRequestMutants,
  ...creating,
  ...deleting,
  ...userErrorMutants,
  ...userFailureMutants,
];
