/** The response to `POST /users` (spec 2.9). */
import { formatValue, resolvePointer } from '../../../src/contract/index.ts';
import { type Check, checkEach, explainNoValidResponse } from '../../engine/checks/check.ts';
import { isObjectFrom } from '../../engine/checks/shape.ts';
import {
  changeResponse,
  createOverlap,
  type Edit,
  editAccepted,
  editBody,
  isAccepted as isAcceptedResponse,
  replaceParts,
  set,
  to,
  type When,
} from '../../engine/mutants/combinators.ts';
import type { ProxyRequest, TransformFactory } from '../../engine/mutants/mutant.ts';
import { stringAt } from '../../engine/mutants/requests.ts';
import type { DistortionEntry, RequirementEntries } from '../../engine/requirement.ts';
import { type Exchange, isAccepted } from '../../engine/transcript/reading.ts';
import { defineFields, missing } from '../fields.ts';
import { unlessAbsent } from './optional.ts';

const isCreateResponse = isObjectFrom('create');
const notCreated = explainNoValidResponse('create');

const replies = (does: string, ...edits: Edit[]): DistortionEntry => ({
  does,
  transform: editAccepted('create', ...edits),
});

const inBoth = (does: string, edit: Edit): DistortionEntry => ({
  does,
  transform: changeResponse(users, (response, request) =>
    isAcceptedResponse(response) ? editBody(response, request, edit) : response,
  ),
});

const users: When = (request) => to('create')(request) || to('delete')(request);
const withStatus = (status: number): DistortionEntry => ({
  does: `Responds to creations and deletions with ${status}.`,
  transform: replaceParts(users, { status }, isAcceptedResponse),
});

const fields = defineFields(
  {
    endpoint: 'create',
    message: 'UserCreated',
    name: 'create response',
    reason: 'The service expects this type; it drops another value or ends the simulation.',
    probes: ['preflight'],
    adapt: (check) => unlessAbsent('create', check),
  },
  {
    'USERS-020': {
      at: '/user_id',
      rule: 'The create response has a `user_id` string.',
      statements: ['2.9.13'],
      wrong: {
        'user-id-missing': ['Omits `user_id` from the create response.', missing],
        'user-id-a-number': ['Sends `user_id` as a number.', 17],
      },
      mutants: {
        'created-in-user': {
          does: 'Wraps the response to creations in `user`.',
          transform: changeResponse(to('create'), (response) =>
            isAcceptedResponse(response)
              ? { ...response, body: `{"user":${response.body}}` }
              : response,
          ),
          alsoKills: ['USERS-022', 'USERS-023'],
        },
      },
      legal: { bare: inBoth('Sends only the required fields.', dropOptional) },
    },
    'USERS-022': {
      at: '/created_at',
      rule: '`created_at` is an ISO 8601 string.',
      statements: ['2.9.15'],
      wrong: {
        'created-at-missing': ['Omits `created_at`.', missing],
        'created-at-unix': ['Sends `created_at` as Unix time.', 1_795_167_000],
        'created-at-space': [
          'Sends `created_at` with a space between date and time.',
          '2026-11-20 09:30:00',
        ],
        'created-at-empty': ['Sends `created_at` as an empty string.', ''],
      },
    },
    'USERS-023': {
      at: '/status',
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
    },
    'USERS-024': {
      at: '/session_id',
      rule: '`session_id` of the create response is a string, if present.',
      statements: ['2.9.18'],
      wrong: { 'session-id-null': ['Sends `session_id` as null.', null] },
      legal: {
        everything: replies(
          'Sends every optional field.',
          set('/session_id', 'session-1'),
          set('/profile_id', 'profile-1'),
          set('/capabilities', ['chat', 'voice']),
        ),
        'extra-fields': inBoth('Sends unknown fields.', addUnknown),
      },
    },
    'USERS-025': {
      at: '/profile_id',
      rule: '`profile_id` is a string, if present.',
      statements: ['2.9.19'],
      wrong: { 'profile-id-a-number': ['Sends `profile_id` as a number.', 4] },
    },
    'USERS-026': {
      at: '/capabilities',
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
    },
  },
);

