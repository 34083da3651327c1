/** Create requests that are refused: malformed ones, and those for an existing user (spec 2.9, 7). */
import { USER_ID_LENGTH_MAX } from '../../../src/contract/index.ts';
import { explainNoValidResponse } from '../../engine/checks/check.ts';
import { malformedBodyHint } from '../../engine/checks/refusal-hints.ts';
import { checkRefused } from '../../engine/checks/responses.ts';
import { isError, isSuccess, replaceParts, to } from '../../engine/mutants/combinators.ts';
import { createAcceptedResponse, errorResponse, refuseInstead } from '../sandbox-responses.ts';
import {
  bodyEdits,
  change,
  remove,
  replace,
  replaceType,
  type RequestEdit,
} from '../../engine/request-edit.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import { stringAt, userIdOf } from '../../engine/mutants/requests.ts';
import type { Subject } from '../../engine/requirement.ts';
import { defineRefusals } from '../refusals.ts';
import { unlessAbsent } from './absence.ts';
import { onDuplicate, onDuplicates } from './known-users.ts';
import { DUPLICATE, FIRST_AGAIN, REFUSE_DUPLICATE } from './requests.ts';

const isCreation = to('create');
const isDeletion = to('delete');

const TYPE_HINT = { accepted: "Check that `user_id` is a string, and don't convert other types." };
const CHARACTERS_HINT = {
  accepted: 'Match the whole id, not a part of it, against letters, digits, and underscores.',
};

const changeId = (edit: (id: string) => string, matches: (id: string) => boolean): RequestEdit =>
  change(
    '/user_id',
    (id) => edit(String(id)),
    (id) => typeof id === 'string' && matches(id),
  );

/** Changes the id to one with a character that is not allowed. */
const idWith = (
  character: string,
  name: string,
  edit = (id: string) => `${id.slice(0, 12)}${character}${id.slice(0, 12)}`,
): RequestEdit => ({
  ...changeId(edit, (id) => id.includes(character)),
  name,
});

const nullId = replaceType('/user_id', null);

/** Create requests one edit away from a valid one. */
export const malformed = defineRefusals(
  {
    endpoint: 'create',
    probes: ['users/refusals'],
    reason:
      'An id that is accepted here may be refused or changed by other parts of the interface.',
    wrapCheck: (check) => unlessAbsent('create', check),
    notAnObject: 'USERS-065',
  },
  {
    'USERS-060': {
      rule: 'A create request without `user_id` gets a 400 response.',
      statements: ['2.9.1', '7.b3'],
      hint: TYPE_HINT,
      edits: { 'user_id missing': remove('/user_id') },
    },
    'USERS-061': {
      rule: 'A create request whose `user_id` is not a string gets a 400 response.',
      statements: ['2.9.1', '2.9.2', '7.b3', '7.b5', '4.7.7'],
      hint: TYPE_HINT,
      edits: { 'user_id a number': replaceType('/user_id', 12345), 'user_id null': nullId },
      mutants: {
        'null-id-500': {
          description: 'Responds with 500 if `user_id` is null.',
          transform: refuseInstead(to('create', nullId.isIn), 500, 'server_error'),
        },
      },
    },
    'USERS-062': {
      rule: 'A `user_id` with a hyphen, space, dot, slash, bracket, or line break gets a 400 response.',
      statements: ['2.9.2', '4.7.7', '7.b5'],
      hint: CHARACTERS_HINT,
      edits: {
        'user_id with a hyphen': idWith('-', 'hyphen'),
        'user_id with a space': idWith(' ', 'space'),
        'user_id with a dot': idWith('.', 'dot'),
        'user_id with a slash': idWith('/', 'slash'),
        // Between uppercase and lowercase letters in ASCII, where [A-z] accepts it.
        'user_id with a bracket': idWith('[', 'bracket'),
        'user_id with a line break': {
          ...idWith('\n', 'line-break', (id) => `${id}\n`),
          hint: {
            accepted:
              'Match the whole id: in many languages, $ also matches before a final line break.',
          },
        },
      },
    },
    'USERS-063': {
      rule: 'A `user_id` of 65 characters gets a 400 response.',
      statements: ['2.9.3', '4.7.7', '7.b5', '8.b9'],
      hint: { accepted: 'Check that the id has at most 64 characters.' },
      edits: {
        'user_id of 65 characters': {
          ...changeId(
            (id) => id.padEnd(USER_ID_LENGTH_MAX + 1, '0'),
            (id) => id.length > USER_ID_LENGTH_MAX,
          ),
          name: '65-characters',
        },
      },
    },
    'USERS-064': {
      rule: 'An empty `user_id` gets a 400 response.',
      statements: ['2.9.2', '4.7.7', '7.b5'],
      hint: { accepted: 'Check that the id has at least one character.' },
      edits: { 'user_id empty': { ...replace('/user_id', ''), name: 'empty-id' } },
    },
    'USERS-065': {
      rule: 'A create request whose body is not a JSON object gets a 400 response.',
      statements: ['4.7.4', '7.b3'],
      hint: malformedBodyHint,
      edits: bodyEdits,
    },
  },
);

