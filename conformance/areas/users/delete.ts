/** `DELETE /users/{user_id}`: its response, unknown users, and the users that remain (spec 2.9, 4.8). */
import { formatValue } from '../../../src/contract/index.ts';
import {
  type Check,
  checkEach,
  explainNoValidResponse,
  outcomeFinding,
  unjudgedAs,
} from '../../engine/checks/check.ts';
import { checkAccepted } from '../../engine/checks/responses.ts';
import { isObjectFrom } from '../../engine/checks/shape.ts';
import {
  drop,
  type Edit,
  editAccepted,
  isSuccess,
  jsonResponse,
  replaceParts,
  respondInstead,
  set,
  to,
} from '../../engine/mutants/combinators.ts';
import { createAcceptedResponse, errorResponse } from '../sandbox-responses.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../engine/mutants/requests.ts';
import type { MutantEntry, Subject } from '../../engine/requirement.ts';
import {
  type Exchange,
  isAccepted,
  isBroken,
  isNotFound,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isConclusive } from '../../engine/transcript/repetitions.ts';
import { fieldsOf, missing } from '../fields.ts';
import { hintForTime } from '../value-hints.ts';
import { reportStatus, unlessAbsent } from './absence.ts';
import { onDeletion } from './known-users.ts';
import { findDeletedLater } from './processes.ts';
import { findLeftoverUsers } from './leftover-users.ts';
import { isDeleteStep } from './requests.ts';
import { checkUserId, pathUserId, sentUserId, shareUserId } from './user-id.ts';

const isDelete = to('delete');
const notDeleted = explainNoValidResponse('delete');

const deleted = fieldsOf({
  endpoint: 'delete',
  message: 'UserDeleted',
  noun: 'delete response',
  probes: ['users/cleanup'],
  wrapCheck: (check) => unlessAbsent('delete', check),
});

const replies = (description: string, edit: Edit): MutantEntry => ({
  description,
  transform: editAccepted('delete', edit),
});

export const deletion: Subject = {
  requirements: {
    'USERS-030': {
      rule: 'A delete request gets a 2xx response with a JSON object.',
      statements: ['4.8.1', '4.8.2', '3.2.2'],
      reason:
        "The service looks for the confirmation in the body; an empty 204 doesn't confirm the deletion.",
      probes: ['users/forms', 'users/cleanup'],
      check: unlessAbsent(
        'delete',
        checkAccepted('delete', () => true, notDeleted, isFirstDeletion),
      ),
      mutants: {
        'delete-204': {
          description: 'Responds to a deletion with an empty 204.',
          transform: replaceParts(isDelete, { status: 204, headers: {}, body: '' }, isSuccess),
        },
        'delete-text': {
          description: 'Responds to a deletion with the text OK.',
          transform: replaceParts(isDelete, { body: 'OK' }, isSuccess),
        },
        'delete-500': {
          description: 'Responds to a deletion with 500.',
          transform: onDeletion(true, () => errorResponse(500, 'server_error')),
          alsoKills: ['USERS-010'],
        },
        'delete-403': {
          description: 'Responds to a deletion with 403.',
          transform: replaceParts(isDelete, { status: 403 }, isSuccess),
        },
      },
    },
    'USERS-031': {
      rule: '`user_id` of the delete response equals the one in the path.',
      statements: ['2.9.21'],
      reason:
        'The service matches the response to the user by this id; another id confirms nothing.',
      probes: ['users/cleanup'],
      check: unlessAbsent('delete', checkUserId(isObjectFrom('delete'), pathUserId, notDeleted)),
      mutants: {
        'deleted-id-missing': replies(
          'Omits `user_id` from the delete response.',
          drop('/user_id'),
        ),
        'deleted-id-wrong': replies(
          'Sends the id of another user in the delete response.',
          set('/user_id', 'sim_user_other'),
        ),
        'deleted-swapped-in-overlap': {
          description: 'Keeps the deleted user in a variable that concurrent requests share.',
          transform: shareUserId('delete', userIdOf),
        },
      },
    },
    'USERS-032': deleted('/deleted_at', {
      rule: '`deleted_at` is an ISO 8601 string.',
      statements: ['2.9.22'],
      hint: hintForTime,
      wrong: {
        'deleted-at-missing': ['Omits `deleted_at`.', missing],
        'deleted-at-null': ['Sends `deleted_at` as null.', null],
        'deleted-at-http-date': [
          'Sends `deleted_at` as an HTTP date.',
          'Fri, 20 Nov 2026 09:30:00 GMT',
        ],
      },
    }),
    'USERS-033': deleted('/status', {
      rule: '`status` of the delete response is `deleted`.',
      statements: ['2.9.23', '3.2.2'],
      reason: 'Only this value confirms the deletion.',
      wrong: {
        'deleted-status-missing': ['Omits `status` from the delete response.', missing],
        'deleted-status-inactive': [
          'Sends the status "inactive" in the delete response.',
          'inactive',
        ],
        'deleted-status-true': ['Sends `status` of the delete response as a boolean.', true],
      },
    }),
    'USERS-034': {
      rule: "A delete request for an unknown user doesn't get a server error.",
      statements: ['4.8.1', '4.8.2', '7.b7'],
      reason:
        'The specification leaves the status open, but a server error means that the sandbox broke.',
      observability: 'provoked',
      probes: ['users/refusals'],
      check: unlessAbsent('delete', checkUnknownUser()),
      mutants: {
        'unknown-500': {
          description: 'Responds with 500 to the deletion of an unknown user.',
          transform: onDeletion(false, () => errorResponse(500, 'server_error')),
        },
        'unknown-dropped': {
          description: 'Drops the connection at the deletion of an unknown user.',
          transform: dropUnknown,
        },
      },
      legal: {
        'unknown-200': {
          description: 'Responds to the deletion of an unknown user as if it existed.',
          transform: onDeletion(false, createAcceptedResponse),
        },
        'unknown-404': {
          description: 'Responds to the deletion of an unknown user with 404.',
          transform: onDeletion(false, () => jsonResponse(404, { detail: 'unknown' })),
        },
        'unknown-400': {
          description: 'Responds to the deletion of an unknown user with 400.',
          transform: onDeletion(false, () => jsonResponse(400, { detail: 'unknown' })),
        },
        'unknown-410': {
          description: 'Responds to the deletion of an unknown user with 410.',
          transform: onDeletion(false, () => jsonResponse(410, {})),
        },
      },
    },
    'USERS-081': {
      level: 'may',
      rule: '`DELETE /users/{user_id}` succeeds with any 2xx status.',
      statements: ['4.8.3'],
      reason: "The specification doesn't state the status, so it is only reported.",
      probes: ['users/cleanup'],
      check: reportStatus('delete'),
    },
    'USERS-082': {
      level: 'may',
      rule: 'Every user that the check creates is deleted at the end.',
      statements: ['3.2.5'],
      reason:
        'Users that remain clutter the sandbox. Deletion is optional, so they are only reported.',
      probes: ['users/forms'],
      check: checkLeftoverUsers(),
    },
  },
  legal: {
    'delete-absent-404': {
      description: 'Creates users but responds to deletions with 404.',
      transform: respondInstead(isDelete, () => jsonResponse(404, { detail: 'Not Found' })),
    },
    'delete-absent-405': {
      description: 'Creates users but responds to deletions with 405.',
      transform: respondInstead(isDelete, () =>
        jsonResponse(405, { detail: 'Method Not Allowed' }),
      ),
    },
    'deleted-stay-deleted': {
      description: 'Refuses to create a deleted user again.',
      transform: refuseDeletedUsers,
    },
  },
};

