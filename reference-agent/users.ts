import { hash } from 'node:crypto';
import {
  schemas,
  type UserCreated,
  type UserCreateRequest,
  type UserDeleted,
} from '../src/contract/index.ts';
import { isoTime, type Clock } from '../src/platform/clock.ts';
import { RequestError } from './errors.ts';

/** The simulated users that exist (spec 2.9, 3.2). */
export interface Users {
  /** @throws RequestError `user_exists`. */
  create(request: UserCreateRequest): UserCreated;
  /** @throws RequestError `bad_request` for what can't be an id, `user_not_found`. */
  delete(userId: string): UserDeleted;
  /** Name in the profile of a user; undefined for one that is unknown or has no name. */
  nameOf: (userId: string) => string | undefined;
  clear(): void;
}

// A simulation may forget to delete its users (spec 3.2 makes it optional); with this many the
// oldest makes room, so that an agent that runs for weeks does not grow for ever.
const usersMax = 100_000;
const nameLengthMax = 100;
const userIdPattern = new RegExp(schemas.UserCreateRequest.properties.user_id.pattern);

/** An empty registry of simulated users. It keeps of each what the dialogue uses, no more. */
export function createUsers(clock: Clock): Users {
  const nameById = new Map<string, string | undefined>();
  return {
    create({ user_id, profile }) {
      if (nameById.has(user_id)) {
        throw new RequestError('user_exists', `a user ${user_id} exists; delete it first`);
      }
      const [oldest] = nameById.size >= usersMax ? nameById.keys() : [];
      if (oldest !== undefined) nameById.delete(oldest);
      nameById.set(user_id, profile?.name?.slice(0, nameLengthMax));
      return {
        user_id,
        created_at: isoTime(clock.nowMs()),
        status: 'active',
        ...(profile && { profile_id: `profile_${hash('sha256', user_id).slice(0, 12)}` }),
        capabilities: ['chat'],
      };
    },
    delete(userId) {
      if (!userIdPattern.test(userId)) {
        const received = JSON.stringify(userId.slice(0, 80));
        throw new RequestError(
          'bad_request',
          `the user id must be a string like ${userIdPattern.source}, got ${received}`,
        );
      }
      if (!nameById.delete(userId)) {
        throw new RequestError('user_not_found', `there is no user ${userId}`);
      }
      return { user_id: userId, deleted_at: isoTime(clock.nowMs()), status: 'deleted' };
    },
    nameOf: (userId) => nameById.get(userId),
    clear: () => nameById.clear(),
  };
}