const DUPLICATE_CRASHED = `Catch the conflict of ids, and ${REFUSE_DUPLICATE}.`;

/** Create requests for a user that exists. */
export const duplicates: Subject = {
  requirements: {
    'USERS-066': {
      rule: 'A create request for an existing user gets a 4xx response.',
      section: '7',
      statements: ['4.7.6', '7.b8'],
      reason: 'Two simulations would share one user.',
      observability: 'provoked',
      probes: ['users/refusals', 'users/after'],
      check: unlessAbsent(
        'create',
        checkRefused(
          'create',
          [DUPLICATE, FIRST_AGAIN],
          undefined,
          explainNoValidResponse('create'),
          {
            [DUPLICATE]: {
              accepted: `Look up the id before you create the user, in a store that all processes share, and delete no user because of a part of its id. If the user exists, ${REFUSE_DUPLICATE}.`,
              crashed: DUPLICATE_CRASHED,
            },
            [FIRST_AGAIN]: {
              accepted: `Remember every user until it is deleted, however many there are. If the user exists, ${REFUSE_DUPLICATE}.`,
              crashed: DUPLICATE_CRASHED,
            },
          },
        ),
      ),
      mutants: {
        'accepts-duplicates': {
          description: 'Accepts a create request for an existing user.',
          transform: onDuplicate(createAcceptedResponse),
        },
        'deletes-by-the-end-of-an-id': {
          description: 'Also deletes every user whose id ends with the one in the path.',
          transform: deleteByEnd,
        },
        'forgets-older-users': {
          description: 'Creates a user again if 16 others were created after it.',
          transform: forgetOlder,
        },
        'duplicate-500': {
          description: 'Responds with 500 if the user exists.',
          transform: onDuplicates(500),
        },
      },
      legal: {
        'duplicate-400': {
          description: 'Refuses duplicates with 400.',
          transform: onDuplicates(400),
        },
        'duplicate-409': {
          description: 'Refuses duplicates with 409.',
          transform: onDuplicates(409),
        },
        'duplicate-422': {
          description: 'Refuses duplicates with 422.',
          transform: onDuplicates(422),
        },
        'duplicate-limited': {
          description: 'Sends a 429 to the first duplicate.',
          transform() {
            let isLimited = false;
            return onDuplicate(() => {
              if (isLimited) return undefined;
              isLimited = true;
              const { headers, ...response } = errorResponse(429, 'rate_limit_exceeded');
              return { ...response, headers: { ...headers, 'retry-after': '0' } };
            })();
          },
        },
      },
    },
  },
  mutants: {
    'errors-with-200': {
      description: 'Sends the errors of creations with 200.',
      transform: replaceParts(to('create'), { status: 200 }, isError),
      kills: [
        'USERS-060',
        'USERS-061',
        'USERS-062',
        'USERS-063',
        'USERS-064',
        'USERS-065',
        'USERS-066',
      ],
    },
  },
};

/** Remembers only the newest 16 users. */
function forgetOlder(): ReturnType<TransformFactory> {
  const created: string[] = [];
  return async (request, forward, clock) => {
    const response = await forward(request);
    const id = stringAt('user_id', request);
    if (!isCreation(request) || id === undefined) return response;
    if (isSuccess(response)) created.push(id);
    else if (created.slice(0, -16).includes(id)) return createAcceptedResponse(request, clock);
    return response;
  };
}

/** Forgets users whose id ends with a deleted one, so that they can be created again. */
function deleteByEnd(): ReturnType<TransformFactory> {
  const existing = new Set<string>();
  const lost = new Set<string>();
  return async (request, forward, clock) => {
    const created = isCreation(request) ? stringAt('user_id', request) : undefined;
    if (isCreation(request) && created !== undefined && lost.delete(created)) {
      existing.add(created);
      return createAcceptedResponse(request, clock);
    }
    const response = await forward(request);
    if (created !== undefined && isSuccess(response)) existing.add(created);
    if (isDeletion(request)) {
      const deleted = userIdOf(request);
      existing.delete(deleted);
      lost.delete(deleted);
      for (const other of existing) {
        if (other.endsWith(deleted) && existing.delete(other)) lost.add(other);
      }
    }
    return response;
  };
}
