import type { FollowUp, PlannedRequest } from './planned-request.ts';

const USERS_DEADLINE_MS = 15_000;

/** Builds the request that creates a simulated user, followed by the one that deletes it. */
export function createUserRequest(userId: string, headers: Record<string, string>): PlannedRequest {
  return {
    stream: 'users',
    endpoint: 'create',
    name: `create ${userId}`,
    outgoing: {
      method: 'POST',
      path: '/users',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ user_id: userId, profile: { name: 'Load' } }),
    },
    deadlineMs: USERS_DEADLINE_MS,
    markers: [],
    // A failed request may have created the user, too.
    next: (json) => deleteUserRequest(userId, headers, json !== undefined),
  };
}

function deleteUserRequest(
  userId: string,
  headers: Record<string, string>,
  isJudged: boolean,
): FollowUp {
  return {
    afterMs: 0,
    isCleanup: true,
    request: {
      stream: 'users',
      endpoint: 'delete',
      name: `delete ${userId}`,
      outgoing: { method: 'DELETE', path: `/users/${userId}`, headers },
      deadlineMs: USERS_DEADLINE_MS,
      markers: [],
      ...(isJudged ? {} : { unjudged: true }),
    },
  };
}
