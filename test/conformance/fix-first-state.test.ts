/** What "Fix first" says about state that a sandbox keeps from one request to another. */
import t from 'tap';
import { errorResponse } from '../../conformance/areas/sandbox-responses.ts';
import {
  chain,
  respondInstead,
  to,
  withBody,
} from '../../conformance/engine/mutants/combinators.ts';
import type { TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import {
  hasWrongKey,
  stringAt,
  TEXT_AFTER_JSON,
} from '../../conformance/engine/mutants/requests.ts';
import { defectOf, testFixFirst, type FixFirstCase } from '../support/conformance/fix-first.ts';
import { createErrorResponse, isChat } from '../support/sandboxes/distortions.ts';

/** Never clears the buffer of a connection, and reads the first JSON object in it. */
const keepBuffers: TransformFactory = () => {
  const buffers = new WeakMap<object, string>();
  return async (request, forward) => {
    if (request.method !== 'POST') return forward(request);
    const body = buffers.get(request.connection) ?? request.body.replace(TEXT_AFTER_JSON, '');
    buffers.set(request.connection, body);
    return forward(withBody(request, body));
  };
};

/** Refuses chat requests with a user, as if POST /users stored users elsewhere. */
const refuseUsers = respondInstead(
  (request) => isChat(request) && stringAt('user_id', request) !== undefined,
  () => createErrorResponse(400, 'Unknown user.', 'invalid_request_error', 'bad_request'),
);

const cases: readonly FixFirstCase[] = [
  {
    title: 'a buffer that a connection keeps',
    defect: keepBuffers,
    says: /^POST \/v1\/chat\/completions and POST \/users: a later request on a connection gets the session of an earlier one \((\d+ responses, e\.g\. )?exchange \d+ "[^"]+"\), and text after the JSON of a body is ignored\. Clear the buffer before each request: /,
    never: /also refuse/,
    isOnly: true,
  },
  {
    title: 'a session that a connection keeps',
    defect: defectOf('chat/session-kept-by-connection'),
    says: /^POST \/v1\/chat\/completions: a later request on a connection gets the session of an earlier one \((\d+ responses, e\.g\. )?exchange \d+ "[^"]+"\)\. Keep no state in a connection/,
    isOnly: true,
    example: { received: /^"sk_[^"]+", which exchange \d+ sent$/ },
  },
  {
    title: 'the body of a refused request that is left on the connection',
    defect: chain(
      defectOf('chat/leaves-refused-bodies'),
      respondInstead(to('chat', hasWrongKey), () => errorResponse(401, 'bad_request')),
    ),
    says: /^POST \/v1\/chat\/completions: a valid request gets 400 with "No\." after a refused one on its connection \(exchange \d+ "after refusals"\)\. Read the body of every request/,
    isOnly: true,
    example: { requirement: 'CHAT-013' },
  },
  {
    title: 'a session in a global variable',
    defect: defectOf('chat/sessions-swapped-in-overlap'),
    says: /^POST \/v1\/chat\/completions: requests that overlap get each other's session id: exchange \d+ "[^"]+" gets that of exchange \d+ \(\d+ responses\)\. Look for a variable that requests share/,
    isOnly: true,
  },
  {
    title: 'a user in a static buffer',
    defect: defectOf('users/users-swapped-in-overlap'),
    says: /^POST \/users: requests that overlap get each other's user id: /,
    example: {
      received: /^"\w+", which exchange \d+ sent$/,
      hint: /^Look for a variable that requests share: this is the user id of another request\.$/,
    },
  },
  {
    title: 'users that only POST /users knows',
    defect: refuseUsers,
    says: /^POST \/v1\/chat\/completions: users that were created are unknown: 400 with "Unknown user\." \(\d+ responses, e\.g\. [^)]+\)\. Look users up where POST \/users stores them$/,
    never: /Accept every request/,
  },
];

for (const one of cases) testFixFirst(t, one);