/** A deletion that failed may have deleted the user, so the repetition may find none. */
function isFirstDeletion(exchange: Exchange, transcript: Transcript): boolean {
  const hasFoundNone = exchange.repeats !== undefined && isNotFound(exchange);
  const isFoundLater = findDeletedLater(exchange, transcript) !== undefined;
  return isConclusive(exchange, transcript) && !hasFoundNone && !isFoundLater;
}

/** Requires that deleting an unknown user causes no server error. */
function checkUnknownUser(): Check {
  const isUnknown = isDeleteStep('unknown user');
  return checkEach(
    (exchange, transcript) => isUnknown(exchange) && isConclusive(exchange, transcript),
    (exchange) =>
      isBroken(exchange)
        ? [
            outcomeFinding(
              exchange,
              'a response without a server error',
              'Respond to an unknown id with 404.',
            ),
          ]
        : [],
    notDeleted,
  );
}

/** Reports the users that the check created and didn't delete. */
function checkLeftoverUsers(): Check {
  const isCreated = (exchange: Exchange): boolean =>
    exchange.endpoint === 'create' && isAccepted(exchange);
  return {
    evidence: ({ exchanges }) => exchanges.filter(isCreated),
    judge(evidence, transcript) {
      const leftovers = new Set(findLeftoverUsers(transcript));
      const [first, ...more] = evidence.filter((exchange) => leftovers.has(exchange));
      if (!first) return [];
      const others = more.length === 0 ? '' : ` and ${more.length} more`;
      const received = `${formatValue(sentUserId(first))}${others} not deleted`;
      return [
        {
          exchange: first.id,
          pointer: '',
          expected: 'every created user is deleted at the end',
          received,
        },
      ];
    },
    unjudged: unjudgedAs('not_applicable', 'The check created no user.'),
  };
}

/** Drops the connection of a deletion whose user is unknown. */
function dropUnknown(): ReturnType<TransformFactory> {
  const inner = onDeletion(false, () => jsonResponse(599, {}))();
  return async (request, forward, clock) => {
    const reply = await inner(request, forward, clock);
    return reply !== 'dropped' && reply.status === 599 ? 'dropped' : reply;
  };
}

function refuseDeletedUsers(): ReturnType<TransformFactory> {
  const deleted = new Set<string>();
  return async (request, forward) => {
    const userId = stringAt('user_id', request) ?? '';
    if (request.endpoint === 'create' && deleted.has(userId)) {
      return errorResponse(409, 'user_exists');
    }
    const response = await forward(request);
    if (request.endpoint === 'delete' && isSuccess(response)) {
      deleted.add(userIdOf(request));
    }
    return response;
  };
}
