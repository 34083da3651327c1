import { createFalseRefusals, createRefusalMutants } from '../../refusal-mutants.ts';
import { type MalformedCreateStep, refusedCreateSteps } from '../steps.ts';
import {
  createAcceptedResponse,
  errorResponse,
  isAccepted,
  refuseInstead,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type ProxyRequest,
  type ProxyResponse,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import {
  hasKeys,
  is,
  isEmptyBody,
  isJsonArray,
  isNotJson,
  isNull,
  isNumber,
  lacks,
  type MalformedRequest,
  stringAt,
  userIdOf,
  where,
} from '../../../engine/mutants/requests.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import { isObject } from '../../../../src/platform/json.ts';

const idWith = (character: string): When =>
  where('user_id', (id) => typeof id === 'string' && id.includes(character));

/** How to recognize the malformed create requests of the probes, by step. */
export const malformedCreates: Readonly<Record<MalformedCreateStep, MalformedRequest>> = {
  'user_id missing': { name: 'user-id-missing', when: lacks('user_id') },
  'user_id a number': { name: 'user-id-a-number', when: where('user_id', isNumber) },
  'user_id null': { name: 'user-id-null', when: where('user_id', isNull) },
  'user_id with a hyphen': { name: 'hyphen', when: idWith('-') },
  'user_id with a space': { name: 'space', when: idWith(' ') },
  'user_id with a dot': { name: 'dot', when: idWith('.') },
  'user_id with a slash': { name: 'slash', when: idWith('/') },
  'user_id with a line break': { name: 'line-break', when: idWith('\n') },
  'user_id of 65 characters': {
    name: '65-characters',
    when: where('user_id', (id) => typeof id === 'string' && id.length === 65),
  },
  'user_id empty': { name: 'empty-id', when: where('user_id', is('')) },
  'body not JSON': { name: 'body-not-json', when: isNotJson },
  'body empty': { name: 'body-empty', when: isEmptyBody },
  'body an array': { name: 'body-an-array', when: isJsonArray },
};

const mutant = createMutantFactory('users');

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
      if (request.endpoint === 'create' && isAccepted(response)) existing.add(userId);
      if (request.endpoint === 'delete' && isAccepted(response)) existing.delete(userId);
      return response;
    };
  };
}

/** Responds to create requests for existing users. */
export const onDuplicate = (
  response: (request: ProxyRequest, clock: Clock) => ProxyResponse,
): TransformFactory =>
  withKnownUsers((request, isKnown, clock) =>
    request.endpoint === 'create' && isKnown ? response(request, clock) : undefined,
  );

const refuses = createFalseRefusals('users', 'create');

const id = (pattern: RegExp): When =>
  where('user_id', (value) => typeof value === 'string' && pattern.test(value));
const alone = hasKeys('user_id');
const short = id(/^sim_user_.{12}$/);

/** Refuse valid create requests. */
const refusing: Mutant[] = [
  refuses(
    'everything',
    'requests with every optional field',
    ['USERS-001'],
    hasKeys('user_id', 'metadata', 'profile'),
  ),
  refuses(
    'short-id-alone',
    'requests with only a `user_id` of the usual form',
    ['USERS-002'],
    (request) => [alone, short].every((when) => when(request)),
  ),
  refuses('ids-alone', 'requests with only `user_id`', ['USERS-002'], alone),
  refuses(
    'no-metadata',
    'requests with `profile` and without `metadata`',
    ['USERS-003'],
    hasKeys('user_id', 'profile'),
  ),
  refuses(
    'no-profile',
    'requests with `metadata` and without `profile`',
    ['USERS-004'],
    hasKeys('user_id', 'metadata'),
  ),
  refuses(
    'part-of-a-profile',
    'a `profile` without `email`',
    ['USERS-003'],
    where('profile', (profile) => isObject(profile) && !Object.hasOwn(profile, 'email')),
  ),
  refuses(
    'part-of-metadata',
    '`metadata` without `scenario_id`',
    ['USERS-004'],
    where('metadata', (metadata) => isObject(metadata) && !Object.hasOwn(metadata, 'scenario_id')),
  ),
  refuses('leading-digit', 'a `user_id` that starts with a digit', ['USERS-008'], id(/^\d\w*$/)),
  refuses(
    'leading-underscore',
    'a `user_id` that starts with an underscore',
    ['USERS-008'],
    id(/^_\w*$/),
  ),
  refuses('64-characters', 'a `user_id` of 64 characters', ['USERS-007'], id(/^.{64}$/)),
  refuses(
    'other-prefix',
    'a `user_id` without the prefix `sim_user_`',
    ['USERS-008'],
    id(/^(?!sim_user_)\w{1,64}$/),
  ),
  refuses('capitals', 'a `user_id` with uppercase letters', ['USERS-008'], id(/^\w*[A-Z]\w*$/)),
  mutant(
    'dies-of-malformed-json',
    'Responds with 500 to every new user after a request that was not JSON.',
    ['USERS-009', 'USERS-010'],
    diesOfMalformedJson,
  ),
];

const isMalformed: When = (request) =>
  Object.values(malformedCreates).some(({ when }) => when(request));

function diesOfMalformedJson(): ReturnType<TransformFactory> {
  let isBroken = false;
  const inner = withKnownUsers((request, isKnown) => {
    const isUnavailable =
      isBroken && request.endpoint === 'create' && !isKnown && !isMalformed(request);
    return isUnavailable ? errorResponse(500, 'server_error') : undefined;
  })();
  return (request, forward, clock) => {
    if (request.endpoint === 'create' && request.json === undefined) isBroken = true;
    return inner(request, forward, clock);
  };
}

const wrongRefusals: Mutant[] = [
  ...createRefusalMutants({
    area: 'users',
    endpoint: 'create',
    malformed: malformedCreates,
    requirements: refusedCreateSteps,
    isRefused: isMalformed,
    errorObject: 'USERS-070',
    errorStrings: 'USERS-071',
    badRequest: 'USERS-072',
    rateLimit: 'USERS-073',
    serverError: 'USERS-074',
  }),
  mutant(
    'accepts-duplicates',
    'Accepts a create request for an existing user.',
    ['USERS-066'],
    onDuplicate(createAcceptedResponse),
  ),
  mutant(
    'null-id-500',
    'Responds with 500 if `user_id` is null.',
    ['USERS-061'],
    refuseInstead(to('create', malformedCreates['user_id null'].when), 500, 'server_error'),
  ),
  mutant(
    'duplicate-500',
    'Responds with 500 if the user exists.',
    ['USERS-066'],
    onDuplicate(() => errorResponse(500, 'user_exists')),
  ),
];

/** Mutants that accept or refuse the wrong create requests. */
export const userRequestMutants: readonly Mutant[] = [...refusing, ...wrongRefusals];
