/** `POST /users`: valid requests of any shape succeed (spec 2.9, 4.7). */
import { isObject } from '../../../src/platform/json.ts';
import { explainNoValidResponse } from '../../engine/checks/check.ts';
import { requireSurvival } from '../../engine/checks/crashes.ts';
import { checkNoServerError } from '../../engine/checks/responses.ts';
import { respondInstead, to, type When } from '../../engine/mutants/combinators.ts';
import { errorResponse, refuseInstead } from '../sandbox-responses.ts';
import type { ProxyResult, TransformFactory } from '../../engine/mutants/mutant.ts';
import { hasKeys, where } from '../../engine/mutants/requests.ts';
import type { DistortionEntry, MutantEntry, Subject } from '../../engine/requirement.ts';
import { createFalseRefusals, defineAccepted } from '../accepted.ts';
import { failEverySeventh, HANG_MS, SURVIVAL_REASON } from '../failures.ts';
import { unlessAbsent } from './absence.ts';
import { withKnownUsers } from './known-users.ts';
import { malformed } from './refusals.ts';
import { exceptRefusedAsNew } from './new-users.ts';
import { formerUserProperties, USER_BODY_BYTES, userProperties } from './request-properties.ts';
import { isAboutUsers, isCreateStep, LEADING_ZERO, LONG_IDS, SHORTER_ID } from './requests.ts';

const OPTIONAL_REASON =
  'The service may omit optional fields; a sandbox that requires them has no user for the simulation.';

const refuses = createFalseRefusals('create');

const id = (pattern: RegExp): When =>
  where('user_id', (value) => typeof value === 'string' && pattern.test(value));
const field = (
  part: 'metadata' | 'profile',
  matches: (fields: Record<string, unknown>) => boolean,
): When => where(part, (fields) => isObject(fields) && matches(fields));
const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;
const onlyId = hasKeys('user_id');

const absent = (status: number): DistortionEntry => ({
  description: `Has no \`/users\` and responds with ${status}.`,
  transform: respondInstead(isAboutUsers, () => ({
    status,
    headers: { 'content-type': 'text/plain' },
    body: 'Not here',
  })),
});

