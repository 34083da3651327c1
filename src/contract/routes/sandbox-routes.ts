import { sandboxErrors, USER_ID_LENGTH_MAX, type SandboxErrorCode } from '../constants.ts';
import { schemas } from '../generated/schemas.ts';
import type { SandboxErrorDetail } from '../generated/types.ts';
import { json, retryAfter, type RouteParameter, type RouteResponse, type Routes } from './route.ts';

/** Returns an error response with the body of spec 7, area B. */
function refuse(description: string, error: SandboxErrorDetail): RouteResponse {
  return { description, content: json('SandboxError'), examples: { [error.code]: { error } } };
}

/** Returns an error response with a code of the specification. */
function refuseWith(code: SandboxErrorCode, description: string, message: string): RouteResponse {
  return refuse(description, { code, type: sandboxErrors[code].type, message });
}

/** Returns an error response whose status the specification does not name. */
function extend({
  description,
  ...error
}: SandboxErrorDetail & { description: string }): RouteResponse {
  return { ...refuse(description, error), isExtension: true };
}

const unauthorized: RouteResponse = {
  ...extend({
    code: 'unauthorized',
    type: 'authentication_error',
    description: 'The sandbox requires a key, and the request has no key or a wrong key.',
    message: 'Authorization must be Bearer followed by the API key of this agent.',
  }),
  headers: {
    'WWW-Authenticate': {
      required: false,
      description: 'The authentication scheme: `Bearer`.',
      schema: { type: 'string' },
    },
  },
};

const forbidden = extend({
  code: 'forbidden',
  type: 'permission_error',
  description:
    'The sandbox listens on loopback without a key, and the request may come from a web page of another machine.',
  message: 'Host must be localhost or a loopback address.',
});

const tooLarge = extend({
  code: 'body_too_large',
  type: 'invalid_request_error',
  description: 'The body is too large. The limit of the reference agent is 1,048,576 bytes.',
  message: 'Request body is too large',
});

const timedOut = extend({
  code: 'request_timeout',
  type: 'invalid_request_error',
  description: 'The request was not complete in time.',
  message: 'The request was not complete in time.',
});

const rateLimited: RouteResponse = {
  ...refuseWith(
    'rate_limit_exceeded',
    'Too many requests (spec 7). The client waits before it sends the request again.',
    'Too many requests. Try again in 1 s.',
  ),
  headers: retryAfter(false),
};

const failed = refuseWith(
  'server_error',
  'The sandbox failed (spec 7).',
  'The agent failed to respond.',
);

/** Error responses of every route with a key. */
const commonErrors = { 401: unauthorized, 403: forbidden, 429: rateLimited, 500: failed } as const;

const userExists = refuseWith(
  'user_exists',
  'A user with this id exists. The specification defines the code but no status; the reference agent sends 409.',
  'User sim_user_k3v9 already exists. Delete it first.',
);

const userId: RouteParameter = {
  name: 'user_id',
  in: 'path',
  description: `Id of the user: 1 to ${USER_ID_LENGTH_MAX} ASCII letters, digits, and underscores (spec 2.9).`,
  schema: { type: 'string', pattern: schemas.UserCreateRequest.properties.user_id.pattern },
  example: 'sim_user_k3v9',
};

const [healthy, degraded, unhealthy] = schemas.Health.examples;

/** The endpoints that a customer hosts in a sandbox (spec 4.5 to 4.8). The key is the operation id. */
export const sandboxRoutes = {
  createChatCompletion: {
    method: 'POST',
    path: '/v1/chat/completions',
    tag: 'chat',
    summary: 'Reply to a conversation',
    description:
      'Receives the whole conversation and returns the next message of the agent with every tool call and its ' +
      'result. The agent runs its own tools: requests contain no tool definitions. A request with only ' +
      '`messages` is valid. The target for the response time is 5 s, at 100 requests per second (spec 8).',
    spec: '2.7, 2.8, 4.5',
    hasKey: true,
    parameters: [],
    body: json('ChatRequest'),
    responses: {
      200: {
        description: 'The reply. `session_id` equals the `session_id` of the request.',
        content: json('ChatResponse'),
      },
      400: refuseWith(
        'bad_request',
        'The request is invalid, such as one without `messages` (spec 7).',
        '/messages must be an array, got nothing.',
      ),
      ...commonErrors,
      408: timedOut,
      413: tooLarge,
    },
  },
  getHealth: {
    method: 'GET',
    path: '/health',
    tag: 'health',
    summary: 'Report whether the sandbox is ready for a simulation',
    description:
      'The service sends this request before each simulation, without a key. The target for the response time is 2 s; ' +
      'the service gives up after 10 s (spec 8).',
    spec: '2.10, 3.3, 4.6',
    hasKey: false,
    parameters: [],
    responses: {
      200: {
        description: '`status` is `healthy` or `degraded`.',
        content: json('Health'),
        examples: { healthy, degraded },
      },
      403: forbidden,
      500: refuseWith(
        'health_check_failed',
        'The health check itself failed, so the state of the sandbox is unknown (spec 7).',
        'The health check failed.',
      ),
      503: {
        description: '`status` is `unhealthy`, and `error` says why.',
        content: json('Health'),
        examples: { unhealthy },
      },
    },
  },
  createUser: {
    method: 'POST',
    path: '/users',
    tag: 'users',
    summary: 'Create a simulated user',
    description:
      'Optional. The service creates a user before the first chat request and sends its id in the requests ' +
      'that follow.',
    spec: '2.9, 3.2, 4.7',
    hasKey: true,
    parameters: [],
    body: json('UserCreateRequest'),
    responses: {
      201: {
        description: 'The user was created. This is the status of the reference agent.',
        content: json('UserCreated'),
        isExtension: true,
      },
      '2XX': {
        description: 'The user was created. The specification leaves the status open.',
        content: json('UserCreated'),
      },
      400: refuseWith(
        'bad_request',
        'The request is invalid, such as one with a malformed `user_id` (spec 7).',
        '/user_id must be 1 to 64 letters, digits, or underscores, got "sim-user-7".',
      ),
      ...commonErrors,
      408: timedOut,
      409: { ...userExists, isExtension: true },
      413: tooLarge,
      '4XX': userExists,
    },
  },
  deleteUser: {
    method: 'DELETE',
    path: '/users/{user_id}',
    tag: 'users',
    summary: 'Delete a simulated user',
    description:
      'Optional. The service may delete the user after the simulation. The request has no body.',
    spec: '2.9, 3.2, 4.8',
    hasKey: true,
    parameters: [userId],
    responses: {
      200: {
        description: 'The user was deleted. This is the status of the reference agent.',
        content: json('UserDeleted'),
        isExtension: true,
      },
      '2XX': {
        description: 'The user was deleted. The specification leaves the status open.',
        content: json('UserDeleted'),
      },
      400: {
        ...refuseWith(
          'bad_request',
          '`user_id` is malformed.',
          'The user id must match ^[A-Za-z0-9_]{1,64}$, got "sim-user-7".',
        ),
        isExtension: true,
      },
      ...commonErrors,
      404: extend({
        code: 'user_not_found',
        type: 'invalid_request_error',
        description: 'The user does not exist.',
        message: 'User sim_user_k3v9 does not exist.',
      }),
    },
  },
} as const satisfies Routes;
