import {
  describeError,
  isAcceptedAt,
  observeEach,
  type ObservedBehavior,
} from '../../engine/judge/observed.ts';
import { DUPLICATE, isCreateStep, isDeleteStep } from './requests.ts';

const behaviors: readonly ObservedBehavior[] = [
  { name: 'POST /users', of: isAcceptedAt('create') },
  { name: 'DELETE /users/{user_id}', of: isAcceptedAt('delete') },
  { name: 'duplicate user', of: isCreateStep(DUPLICATE), describe: describeError },
  { name: 'non-ASCII user_id', of: isCreateStep('non-ASCII letters'), describe: describeError },
  {
    name: 'user metadata as a string',
    of: isCreateStep('metadata a string'),
    describe: describeError,
  },
  { name: 'deleting an unknown user', of: isDeleteStep('unknown user'), describe: describeError },
  { name: 'deleting a user twice', of: isDeleteStep('deleted again'), describe: describeError },
  {
    name: 'creating a deleted user again',
    of: isCreateStep('created again'),
    describe: describeError,
  },
];

/** Returns what a sandbox does with users where the specification is silent. */
export const observeUsers = observeEach(behaviors);
