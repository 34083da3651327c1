/** Distortions that know which users exist. */
import { isSuccess, to, type RequestTo } from '../../engine/mutants/combinators.ts';
import { errorResponse } from '../sandbox-responses.ts';
import type { ProxyRequest, ProxyResponse, TransformFactory } from '../../engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../engine/mutants/requests.ts';
import type { Clock } from '../../../src/platform/clock.ts';

/** Returns a response in place of the sandbox, or undefined to forward the request. */
type Responder = (
  request: ProxyRequest,
  isKnown: boolean,
  clock: Clock,
) => ProxyResponse | undefined;

/** Creates a transform that knows which users exist. */
export function withKnownUsers(respond: Responder): TransformFactory {
  return () => {
    const existing = new Set<string>();
    return async (request, forward, clock) => {
      const userId =
        request.endpoint === 'delete' ? userIdOf(request) : stringAt('user_id', request);
      if (userId === undefined) return forward(request);
      const response = respond(request, existing.has(userId), clock) ?? (await forward(request));
      if (request.endpoint === 'create' && isSuccess(response)) existing.add(userId);
      if (request.endpoint === 'delete' && isSuccess(response)) existing.delete(userId);
      return response;
    };
  };
}

const isCreation = to('create');
const isDeletion = to('delete');

/** Responds to create requests for existing users. */
export const onDuplicate = (
  respond: (request: RequestTo<'create'>, clock: Clock) => ProxyResponse | undefined,
): TransformFactory =>
  withKnownUsers((request, isKnown, clock) =>
    isCreation(request) && isKnown ? respond(request, clock) : undefined,
  );

/** Refuses create requests for existing users with this status and the code `user_exists`. */
export const onDuplicates = (status: number): TransformFactory =>
  onDuplicate(() => errorResponse(status, 'user_exists'));

/** Responds to the deletion of a user that exists, or of one that doesn't. */
export const onDeletion = (
  ofKnown: boolean,
  respond: (request: RequestTo<'delete'>, clock: Clock) => ProxyResponse,
): TransformFactory =>
  withKnownUsers((request, isKnown, clock) =>
    isDeletion(request) && isKnown === ofKnown ? respond(request, clock) : undefined,
  );
