/** Users that one process of a sandbox knows and another one doesn't (spec 3.2, 4.8). */
import { type Check, checkEach, explainNoValidResponse } from '../../engine/checks/check.ts';
import { isSuccess, to } from '../../engine/mutants/combinators.ts';
import { errorResponse } from '../sandbox-responses.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../engine/mutants/requests.ts';
import type { Subject } from '../../engine/requirement.ts';
import {
  describeOutcome,
  isAccepted,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { unlessAbsent } from './absence.ts';
import { isDeleteStep, SENT_AGAIN } from './requests.ts';
import { pathUserId, sentUserId } from './user-id.ts';

/** Advice about a user that only some requests find. */
export const PROCESSES_HINT =
  "State per process? Keep users in a store that all processes share, or run one process; don't cache that a user is unknown.";

const isSentAgain = isDeleteStep(SENT_AGAIN);

/**
 * Returns the exchange where a previously refused delete request succeeded; undefined if none
 * did, or if the user was created again in between.
 */
export function findDeletedLater(
  exchange: Exchange,
  { exchanges }: Transcript,
): Exchange | undefined {
  if (exchange.endpoint !== 'delete' || isAccepted(exchange)) return undefined;
  const userId = pathUserId(exchange);
  const later = exchanges.find(
    (other) =>
      other.id > exchange.id &&
      isSentAgain(other) &&
      isAccepted(other) &&
      pathUserId(other) === userId,
  );
  const isCreatedBetween = exchanges.some(
    (other) =>
      other.endpoint === 'create' &&
      other.id > exchange.id &&
      other.id < (later?.id ?? 0) &&
      sentUserId(other) === userId,
  );
  return isCreatedBetween ? undefined : later;
}

function checkProcesses(): Check {
  return checkEach(
    (exchange, transcript) =>
      exchange.endpoint === 'delete' &&
      exchange.intent === 'valid' &&
      (isAccepted(exchange) || findDeletedLater(exchange, transcript) !== undefined),
    (exchange, transcript) => {
      const later = findDeletedLater(exchange, transcript);
      if (!later) return [];
      return [
        {
          exchange: exchange.id,
          pointer: '',
          expected: 'the same response on every connection: the user exists',
          received: `${describeOutcome(exchange)}, then ${describeOutcome(later)} to the same request (exchange ${later.id})`,
          hint: PROCESSES_HINT,
        },
      ];
    },
    explainNoValidResponse('delete'),
  );
}

/** Knows a user only in every second request after its creation, as one of two processes would. */
function forgetEverySecond(): ReturnType<TransformFactory> {
  const asked = new Map<string, number>();
  return async (request, forward) => {
    const id = stringAt('user_id', request) ?? '';
    if (to('create')(request)) {
      const response = await forward(request);
      if (isSuccess(response) && asked.size % 2 === 0) asked.set(id, 0);
      else if (isSuccess(response)) asked.set(id, 1);
      return response;
    }
    if (!to('delete')(request)) return forward(request);
    const count = asked.get(userIdOf(request));
    if (count !== 0) return forward(request);
    asked.set(userIdOf(request), 1);
    return errorResponse(404, 'bad_request');
  };
}

export const processes: Subject = {
  requirements: {
    'USERS-036': {
      rule: 'A user that exists is found by every delete request, on any connection.',
      statements: ['3.2.2', '4.8.2'],
      reason:
        'The service opens new connections all the time; a user that only some of them find ends simulations at random.',
      probes: ['users/cleanup'],
      check: unlessAbsent('delete', checkProcesses()),
      mutants: {
        'users-per-process': {
          description: 'Finds a user to delete only in the process that created it.',
          transform: forgetEverySecond,
        },
      },
    },
  },
};
