import {
  describeError,
  isAcceptedAt,
  observeEach,
  type ObservedBehavior,
} from '../../engine/judge/observed.ts';
import { stepsOf } from '../../engine/probe.ts';

const isCreate = stepsOf('create');
const isDelete = stepsOf('delete');

const behaviors: readonly ObservedBehavior[] = [
  { name: 'POST /users', of: isAcceptedAt('create') },
  { name: 'DELETE /users/{user_id}', of: isAcceptedAt('delete') },
  { name: 'duplicate user', of: isCreate('duplicate'), describe: describeError },
  { name: 'user id beyond ASCII', of: isCreate('letters beyond ASCII'), describe: describeError },
  { name: 'user metadata a string', of: isCreate('metadata a string'), describe: describeError },
  { name: 'deleting an unknown user', of: isDelete('unknown user'), describe: describeError },
  { name: 'deleting a user twice', of: isDelete('deleted again'), describe: describeError },
  { name: 'creating a deleted user again', of: isCreate('created again'), describe: describeError },
];

/** Returns what a sandbox does with users where the specification is silent. */
export const observeUsers = observeEach(behaviors);