const accepted = defineAccepted(
  {
    endpoint: 'create',
    properties: [...userProperties, ...formerUserProperties],
    reason: OPTIONAL_REASON,
    wrapCheck: (check) => unlessAbsent('create', exceptRefusedAsNew(check)),
  },
  {
    'USERS-001': {
      rule: 'A create request with every optional field gets a 2xx response with a JSON object.',
      statements: ['4.7.1', '4.7.2', '4.7.3', '4.7.4', '4.7.5', '3.2.1'],
      reason: 'Simulations that need a user start with this request.',
      probes: ['preflight'],
      steps: 'others',
      mutants: {
        'refuses-everything': refuses(
          'requests with every optional field',
          hasKeys('user_id', 'metadata', 'profile'),
        ),
      },
    },
    'USERS-002': {
      rule: 'A create request with only `user_id` succeeds.',
      statements: ['2.9.1', '2.9.6', '2.9.11'],
      probes: ['users/forms'],
      steps: ['minimal', 'for a session', SHORTER_ID],
      mutants: {
        'refuses-short-id-alone': refuses(
          'requests with only a `user_id` of the usual form',
          (request) => onlyId(request) && id(/^sim_user_.{12}$/)(request),
        ),
        'refuses-ids-alone': refuses('requests with only `user_id`', onlyId),
      },
    },
    'USERS-003': {
      rule: 'A create request succeeds with any strings in `profile`, with any of its fields, and without `metadata`.',
      statements: ['2.9.6', '2.9.10', '2.9.12'],
      probes: ['users/forms'],
      steps: ['with profile'],
      plain: 'minimal',
      mutants: {
        'refuses-no-metadata': refuses(
          'requests with `profile` and without `metadata`',
          hasKeys('user_id', 'profile'),
        ),
        'refuses-part-of-a-profile': refuses(
          'a `profile` without `email`',
          field('profile', (profile) => !Object.hasOwn(profile, 'email')),
        ),
        'refuses-empty-profile': refuses('an empty `profile`', field('profile', isEmpty)),
        'refuses-profile-accents': refuses(
          'letters other than ASCII in `profile`',
          field('profile', (profile) => /[^\x20-\x7e]/.test(JSON.stringify(profile))),
        ),
        'refuses-unusual-emails': refuses(
          'an `email` other than letters, an at sign, and a domain',
          field(
            'profile',
            ({ email }) => typeof email === 'string' && !/^[a-z]+@[a-z]+\.com$/.test(email),
          ),
        ),
        'refuses-tiers': refuses(
          'a `tier` other than gold, silver, and bronze',
          field(
            'profile',
            ({ tier }) => typeof tier === 'string' && !['gold', 'silver', 'bronze'].includes(tier),
          ),
        ),
      },
    },
    'USERS-004': {
      rule: 'A create request succeeds with any valid values in `metadata`, with any of its fields, and without `profile`.',
      statements: ['2.9.11', '2.9.5', '2.9.7', '2.9.8', '2.9.9'],
      probes: ['users/forms'],
      steps: ['with metadata'],
      plain: 'minimal',
      mutants: {
        'refuses-no-profile': refuses(
          'requests with `metadata` and without `profile`',
          hasKeys('user_id', 'metadata'),
        ),
        'refuses-part-of-metadata': refuses(
          '`metadata` without `scenario_id`',
          field('metadata', (metadata) => !Object.hasOwn(metadata, 'scenario_id')),
        ),
        'refuses-empty-metadata': refuses('an empty `metadata`', field('metadata', isEmpty)),
        'refuses-empty-history': refuses(
          'an empty `history`',
          field('metadata', ({ history }) => isEmpty(history)),
        ),
        'refuses-nested-preferences': refuses(
          'objects in `preferences`',
          field(
            'metadata',
            ({ preferences }) => isObject(preferences) && Object.values(preferences).some(isObject),
          ),
        ),
        'refuses-long-persona': refuses(
          'a `persona` of more than 255 characters',
          field('metadata', ({ persona }) => typeof persona === 'string' && persona.length > 255),
        ),
        'null-in-history-500': {
          description: 'Responds with 500 to null in `history`.',
          transform: refuseInstead(
            to(
              'create',
              field(
                'metadata',
                ({ history }) => isObject(history) && Object.values(history).includes(null),
              ),
            ),
            500,
            'server_error',
          ),
          alsoKills: ['USERS-010'],
        },
      },
    },
    'USERS-007': {
      rule: 'A create request with a `user_id` of 64 characters succeeds.',
      statements: ['2.9.3', '8.b9'],
      reason:
        "The service may send ids of this length; a simulation with such a user couldn't start.",
      probes: ['users/forms'],
      steps: LONG_IDS,
      plain: 'full',
      mutants: {
        'refuses-64-characters': refuses('a `user_id` of 64 characters', id(/^.{64}$/)),
      },
    },
    'USERS-008': {
      rule: 'A create request succeeds with letters, digits, and underscores in any order in `user_id`, with or without the prefix `sim_user_`.',
      statements: ['2.9.2', '2.9.4'],
      reason:
        'The prefix is customary, not required; a sandbox that requires it refuses valid users.',
      probes: ['users/forms'],
      steps: [LEADING_ZERO],
      plain: 'full',
      mutants: {
        'refuses-leading-digit': refuses('a `user_id` that starts with a digit', id(/^\d\w*$/)),
        'refuses-leading-underscore': refuses(
          'a `user_id` that starts with an underscore',
          id(/^_\w*$/),
        ),
        'refuses-other-prefix': refuses(
          'a `user_id` without the prefix `sim_user_`',
          id(/^(?!sim_user_)\w{1,64}$/),
        ),
        'refuses-capitals': refuses('a `user_id` with uppercase letters', id(/^\w*[A-Z]\w*$/)),
        'refuses-digits': refuses('a `user_id` of only digits', id(/^\d+$/)),
        'refuses-letters': refuses('a `user_id` of only letters', id(/^[a-z]+$/i)),
        'refuses-short-ids': refuses('a `user_id` of fewer than 4 characters', id(/^\w{1,3}$/)),
        'refuses-two-underscores': refuses('a `user_id` with `__`', id(/^\w*__\w*$/)),
        'refuses-last-underscore': refuses('a `user_id` that ends with `_`', id(/^\w*_$/)),
      },
    },
    'USERS-012': {
      rule: `A create request with a body of ${USER_BODY_BYTES / 1024} kB succeeds.`,
      statements: ['2.9.9', '2.9.5'],
      reason:
        'Neither `history` nor any other field has a limit; what a simulation knows about a user is stored there.',
      probes: ['users/forms'],
      plain: 'full',
      mutants: {
        'refuses-4-kilobytes': refuses(
          'bodies of more than 4 kB',
          ({ body }) => Buffer.byteLength(body) > 4096,
        ),
      },
      legal: {
        'large-user-refused': refuses(
          'bodies of more than 16 kB',
          ({ body }) => Buffer.byteLength(body) > USER_BODY_BYTES,
        ),
      },
    },
    'USERS-009': {
      rule: 'A valid create request succeeds after malformed ones.',
      statements: ['4.7.4', '4.7.5'],
      reason: SURVIVAL_REASON,
      probes: ['users/after'],
      steps: ['after refusals'],
      plain: 'full',
      wrapCheck: (check) => requireSurvival('create', check),
      mutants: {
        'dies-of-malformed-json': {
          description: 'Responds with 500 to every new user after a request that was not JSON.',
          transform: diesOfMalformedJson,
          alsoKills: ['USERS-010'],
        },
      },
    },
  },
);

