/** `DELETE /users/{user_id}`: its response, unknown users, and the users that remain (spec 2.9, 4.8). */
import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
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
  createAcceptedResponse,
  drop,
  type Edit,
  editAccepted,
  errorResponse,
  isAccepted as isAcceptedResponse,
  jsonResponse,
  replaceParts,
  respondInstead,
  set,
  to,
} from '../../engine/mutants/combinators.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../engine/mutants/requests.ts';
import type { MutantEntry, RequirementEntries } from '../../engine/requirement.ts';
import {
  type Exchange,
  isAccepted,
  isNotFound,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isConclusive } from '../../engine/transcript/repetitions.ts';
import type { SandboxContext } from '../sandbox-state.ts';
import { defineFields, missing } from '../fields.ts';
import { checkUserId, reportStatus, shareUserId } from './created.ts';
import { onDeletion } from './known-users.ts';
import { unlessAbsent } from './optional.ts';
import { create, createDeletion, createUserId, fullUser, isDeleteStep } from './requests.ts';

const remove = to('delete');
const isDeleteResponse = isObjectFrom('delete');
const notDeleted = explainNoValidResponse('delete');

const replies = (does: string, edit: Edit): MutantEntry => ({
  does,
  transform: editAccepted('delete', edit),
});

const fields = defineFields(
  {
    endpoint: 'delete',
    message: 'UserDeleted',
    name: 'delete response',
    reason: 'The service expects this type; it drops another value or ends the simulation.',
    probes: ['users/cleanup'],
    adapt: (check) => unlessAbsent('delete', check),
  },
  {
    'USERS-032': {
      at: '/deleted_at',
      rule: '`deleted_at` is an ISO 8601 string.',
      statements: ['2.9.22'],
      wrong: {
        'deleted-at-missing': ['Omits `deleted_at`.', missing],
        'deleted-at-null': ['Sends `deleted_at` as null.', null],
        'deleted-at-http-date': [
          'Sends `deleted_at` as an HTTP date.',
          'Fri, 20 Nov 2026 09:30:00 GMT',
        ],
      },
    },
    'USERS-033': {
      at: '/status',
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
    },
  },
);

