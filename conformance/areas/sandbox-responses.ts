/** The responses of a sandbox that mutants send or edit (spec 2.8 to 2.10, 7). */
import { resolvePointer, sandboxErrors, type SandboxErrorCode } from '../../src/contract/index.ts';
import { isoTime, type Clock } from '../../src/platform/clock.ts';
import {
  changeResponse,
  combineEdits,
  editAccepted,
  editBody,
  jsonResponse,
  respondInstead,
  to,
  type Edit,
  type RequestTo,
  type When,
  type WhenTo,
} from '../engine/mutants/combinators.ts';
import type { ProxyResponse, TransformFactory } from '../engine/mutants/mutant.ts';

/** Creates a response in the error shape of a sandbox (spec 7). */
export function errorResponse(
  status: number,
  code: SandboxErrorCode,
  message = 'No.',
): ProxyResponse {
  return jsonResponse(status, { error: { message, type: sandboxErrors[code].type, code } });
}

/** The HTTP endpoints of a sandbox. */
const sandboxEndpoints = ['chat', 'health', 'create', 'delete'] as const;
export type SandboxEndpoint = (typeof sandboxEndpoints)[number];

/** Selects requests to a sandbox. */
export const toSandbox: WhenTo<SandboxEndpoint> = (
  request,
): request is RequestTo<SandboxEndpoint> =>
  sandboxEndpoints.some((endpoint) => endpoint === request.endpoint);

/** Creates the smallest valid 2xx response of a sandbox (spec 2.8 to 2.10). */
export function createAcceptedResponse(
  { endpoint, json: sent, path }: RequestTo<SandboxEndpoint>,
  clock: Clock,
): ProxyResponse {
  const now = isoTime(clock.nowMs());
  switch (endpoint) {
    case 'chat':
      return jsonResponse(200, {
        choices: [{ message: { role: 'assistant', content: 'All right.' } }],
      });
    case 'health':
      return jsonResponse(200, { status: 'healthy', timestamp: now });
    case 'create': {
      const id = resolvePointer(sent, '/user_id');
      const userId = typeof id === 'string' ? id : 'anybody';
      return jsonResponse(201, { user_id: userId, created_at: now, status: 'active' });
    }
    case 'delete': {
      const userId = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
      return jsonResponse(200, { user_id: userId, deleted_at: now, status: 'deleted' });
    }
  }
}

/** Edits the bodies of 2xx chat responses. */
export const editChat = (...edits: Edit[]): TransformFactory => editAccepted('chat', ...edits);

/** Edits the bodies of health responses with any status. */
export const editHealth = (...edits: Edit[]): TransformFactory =>
  changeResponse(to('health'), (response, request) =>
    editBody(response, request, combineEdits(...edits)),
  );

/** Accepts selected requests without forwarding them. */
export const acceptInstead = (when: WhenTo<SandboxEndpoint>): TransformFactory =>
  respondInstead(when, createAcceptedResponse);

/** Refuses selected requests with a well-formed error, without forwarding them. */
export const refuseInstead = (
  when: When,
  status = 400,
  code: SandboxErrorCode = 'bad_request',
): TransformFactory => respondInstead(when, () => errorResponse(status, code));