/** Counts create requests and fails at some of them. */
const failsAtCreation =
  (failsAt: (creation: number) => boolean, fail: 'with 500' | 'silently' | 'dropped') =>
  (): ReturnType<TransformFactory> => {
    let creations = 0;
    return async (request, forward, clock): Promise<ProxyResult> => {
      if (request.endpoint !== 'create' || !failsAt(++creations)) return forward(request);
      if (fail === 'dropped') return 'dropped';
      if (fail === 'silently') await clock.sleep(HANG_MS);
      return errorResponse(500, 'server_error');
    };
  };

const failures: Readonly<Record<string, MutantEntry>> = {
  'every-seventh-creation-500': {
    description: 'Responds with 500 to every seventh create request, even if it is valid.',
    transform: failEverySeventh('create'),
  },
  'second-creation-500': {
    description: 'Responds with 500 to the second create request.',
    transform: failsAtCreation((creation) => creation === 2, 'with 500'),
  },
  'third-creation-500': {
    description: 'Responds with 500 to the third create request.',
    transform: failsAtCreation((creation) => creation === 3, 'with 500'),
  },
  'fourth-creation-dropped': {
    description: 'Drops the connection of the fourth create request.',
    transform: failsAtCreation((creation) => creation === 4, 'dropped'),
  },
  'recreation-500': {
    description:
      'Responds with 500 to the sixth create request, which creates a deleted user again.',
    transform: failsAtCreation((creation) => creation === 6, 'with 500'),
  },
  'every-second-creation-hangs': {
    description: 'Never responds to every second create request.',
    transform: failsAtCreation((creation) => creation % 2 === 0, 'silently'),
    clockFactor: 20,
  },
};

export const createRequests: Subject = {
  requirements: {
    ...accepted,
    'USERS-010': {
      rule: 'Every valid create or delete request gets a complete response that is not a server error.',
      statements: ['4.7.4', '4.7.5', '4.8.2', '3.2.1', '3.2.2'],
      reason: "A simulation whose user can't be created doesn't start.",
      check: unlessAbsent(
        'create',
        checkNoServerError(
          isAboutUsers,
          explainNoValidResponse('create'),
          // Recreating a deleted user may succeed or fail, but the request must get a response.
          (exchange) => exchange.intent === 'valid' || isCreateStep('created again')(exchange),
        ),
      ),
      mutants: failures,
    },
  },
  legal: { 'absent-404': absent(404), 'absent-405': absent(405), 'absent-501': absent(501) },
};

function diesOfMalformedJson(): ReturnType<TransformFactory> {
  let isBroken = false;
  const inner = withKnownUsers((request, isKnown) => {
    const isUnavailable =
      isBroken && request.endpoint === 'create' && !isKnown && !malformed.isMalformed(request);
    return isUnavailable ? errorResponse(500, 'server_error') : undefined;
  })();
  return (request, forward, clock) => {
    if (request.endpoint === 'create' && request.json === undefined) isBroken = true;
    return inner(request, forward, clock);
  };
}
