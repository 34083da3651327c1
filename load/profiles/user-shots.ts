import type { Next, Shot } from './shot.ts';

const USERS_DEADLINE_MS = 15_000;

/** Creates a simulated user, and deletes it as soon as it is there. */
export function userShot(userId: string, headers: Record<string, string>): Shot {
  return {
    stream: 'users',
    endpoint: 'create',
    outgoing: {
      method: 'POST',
      path: '/users',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ user_id: userId, profile: { name: 'Load' } }),
    },
    deadlineMs: USERS_DEADLINE_MS,
    markers: [],
    // After a failure, too: it may have been created all the same.
    next: (json) => deletion(userId, headers, json !== undefined),
  };
}

function deletion(userId: string, headers: Record<string, string>, judged: boolean): Next {
  return {
    afterMs: 0,
    cleansUp: true,
    shot: {
      stream: 'users',
      endpoint: 'delete',
      outgoing: { method: 'DELETE', path: `/users/${userId}`, headers },
      deadlineMs: USERS_DEADLINE_MS,
      markers: [],
      ...(judged ? {} : { unjudged: true }),
    },
  };
}
