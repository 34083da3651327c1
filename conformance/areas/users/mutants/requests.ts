import type { Clock } from '../../../../src/platform/clock.ts';
import {
  createAcceptedResponse,
  acceptInstead,
  errorResponse,
  isAccepted,
  isError,
  refuseInstead,
  replaceParts,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type ProxyResponse,
  type ProxyRequest,
  type Mutant,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import {
  hasKeys,
  isNotJsonObject,
  stringAt,
  userIdOf,
  where,
} from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';
import type { UsersRequirementId } from '../requirements.ts';
import { refusedCreateSteps, type MalformedCreateStep } from '../steps.ts';
import { malformedCreates } from './malformed.ts';

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

const refuses = (name: string, requests: string, kills: UsersRequirementId[], when: When): Mutant =>
  mutant(`refuses-${name}`, `Refuses ${requests}.`, kills, refuseInstead(to('create', when)));

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

const isWellFormed: When = (request) =>
  isObject(request.json) && !Object.values(malformedCreates).some(({ when }) => when(request));

function diesOfMalformedJson(): ReturnType<TransformFactory> {
  let isBroken = false;
  const inner = withKnownUsers((request, isKnown) => {
    const isUnavailable =
      isBroken && request.endpoint === 'create' && !isKnown && isWellFormed(request);
    return isUnavailable ? errorResponse(500, 'server_error') : undefined;
  })();
  return (request, forward, clock) => {
    if (request.endpoint === 'create' && request.json === undefined) isBroken = true;
    return inner(request, forward, clock);
  };
}

/** Accept malformed create requests and duplicates. */
const accepting: Mutant[] = [
  ...Object.entries(malformedCreates).map(([step, { name, when }]) =>
    mutant(
      `accepts-${name}`,
      `Accepts a malformed request: ${step}.`,
      refusedCreateSteps[step as MalformedCreateStep],
      acceptInstead(to('create', when)),
    ),
  ),
  mutant(
    'accepts-duplicates',
    'Accepts a create request for an existing user.',
    ['USERS-066'],
    onDuplicate(createAcceptedResponse),
  ),
];

const refusals: UsersRequirementId[] = [
  'USERS-060',
  'USERS-061',
  'USERS-062',
  'USERS-063',
  'USERS-064',
];
const is400 = ({ status }: { status: number }): boolean => status === 400;

/** Refuse malformed requests in another way than required. */
const wrongRefusals: Mutant[] = [
  mutant(
    'validation-422',
    'Refuses malformed JSON objects with 422.',
    refusals,
    replaceParts(to('create', isMalformedObject), { status: 422 }, is400),
  ),
  mutant(
    'everything-422',
    'Refuses every malformed request with 422.',
    [...refusals, 'USERS-065'],
    replaceParts(
      to('create', (request) => isNotJsonObject(request) || isMalformedObject(request)),
      { status: 422 },
      is400,
    ),
  ),
  mutant(
    'no-object-500',
    'Responds with 500 to a body that is not a JSON object.',
    ['USERS-065'],
    refuseInstead(to('create', isNotJsonObject), 500, 'server_error'),
  ),
  mutant(
    'no-object-415',
    'Refuses a body that is not a JSON object with 415.',
    ['USERS-065'],
    replaceParts(to('create', isNotJsonObject), { status: 415 }, isError),
  ),
  mutant(
    'no-object-dropped',
    'Drops the connection if the body is not a JSON object.',
    ['USERS-065'],
    () => async (request, forward) =>
      request.endpoint === 'create' && isNotJsonObject(request) ? 'dropped' : forward(request),
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

function isMalformedObject(request: ProxyRequest): boolean {
  return (
    isObject(request.json) && Object.values(malformedCreates).some(({ when }) => when(request))
  );
}

/** Mutants that accept or refuse the wrong create requests. */
export const userRequestMutants: readonly Mutant[] = [...refusing, ...accepting, ...wrongRefusals];
