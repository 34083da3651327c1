/** The response to `POST /users` (spec 2.9). */
import { resolvePointer } from '../../../src/contract/index.ts';
import { type Check, explainNoValidResponse } from '../../engine/checks/check.ts';
import { isObjectFrom } from '../../engine/checks/shape.ts';
import {
  chain,
  changeResponse,
  drop,
  editAccepted,
  isSuccess,
  replaceParts,
  set,
  to,
  type Edit,
} from '../../engine/mutants/combinators.ts';
import type { ProxyRequest } from '../../engine/mutants/mutant.ts';
import { stringAt } from '../../engine/mutants/requests.ts';
import type { DistortionEntry, Subject } from '../../engine/requirement.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { fieldNames } from '../field-names.ts';
import { fieldsOf, missing } from '../fields.ts';
import { hintForNumber, hintForTime } from '../value-hints.ts';
import { reportStatus, unlessAbsent } from './absence.ts';
import { isAboutUsers } from './requests.ts';
import { checkUserId, sentUserId, shareUserId } from './user-id.ts';

const created = fieldsOf({
  endpoint: 'create',
  message: 'UserCreated',
  noun: 'create response',
  probes: ['preflight'],
  wrapCheck: (check) => unlessAbsent('create', check),
});

const replies = (description: string, ...edits: Edit[]): DistortionEntry => ({
  description,
  transform: editAccepted('create', ...edits),
});

const sendsStatus = (status: number): DistortionEntry => ({
  description: `Responds to creations and deletions with ${status}.`,
  transform: replaceParts(isAboutUsers, { status }, isSuccess),
});

export const createResponse: Subject = {
  requirements: {
    'USERS-020': created('/user_id', {
      rule: 'The create response has a `user_id` string.',
      statements: ['2.9.13'],
      hint: hintForNumber,
      wrong: {
        'user-id-missing': ['Omits `user_id` from the create response.', missing],
        'user-id-a-number': ['Sends `user_id` as a number.', 17],
      },
      mutants: {
        'created-in-user': {
          description: 'Wraps the response to creations in `user`.',
          transform: changeResponse(to('create'), (response) =>
            isSuccess(response) ? { ...response, body: `{"user":${response.body}}` } : response,
          ),
          alsoKills: ['USERS-022', 'USERS-023'],
        },
      },
    }),
    'USERS-021': {
      rule: '`user_id` of the create response equals the one in the request.',
      statements: ['2.9.14', '2.9.13'],
      reason: 'The service sends this id with every turn; another id names another user.',
      probes: ['preflight'],
      check: unlessAbsent('create', checkUserId(hasCreatedId, sentUserId, noCreatedId)),
      mutants: {
        'user-id-its-own': replies(
          'Replaces the user id with its own.',
          set('/user_id', '7f9c24e8'),
        ),
        'user-id-lower-case': replies(
          'Sends the user id in lowercase.',
          set('/user_id', (request: ProxyRequest) => stringAt('user_id', request)?.toLowerCase()),
        ),
        'users-swapped-in-overlap': {
          description: 'Keeps the created user in a variable that concurrent requests share.',
          transform: shareUserId('create', (request) => stringAt('user_id', request)),
        },
      },
    },
    'USERS-022': created('/created_at', {
      rule: '`created_at` is an ISO 8601 string.',
      statements: ['2.9.15'],
      hint: hintForTime,
      wrong: {
        'created-at-missing': ['Omits `created_at`.', missing],
        'created-at-unix': ['Sends `created_at` as Unix time.', 1_795_167_000],
        'created-at-space': [
          'Sends `created_at` with a space between date and time.',
          '2026-11-20 09:30:00',
        ],
        'created-at-empty': ['Sends `created_at` as an empty string.', ''],
      },
    }),
    'USERS-023': created('/status', {
      rule: '`status` of the create response is `active`, `inactive`, or `pending`.',
      statements: ['2.9.16', '2.9.17', '3.2.1'],
      wrong: {
        'status-missing': ['Omits `status` from the create response.', missing],
        'status-created': ['Sends the status "created".', 'created'],
        'status-capital': ['Sends the status "Active", capitalized.', 'Active'],
      },
      legal: {
        inactive: replies('Creates inactive users.', set('/status', 'inactive')),
        pending: replies('Creates pending users.', set('/status', 'pending')),
      },
    }),
    'USERS-024': created('/session_id', {
      rule: '`session_id` of the create response is a string, if present.',
      statements: ['2.9.18'],
      wrong: { 'session-id-null': ['Sends `session_id` as null.', null] },
    }),
    'USERS-025': created('/profile_id', {
      rule: '`profile_id` is a string, if present.',
      statements: ['2.9.19'],
      wrong: { 'profile-id-a-number': ['Sends `profile_id` as a number.', 4] },
    }),
    'USERS-026': created('/capabilities', {
      withItems: true,
      rule: '`capabilities` is an array of strings, if present.',
      statements: ['2.9.20'],
      wrong: {
        'capabilities-a-string': ['Sends `capabilities` as a string.', 'chat'],
        'capabilities-objects': ['Sends `capabilities` as an array of objects.', [{ chat: true }]],
      },
      legal: {
        'capabilities-empty': replies('Sends an empty `capabilities`.', set('/capabilities', [])),
      },
    }),
    'USERS-027': fieldNames({
      rule: 'The optional fields of the create response have the names of the specification, such as `profile_id`.',
      statements: ['2.9.18', '2.9.19'],
      probes: ['preflight'],
      isResponse: isObjectFrom('create'),
      unjudged: explainNoValidResponse('create'),
      wrapCheck: (check) => unlessAbsent('create', check),
      mutants: {
        'profile-id-camel-case': replies(
          'Sends `profileId`.',
          drop('/profile_id'),
          set('/profileId', 'profile-1'),
        ),
      },
    }),
    'USERS-080': {
      level: 'may',
      rule: '`POST /users` succeeds with any 2xx status.',
      statements: ['4.7.8'],
      reason: "The specification doesn't state the status, so it is only reported.",
      probes: ['preflight'],
      check: reportStatus('create'),
    },
  },
  legal: {
    bare: {
      description: 'Sends only the required fields.',
      transform: chain(editAccepted('create', dropOptional), editAccepted('delete', dropOptional)),
    },
    'extra-fields': {
      description: 'Sends unknown fields.',
      transform: chain(
        editAccepted('create', set('/metadata', { any: null }), set('/id', 7)),
        editAccepted('delete', set('/already', false)),
      ),
    },
    everything: replies(
      'Sends every optional field.',
      set('/session_id', 'session-1'),
      set('/profile_id', 'profile-1'),
      set('/capabilities', ['chat', 'voice']),
    ),
    200: sendsStatus(200),
    202: sendsStatus(202),
    '201-twice': sendsStatus(201),
  },
};

function hasCreatedId(exchange: Exchange): boolean {
  return (
    isObjectFrom('create')(exchange) &&
    typeof resolvePointer(exchange.json, '/user_id') === 'string'
  );
}

function noCreatedId(transcript: Transcript): ReturnType<Check['unjudged']> {
  return transcript.exchanges.some(isObjectFrom('create'))
    ? { verdict: 'blocked', reason: 'No create response has `user_id`, a string.' }
    : explainNoValidResponse('create')(transcript);
}

function dropOptional(body: Record<string, unknown>): void {
  const required = ['user_id', 'created_at', 'deleted_at', 'status'];
  for (const key of Object.keys(body)) {
    if (!required.includes(key)) Reflect.deleteProperty(body, key);
  }
}