export const createdRequirements: RequirementEntries = {
  ...fields,
  'USERS-021': {
    rule: '`user_id` of the create response equals the one in the request.',
    statements: ['2.9.14', '2.9.13'],
    reason: 'The service sends this id with every turn; another id names another user.',
    probes: ['preflight'],
    check: unlessAbsent('create', checkUserId(hasCreatedId, sentUserId, noCreatedId)),
    mutants: {
      'user-id-its-own': replies('Replaces the user id with its own.', set('/user_id', '7f9c24e8')),
      'user-id-lower-case': replies(
        'Sends the user id in lowercase.',
        set('/user_id', (request: ProxyRequest) => stringAt('user_id', request)?.toLowerCase()),
      ),
      'users-swapped-in-overlap': {
        does: 'Keeps the created user in a variable that concurrent requests share.',
        transform: shareUserId('create', (request) => stringAt('user_id', request)),
      },
    },
  },
  'USERS-080': {
    level: 'may',
    rule: '`POST /users` succeeds with any 2xx status.',
    statements: ['4.7.8'],
    reason: "The specification doesn't state the status, so it is only reported.",
    probes: ['preflight'],
    check: reportStatus('create'),
    legal: { 200: withStatus(200), 202: withStatus(202), '201-twice': withStatus(201) },
  },
};

function hasCreatedId(exchange: Exchange): boolean {
  return (
    isCreateResponse(exchange) && typeof resolvePointer(exchange.json, '/user_id') === 'string'
  );
}

function sentUserId({ sent }: Exchange): unknown {
  return resolvePointer(sent, '/user_id');
}

function noCreatedId(transcript: Parameters<Check['unjudged']>[0]): ReturnType<Check['unjudged']> {
  return transcript.exchanges.some(isCreateResponse)
    ? { verdict: 'blocked', reason: 'No create response has `user_id`, a string.' }
    : notCreated(transcript);
}

/** `user_id` of each response equals the id that the request names. */
export function checkUserId(
  hasUserId: (exchange: Exchange) => boolean,
  requestedId: (exchange: Exchange) => unknown,
  unjudged: Check['unjudged'],
): Check {
  return checkEach(
    (exchange) => exchange.intent === 'valid' && hasUserId(exchange),
    (exchange) => {
      const expected = requestedId(exchange);
      const received = resolvePointer(exchange.json, '/user_id');
      if (received === expected) return [];
      return [
        {
          exchange: exchange.id,
          pointer: '/user_id',
          expected: formatValue(expected),
          received: formatValue(received),
        },
      ];
    },
    unjudged,
  );
}

/** Reports the success status of an endpoint, which the specification leaves open. */
export function reportStatus(endpoint: 'create' | 'delete'): Check {
  return unlessAbsent(endpoint, {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (exchange) =>
          exchange.endpoint === endpoint && exchange.intent === 'valid' && isAccepted(exchange),
      ),
    judge(evidence) {
      const [first] = evidence;
      if (!first) return [];
      const statuses = new Set(evidence.map(({ response }) => response?.status));
      return [
        {
          exchange: first.id,
          pointer: '',
          expected: 'any 2xx status',
          received: [...statuses].join(', '),
        },
      ];
    },
    unjudged: explainNoValidResponse(endpoint),
  });
}

/** Keeps the user id of a request where concurrent requests change it. */
export function shareUserId(
  endpoint: 'create' | 'delete',
  idOf: (request: ProxyRequest) => unknown,
): TransformFactory {
  return () => {
    let latest: unknown;
    const announce = createOverlap();
    return async (request, forward, clock) => {
      if (request.endpoint !== endpoint) return forward(request);
      latest = idOf(request) ?? latest;
      const waitForNext = announce(clock);
      const response = await forward(request);
      await waitForNext();
      const transform = editAccepted(endpoint, set('/user_id', latest))();
      return transform(request, () => Promise.resolve(response), clock);
    };
  };
}

function dropOptional(body: Record<string, unknown>): void {
  const required = ['user_id', 'created_at', 'deleted_at', 'status'];
  for (const key of Object.keys(body)) {
    if (!required.includes(key)) Reflect.deleteProperty(body, key);
  }
}

function addUnknown(body: Record<string, unknown>): void {
  Object.assign(body, { metadata: { any: null }, id: 7, already: false });
}
