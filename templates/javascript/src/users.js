/**
 * The simulated users (spec 2.9, 3.2). The service creates one before a simulation and may delete it
 * afterwards. Replace the map if several processes serve your sandbox.
 *
 * @import { UserCreated, UserCreateRequest, UserDeleted, UserProfile } from 'sandbox-kit'
 */
import { notFound, SandboxError } from './errors.js';

/** Deletion is optional, so the oldest users make room for new ones. */
const USERS_MAX = 10_000;

export function createUsers() {
  /** @type {Map<string, UserProfile>} */
  const profiles = new Map();
  return {
    /**
     * @param {UserCreateRequest} request
     * @returns {UserCreated}
     */
    create({ user_id, profile = {} }) {
      if (profiles.has(user_id)) {
        // The type and the code are fixed, the status is not (spec 7).
        const message = 'This user already exists.';
        throw new SandboxError(409, 'duplicate_user_error', 'user_exists', message);
      }
      const [oldest] = profiles.size >= USERS_MAX ? profiles.keys() : [];
      if (oldest !== undefined) profiles.delete(oldest);
      profiles.set(user_id, profile);
      return { user_id, created_at: new Date().toISOString(), status: 'active' };
    },

    /**
     * @param {string} userId
     * @returns {UserDeleted}
     */
    delete(userId) {
      if (!profiles.delete(userId)) throw notFound('There is no such user.');
      return { user_id: userId, deleted_at: new Date().toISOString(), status: 'deleted' };
    },

    /**
     * Returns undefined for an unknown user: chat requests may name any user, or none.
     *
     * @param {string | undefined} userId
     */
    profileOf: (userId) => (userId === undefined ? undefined : profiles.get(userId)),
  };
}
