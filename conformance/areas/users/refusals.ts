/** Create requests that are refused: malformed ones, and those for an existing user (spec 2.9, 7). */
import { resolvePointer, USER_ID_LENGTH_MAX } from '../../../src/contract/index.ts';
import { explainNoValidResponse } from '../../engine/checks/check.ts';
import { checkRefused } from '../../engine/checks/responses.ts';
import {
  createAcceptedResponse,
  errorResponse,
  isError,
  refuseInstead,
  replaceParts,
  to,
} from '../../engine/mutants/combinators.ts';
import { cost } from '../../engine/probe.ts';
import { type RequestEdit, remove, replaceType, replaceValue } from '../../engine/request-edit.ts';
import type { RequirementEntries } from '../../engine/requirement.ts';
import { type Exchange, isAccepted } from '../../engine/transcript/reading.ts';
import { defineRefusals, notAnObject } from '../refusals.ts';
import type { SandboxContext } from '../sandbox-state.ts';
import { onDuplicate, onDuplicates } from './known-users.ts';
import { unlessAbsent } from './optional.ts';
import { create, createUserId, fullUser } from './requests.ts';

const TYPE_HINT = { accepted: "Check that `user_id` is a string, and don't convert other types." };
const CHARACTERS_HINT = {
  accepted: 'Match the whole id, not a part of it, against letters, digits, and underscores.',
};

/** Puts a character into the id. */
const idWith = (
  character: string,
  name: string,
  change = (id: string) => `${id.slice(0, 12)}${character}${id.slice(0, 12)}`,
): RequestEdit => ({
  ...replaceValue('/user_id', change, (id) => typeof id === 'string' && id.includes(character)),
  name,
});

const noString = {
  'user_id a number': replaceType('/user_id', 12345),
  'user_id null': replaceType('/user_id', null),
};

const refusals = defineRefusals(
  {
    endpoint: 'create',
    probe: 'users/refusals',
    reason:
      'An id that is accepted here may be refused or changed by other parts of the interface.',
    unjudged: explainNoValidResponse('create'),
    adapt: (check) => unlessAbsent('create', check),
  },
  {
    'USERS-060': {
      rule: 'A create request without `user_id` gets a 400 response.',
      statements: ['2.9.1', '7.b3'],
      hint: TYPE_HINT,
      edits: { 'user_id missing': remove('/user_id') },
      mutants: {
        'errors-with-200': {
          does: 'Sends the errors of creations with 200.',
          transform: replaceParts(to('create'), { status: 200 }, isError),
          alsoKills: ['USERS-061', 'USERS-062', 'USERS-063', 'USERS-064', 'USERS-065', 'USERS-066'],
        },
      },
    },
    'USERS-061': {
      rule: 'A create request whose `user_id` is not a string gets a 400 response.',
      statements: ['2.9.1', '2.9.2', '7.b3', '7.b5', '4.7.7'],
      hint: TYPE_HINT,
      edits: noString,
      mutants: {
        'null-id-500': {
          does: 'Responds with 500 if `user_id` is null.',
          transform: refuseInstead(
            to('create', noString['user_id null'].isIn),
            500,
            'server_error',
          ),
        },
      },
    },
    'USERS-062': {
      rule: 'A `user_id` with a hyphen, space, dot, slash, or line break gets a 400 response.',
      statements: ['2.9.2', '4.7.7', '7.b5'],
      hint: CHARACTERS_HINT,
      edits: {
        'user_id with a hyphen': idWith('-', 'hyphen'),
        'user_id with a space': idWith(' ', 'space'),
        'user_id with a dot': idWith('.', 'dot'),
        'user_id with a slash': idWith('/', 'slash'),
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
          ...replaceValue(
            '/user_id',
            (id: string) => id.padEnd(USER_ID_LENGTH_MAX + 1, '0'),
            (id) => typeof id === 'string' && id.length > USER_ID_LENGTH_MAX,
          ),
          name: '65-characters',
        },
      },
    },
    'USERS-064': {
      rule: 'An empty `user_id` gets a 400 response.',
      statements: ['2.9.2', '4.7.7', '7.b5'],
      hint: { accepted: 'Check that the id has at least one character.' },
      edits: { 'user_id empty': { ...replaceValue('/user_id', ''), name: 'empty-id' } },
    },
    'USERS-065': {
      rule: 'A create request whose body is not a JSON object gets a 400 response.',
      statements: ['4.7.4', '7.b3'],
      ...notAnObject,
    },
  },
);

/** Recognizes a malformed create request. */
export const { isMalformed } = refusals;

const duplicates: RequirementEntries = {
  'USERS-066': {
    rule: 'A create request for an existing user gets a 4xx response.',
    section: '7',
    statements: ['4.7.6', '7.b8'],
    reason: 'Two simulations would share one user.',
    observability: 'provoked',
    probes: ['users/refusals'],
    check: unlessAbsent(
      'create',
      checkRefused('create', ['duplicate'], undefined, explainNoValidResponse('create'), {
        duplicate: {
          accepted:
            'Look up the id before you create the user; if it exists, respond with 409 and the code user_exists.',
          crashed: 'Catch the conflict of ids and respond with 409 and the code user_exists.',
        },
      }),
    ),
    mutants: {
      'accepts-duplicates': {
        does: 'Accepts a create request for an existing user.',
        transform: onDuplicate(createAcceptedResponse),
      },
      'duplicate-500': {
        does: 'Responds with 500 if the user exists.',
        transform: onDuplicates(500),
      },
    },
    legal: {
      'duplicate-400': { does: 'Refuses duplicates with 400.', transform: onDuplicates(400) },
      'duplicate-409': { does: 'Refuses duplicates with 409.', transform: onDuplicates(409) },
      'duplicate-422': { does: 'Refuses duplicates with 422.', transform: onDuplicates(422) },
      'duplicate-limited': {
        does: 'Sends a 429 to the first duplicate.',
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
};

export const refusalRequirements: RequirementEntries = { ...refusals.requirements, ...duplicates };

/** Sends a request that succeeds, then the same with one edit at a time, and the same again. */
export const refusalsProbe = {
  id: 'users/refusals',
  area: 'users',
  phase: 'refused',
  cost: cost(Object.keys(refusals.edits).length + 2, 0, 1),
  async run(context: SandboxContext): Promise<void> {
    if (context.users.isUnsupported) return;
    const request = { user_id: createUserId(context), ...fullUser };
    const control = await create(context, 'control', request);
    if (!control) return;
    const refuse = (step: string, body: ReturnType<RequestEdit['edit']>) =>
      context.send({ endpoint: 'create', step, intent: 'refuse', control, body });
    await Promise.all([
      ...Object.entries(refusals.edits).map(async ([step, { edit }]) => {
        remember(context, await refuse(step, edit(request)));
      }),
      refuse('duplicate', { json: request }),
    ]);
  },
} as const;

/** Remembers a user that should not have been created, so that cleanup deletes it. */
export function remember(context: SandboxContext, exchange: Exchange | undefined): void {
  const id =
    exchange && isAccepted(exchange) ? resolvePointer(exchange.json, '/user_id') : undefined;
  if (typeof id === 'string' && id !== '') context.users.wronglyAccepted.add(id);
}
