import { hash } from 'node:crypto';
import {
  schemas,
  type UserCreated,
  type UserCreateRequest,
  type UserDeleted,
} from '../src/contract/index.ts';
import { isoTime, type Clock } from '../src/platform/clock.ts';
import { forgetOldest } from '../src/platform/forget-oldest.ts';
import { RequestError } from './errors.ts';

/** The registered simulated users (spec 2.9, 3.2). */
export interface Users {
  /** @throws RequestError `user_exists`. */
  create(request: UserCreateRequest): UserCreated;
  /** @throws RequestError `bad_request` for an invalid id, `user_not_found` for an unknown one. */
  delete(userId: string): UserDeleted;
  /** Returns the name in a user's profile; undefined when the user is unknown or has no name. */
  nameOf: (userId: string) => string | undefined;
  clear(): void;
}

// Deleting users is optional (spec 3.2). Beyond this many, the oldest user is removed, so that the
// memory of a long-running agent stays bounded.
const USERS_MAX = 100_000;
const NAME_LENGTH_MAX = 100;
const USER_ID_PATTERN = new RegExp(schemas.UserCreateRequest.properties.user_id.pattern);

/** Creates an empty registry. It stores only what the dialogue uses. */
export function createUsers(clock: Clock): Users {
  const nameById = new Map<string, string | undefined>();
  return {
    create({ user_id, profile }) {
      if (nameById.has(user_id)) {
        throw new RequestError('user_exists', `User ${user_id} already exists. Delete it first.`);
      }
      nameById.set(user_id, profile?.name?.slice(0, NAME_LENGTH_MAX));
      forgetOldest(nameById, USERS_MAX);
      return {
        user_id,
        created_at: isoTime(clock.nowMs()),
        status: 'active',
        ...(profile && { profile_id: `profile_${hash('sha256', user_id).slice(0, 12)}` }),
        capabilities: ['chat'],
      };
    },
    delete(userId) {
      if (!USER_ID_PATTERN.test(userId)) {
        const received = JSON.stringify(userId.slice(0, 80));
        throw new RequestError(
          'bad_request',
          `The user id must match ${USER_ID_PATTERN.source}, got ${received}.`,
        );
      }
      if (!nameById.delete(userId)) {
        throw new RequestError('user_not_found', `User ${userId} does not exist.`);
      }
      return { user_id: userId, deleted_at: isoTime(clock.nowMs()), status: 'deleted' };
    },
    nameOf: (userId) => nameById.get(userId),
    clear: () => nameById.clear(),
  };
}
