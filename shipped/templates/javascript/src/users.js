/**
 * The simulated users (spec 2.9, 3.2). The service creates one before a simulation and may delete it
 * afterward. Replace the map if several processes serve your sandbox.
 *
 * @import { UserCreated, UserCreateRequest, UserDeleted, UserProfile } from 'sandbox-kit'
 */
import { notFound, SandboxError } from './errors.js';

/** The service need not delete its users (spec 3.2), so the oldest one makes room at this limit. */
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
        // The interface defines the type and the code, but not the status (spec 7).
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
      if (!profiles.delete(userId)) throw notFound('This user does not exist.');
      return { user_id: userId, deleted_at: new Date().toISOString(), status: 'deleted' };
    },

    /**
     * Returns undefined for an unknown user: a chat request may name any user, or no user.
     *
     * @param {string | undefined} userId
     */
    profileOf: (userId) => (userId === undefined ? undefined : profiles.get(userId)),
  };
}