export const deletionRequirements: RequirementEntries = {
  ...fields,
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
        does: 'Responds to a deletion with an empty 204.',
        transform: replaceParts(remove, { status: 204, headers: {}, body: '' }, isAcceptedResponse),
      },
      'delete-text': {
        does: 'Responds to a deletion with the text OK.',
        transform: replaceParts(remove, { body: 'OK' }, isAcceptedResponse),
      },
      'delete-500': {
        does: 'Responds to a deletion with 500.',
        transform: onDeletion(true, () => errorResponse(500, 'server_error')),
        alsoKills: ['USERS-010'],
      },
      'delete-403': {
        does: 'Responds to a deletion with 403.',
        transform: replaceParts(remove, { status: 403 }, isAcceptedResponse),
      },
    },
    legal: {
      'delete-absent-404': {
        does: 'Creates users but responds to deletions with 404.',
        transform: respondInstead(remove, () => jsonResponse(404, { detail: 'Not Found' })),
      },
      'delete-absent-405': {
        does: 'Creates users but responds to deletions with 405.',
        transform: respondInstead(remove, () =>
          jsonResponse(405, { detail: 'Method Not Allowed' }),
        ),
      },
      'deleted-stay-deleted': {
        does: 'Refuses to create a deleted user again.',
        transform: refuseDeletedUsers,
      },
    },
  },
  'USERS-031': {
    rule: '`user_id` of the delete response equals the one in the path.',
    statements: ['2.9.21'],
    reason: 'The service matches the response to the user by this id; another id confirms nothing.',
    probes: ['users/cleanup'],
    check: unlessAbsent('delete', checkUserId(isDeleteResponse, pathUserId, notDeleted)),
    mutants: {
      'deleted-id-missing': replies('Omits `user_id` from the delete response.', drop('/user_id')),
      'deleted-id-wrong': replies(
        'Sends the id of another user in the delete response.',
        set('/user_id', 'sim_user_other'),
      ),
      'deleted-swapped-in-overlap': {
        does: 'Keeps the deleted user in a variable that concurrent requests share.',
        transform: shareUserId('delete', userIdOf),
      },
    },
  },
  'USERS-034': {
    rule: "A delete request for an unknown user doesn't get a server error.",
    statements: ['4.8.1', '4.8.2', '7.b7'],
    reason:
      'The specification leaves the status open, but a server error means that the sandbox broke.',
    observability: 'provoked',
    probes: ['users/silences'],
    check: unlessAbsent('delete', checkUnknownUser()),
    mutants: {
      'unknown-500': {
        does: 'Responds with 500 to the deletion of an unknown user.',
        transform: onDeletion(false, () => errorResponse(500, 'server_error')),
      },
      'unknown-dropped': {
        does: 'Drops the connection at the deletion of an unknown user.',
        transform: dropUnknown,
      },
    },
    legal: {
      'unknown-200': {
        does: 'Responds to the deletion of an unknown user as if it existed.',
        transform: onDeletion(false, createAcceptedResponse),
      },
      'unknown-404': {
        does: 'Responds to the deletion of an unknown user with 404.',
        transform: onDeletion(false, () => jsonResponse(404, { detail: 'unknown' })),
      },
      'unknown-400': {
        does: 'Responds to the deletion of an unknown user with 400.',
        transform: onDeletion(false, () => jsonResponse(400, { detail: 'unknown' })),
      },
      'unknown-410': {
        does: 'Responds to the deletion of an unknown user with 410.',
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
};

/** Returns the user id of a path. A recording may have a path that can't be decoded; it stays as is. */
function pathUserId({ request: { path } }: Exchange): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** A deletion that failed may have deleted the user, so the repetition may find none. */
function isFirstDeletion(exchange: Exchange, transcript: Transcript): boolean {
  const hasFoundNone = exchange.repeats !== undefined && isNotFound(exchange);
  return isConclusive(exchange, transcript) && !hasFoundNone;
}

/** Requires that deleting an unknown user causes no server error. */
function checkUnknownUser(): Check {
  const isUnknown = isDeleteStep('unknown user');
  return checkEach(
    (exchange, transcript) => isUnknown(exchange) && isConclusive(exchange, transcript),
    (exchange) =>
      ((exchange.response?.status ?? 0) >= 500 && !isNotFound(exchange)) || !exchange.response
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
  const idOf = ({ sent }: Exchange): unknown => resolvePointer(sent, '/user_id');
  return {
    evidence: ({ exchanges }) => exchanges.filter(isCreated),
    judge(evidence, { exchanges }) {
      const isDeleted = (exchange: Exchange): boolean =>
        exchanges.some(
          (other) =>
            other.endpoint === 'delete' &&
            isAccepted(other) &&
            other.id > exchange.id &&
            pathUserId(other) === idOf(exchange),
        );
      const [first, ...more] = evidence.filter((exchange) => !isDeleted(exchange));
      if (!first) return [];
      const others = more.length === 0 ? '' : ` and ${more.length} more`;
      const received = `${formatValue(idOf(first))}${others} not deleted`;
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
    if (request.endpoint === 'delete' && isAcceptedResponse(response)) {
      deleted.add(userIdOf(request));
    }
    return response;
  };
}

/** Deletes a user twice and creates it again. */
export async function deleteAndCreateAgain(context: SandboxContext): Promise<void> {
  const request = { user_id: createUserId(context), ...fullUser };
  const created = await create(context, 'to be deleted', request);
  if (!created || !isAccepted(created)) return;
  const { existing } = context.users;
  const deleted = await context.send(createDeletion('delete', 'valid', request.user_id));
  if (deleted && isAccepted(deleted)) existing.delete(request.user_id);
  await context.send(createDeletion('deleted again', 'open', request.user_id));
  const exchange = await context.send({
    endpoint: 'create',
    step: 'created again',
    intent: 'open',
    body: { json: request },
  });
  if (exchange && isAccepted(exchange)) existing.add(request.user_id);
}

/** Deletes every user that the run created. */
export const cleanupProbe = {
  id: 'users/cleanup',
  area: 'users',
  phase: 'cleanup',
  alsoFor: ['chat', 'voice'],
  cleansUp: true,
  cost: (_prompts: readonly string[], users: number) => ({
    requests: users,
    modelCalls: 0,
    users: 0,
    calls: 0,
  }),
  async run(context: SandboxContext): Promise<void> {
    const { existing, wronglyAccepted } = context.users;
    await Promise.all([
      ...[...existing].map((id) => context.send(createDeletion('delete', 'valid', id))),
      ...[...wronglyAccepted]
        .filter((id) => !existing.has(id))
        .map((id) => context.send(createDeletion('stray', 'open', id))),
    ]);
  },
} as const;
