import type { Clock } from '../../../../src/platform/clock.ts';
import type { RequirementId } from '../../index.ts';
import {
  acceptance,
  acceptsInstead,
  failure,
  isAccepted,
  isError,
  refusesInstead,
  replaces,
  to,
  type When,
} from '../../../engine/mutants/combinators.ts';
import {
  mutantsOf,
  type ProxyResponse,
  type ProxyRequest,
  type Mutant,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import {
  hasKeys,
  isNoObject,
  malformedUsers,
  textAt,
  userOf,
  where,
} from '../../../engine/mutants/requests.ts';
import { isObject } from '../../../../src/platform/json.ts';

const mutant = mutantsOf('users');

/** Answers in the place of the sandbox, or undefined to leave it to the sandbox. */
type Own = (asked: ProxyRequest, isKnown: boolean, clock: Clock) => ProxyResponse | undefined;

/** A transform that remembers which users the run created, and may answer by that. */
export function knowing(own: Own): TransformFactory {
  return () => {
    const existing = new Set<string>();
    return async (asked, forward, clock) => {
      const userId = asked.endpoint === 'delete' ? userOf(asked) : textAt('user_id', asked);
      if (userId === undefined) return forward(asked);
      const answer = own(asked, existing.has(userId), clock) ?? (await forward(asked));
      if (asked.endpoint === 'create' && isAccepted(answer)) existing.add(userId);
      if (asked.endpoint === 'delete' && isAccepted(answer)) existing.delete(userId);
      return answer;
    };
  };
}

/** Answers a create request whose user exists. */
export const onDuplicate = (
  answer: (asked: ProxyRequest, clock: Clock) => ProxyResponse,
): TransformFactory =>
  knowing((asked, isKnown, clock) =>
    asked.endpoint === 'create' && isKnown ? answer(asked, clock) : undefined,
  );

const refuses = (name: string, what: string, kills: RequirementId[], when: When): Mutant =>
  mutant(`refuses-${name}`, `Refuses ${what}.`, kills, refusesInstead(to('create', when)));

const id = (pattern: RegExp): When =>
  where('user_id', (value) => typeof value === 'string' && pattern.test(value));
const alone = hasKeys('user_id');
const short = id(/^sim_user_.{12}$/);

/** Refusing what must be accepted. */
const refusing: Mutant[] = [
  refuses(
    'everything',
    'requests with every optional part',
    ['USERS-001'],
    hasKeys('user_id', 'metadata', 'profile'),
  ),
  refuses('short-id-alone', 'an id and nothing else', ['USERS-002'], (asked) =>
    [alone, short].every((when) => when(asked)),
  ),
  refuses('ids-alone', 'any id and nothing else', ['USERS-002'], alone),
  refuses(
    'no-metadata',
    'a profile without metadata',
    ['USERS-003'],
    hasKeys('user_id', 'profile'),
  ),
  refuses(
    'no-profile',
    'metadata without a profile',
    ['USERS-004'],
    hasKeys('user_id', 'metadata'),
  ),
  refuses(
    'part-of-a-profile',
    'a profile without an email',
    ['USERS-003'],
    where('profile', (profile) => isObject(profile) && !Object.hasOwn(profile, 'email')),
  ),
  refuses(
    'part-of-metadata',
    'metadata without a scenario',
    ['USERS-004'],
    where('metadata', (metadata) => isObject(metadata) && !Object.hasOwn(metadata, 'scenario_id')),
  ),
  refuses('leading-digit', 'an id that begins with a digit', ['USERS-008'], id(/^\d\w*$/)),
  refuses('leading-underscore', 'an id that begins with _', ['USERS-008'], id(/^_\w*$/)),
  refuses('64-characters', 'an id of 64 characters', ['USERS-007'], id(/^.{64}$/)),
  refuses(
    'other-prefix',
    'an id without the usual prefix',
    ['USERS-008'],
    id(/^(?!sim_user_)\w{1,64}$/),
  ),
  refuses('capitals', 'an id with capitals', ['USERS-008'], id(/^\w*[A-Z]\w*$/)),
  mutant(
    'dies-of-malformed-json',
    'Creates nobody any more after a request that was not JSON.',
    ['USERS-009', 'USERS-010'],
    diesOfMalformedJson,
  ),
];

const isWellFormed: When = (asked) =>
  isObject(asked.json) && !Object.values(malformedUsers).some(({ when }) => when(asked));

function diesOfMalformedJson(): ReturnType<TransformFactory> {
  let isDead = false;
  const inner = knowing((asked, isKnown) => {
    const isLost = isDead && asked.endpoint === 'create' && !isKnown && isWellFormed(asked);
    return isLost ? failure(500, 'server_error') : undefined;
  })();
  return (asked, forward, clock) => {
    if (asked.endpoint === 'create' && asked.json === undefined) isDead = true;
    return inner(asked, forward, clock);
  };
}

/** Accepting what must be refused. */
const accepting: Mutant[] = [
  ...Object.entries(malformedUsers).map(([name, { when, requirement }]) =>
    mutant(
      `accepts-${name}`,
      `Accepts a malformed request: ${name.replaceAll('-', ' ')}.`,
      [requirement],
      acceptsInstead(to('create', when)),
    ),
  ),
  mutant('accepts-duplicates', 'Creates a user twice.', ['USERS-066'], onDuplicate(acceptance)),
];

const refusals: RequirementId[] = ['USERS-060', 'USERS-061', 'USERS-062', 'USERS-063', 'USERS-064'];
const is400 = ({ status }: { status: number }): boolean => status === 400;

/** Refusing what must be refused, in another way than with 400. */
const otherwise: Mutant[] = [
  mutant(
    'validation-422',
    'Refuses malformed objects with 422.',
    refusals,
    replaces(to('create', isMalformedObject), { status: 422 }, is400),
  ),
  mutant(
    'everything-422',
    'Refuses every malformed request with 422.',
    [...refusals, 'USERS-065'],
    replaces(
      to('create', (asked) => isNoObject(asked) || isMalformedObject(asked)),
      { status: 422 },
      is400,
    ),
  ),
  mutant(
    'no-object-500',
    'Fails with 500 when the body is no JSON object.',
    ['USERS-065'],
    refusesInstead(to('create', isNoObject), 500, 'server_error'),
  ),
  mutant(
    'no-object-415',
    'Refuses bodies that are no JSON object with 415.',
    ['USERS-065'],
    replaces(to('create', isNoObject), { status: 415 }, isError),
  ),
  mutant(
    'no-object-dropped',
    'Drops the connection when the body is no JSON object.',
    ['USERS-065'],
    () => async (asked, forward) =>
      asked.endpoint === 'create' && isNoObject(asked) ? 'dropped' : forward(asked),
  ),
  mutant(
    'null-id-500',
    'Fails with 500 when the id is null.',
    ['USERS-061'],
    refusesInstead(to('create', malformedUsers['user-id-null']?.when), 500, 'server_error'),
  ),
  mutant(
    'duplicate-500',
    'Fails with 500 when the user exists.',
    ['USERS-066'],
    onDuplicate(() => failure(500, 'user_exists')),
  ),
];

function isMalformedObject(asked: ProxyRequest): boolean {
  return isObject(asked.json) && Object.values(malformedUsers).some(({ when }) => when(asked));
}

/** Mutants that take or refuse the wrong users. */
export const userRequestMutants: readonly Mutant[] = [...refusing, ...accepting, ...otherwise];
