/** The bodies of error responses about users (spec 7), and requests that may be refused. */
import { isObject } from '../../../src/platform/json.ts';
import { type Check, unjudgedAs } from '../../engine/checks/check.ts';
import {
  checkErrorCode,
  checkErrorShape,
  checkErrorStrings,
  checkWrongKey,
  isErrorResponse,
  requireControlAccepted,
} from '../../engine/checks/responses.ts';
import {
  acceptInstead,
  errorResponse,
  jsonResponse,
  respondInstead,
  to,
  type When,
} from '../../engine/mutants/combinators.ts';
import type { ProxyRequest } from '../../engine/mutants/mutant.ts';
import { hasWrongKey, where } from '../../engine/mutants/requests.ts';
import { cost } from '../../engine/probe.ts';
import type { MutantEntry, RequirementEntries } from '../../engine/requirement.ts';
import { type Exchange, isRateLimited } from '../../engine/transcript/reading.ts';
import { createErrorMutants, failOnOddMetadata, rateLimitOnce } from '../error-mutants.ts';
import type { SandboxContext } from '../sandbox-state.ts';
import { onDuplicate } from './known-users.ts';
import { unlessAbsent } from './optional.ts';
import { isMalformed, remember } from './refusals.ts';
import { createDeletion, createUserId, isCreateStep } from './requests.ts';

const REASON = 'The service tells errors apart by these fields; without them it can only give up.';

const isUsers = ({ endpoint }: Exchange): boolean => endpoint === 'create' || endpoint === 'delete';
const isRefusedDuplicate = (exchange: Exchange): boolean =>
  isCreateStep('duplicate')(exchange) &&
  (exchange.response?.status ?? 0) >= 400 &&
  !isRateLimited(exchange);
const isError = (exchange: Exchange): boolean =>
  isUsers(exchange) && (isErrorResponse(exchange) || isRefusedDuplicate(exchange));
const isErrorWith =
  (status: number) =>
  (exchange: Exchange): boolean =>
    isUsers(exchange) &&
    isErrorResponse(exchange) &&
    exchange.response?.status === status &&
    !isRefusedDuplicate(exchange);

const noErrorResponse = unjudgedAs('not_observed', 'No request about users got an error response.');
const noResponseWith = (status: number): Check['unjudged'] =>
  unjudgedAs('not_observed', `No request about users got a ${status} response.`);

const wrong = createErrorMutants('create', isMalformed);
const duplicate = (does: string, body: unknown): MutantEntry => ({
  does,
  transform: onDuplicate(() => jsonResponse(409, body)),
});

/** A create request for which the specification defines no response. */
const isOpen: When = (request) =>
  [
    hasWrongKey,
    where('user_id', (id) => typeof id === 'string' && /[\u0080-\uffff]/.test(id)),
    where('metadata', (metadata) => typeof metadata === 'string'),
  ].some((when) => when(request));

export const errorRequirements: RequirementEntries = {
  'USERS-070': {
    rule: 'The body of a 400, 429, or 500 response, or of a refused duplicate, is JSON with an `error` object.',
    statements: ['7.b1'],
    reason: REASON,
    observability: 'provoked',
    probes: ['users/refusals'],
    check: unlessAbsent('create', checkErrorShape(isError, noErrorResponse)),
    mutants: {
      ...wrong.shape,
      'duplicate-no-error': {
        ...duplicate('Refuses duplicates without `error`.', { detail: 'exists' }),
        alsoKills: ['USERS-075'],
      },
    },
  },
  'USERS-071': {
    rule: '`error.message`, `error.type`, and `error.code` are strings.',
    statements: ['7.b1', '7.b2'],
    reason: REASON,
    observability: 'provoked',
    probes: ['users/refusals'],
    check: unlessAbsent('create', checkErrorStrings(isError, noErrorResponse)),
    mutants: {
      ...wrong.strings,
      'duplicate-no-type': {
        ...duplicate('Refuses duplicates without `error.type`.', {
          error: { message: 'It exists.', code: 'user_exists' },
        }),
        alsoKills: ['USERS-075'],
      },
    },
  },
  'USERS-072': {
    rule: 'A 400 response has the type `invalid_request_error` and the code `bad_request`.',
    section: '7',
    statements: ['4.7.7', '7.b3', '7.b5'],
    reason: REASON,
    observability: 'provoked',
    probes: ['users/refusals'],
    check: unlessAbsent(
      'create',
      checkErrorCode('bad_request', isErrorWith(400), noResponseWith(400)),
    ),
    mutants: wrong.badRequest,
  },
  'USERS-073': {
    rule: 'A 429 response has the type `rate_limit_error` and the code `rate_limit_exceeded`.',
    statements: ['7.b6'],
    reason: 'The service waits and retries only if it can tell that the rate limit is the cause.',
    observability: 'provoked',
    check: checkErrorCode('rate_limit_exceeded', isErrorWith(429), noResponseWith(429)),
    mutants: {
      ...wrong.rateLimit,
      'delete-rate-limit-type': {
        does: 'Sends a 429 to a deletion with its own error type.',
        transform: rateLimitOnce('delete', {
          error: { message: 'Wait.', type: 'tokens', code: 'rate_limit_exceeded' },
        }),
      },
    },
  },
  'USERS-074': {
    rule: 'A 500 response has the type `internal_error` and the code `server_error`.',
    statements: ['7.b7'],
    reason: REASON,
    observability: 'provoked',
    check: checkErrorCode('server_error', isErrorWith(500), noResponseWith(500)),
    mutants: {
      ...wrong.serverError,
      'failure-type': {
        does: 'Sends a 500 with its own error type.',
        transform: failOnOddMetadata('create', () =>
          jsonResponse(500, {
            error: { message: 'No.', type: 'server_error', code: 'server_error' },
          }),
        ),
      },
    },
  },
  'USERS-075': {
    rule: 'A refused duplicate has the type `duplicate_user_error` and the code `user_exists`.',
    section: '7',
    statements: ['4.7.6', '7.b8'],
    reason:
      'The service can choose another id instead of giving up only if it can tell that the user exists.',
    observability: 'provoked',
    probes: ['users/refusals'],
    check: unlessAbsent(
      'create',
      requireControlAccepted(
        checkErrorCode(
          'user_exists',
          isRefusedDuplicate,
          unjudgedAs('blocked', 'The sandbox did not refuse the duplicate.'),
          { withoutErrorObject: 'judge' },
        ),
      ),
    ),
    mutants: {
      'duplicate-code': duplicate('Refuses duplicates with its own error code.', {
        error: { message: 'It exists.', type: 'duplicate_user_error', code: 'conflict' },
      }),
      'duplicate-type': duplicate('Refuses duplicates with its own error type.', {
        error: { message: 'It exists.', type: 'invalid_request_error', code: 'user_exists' },
      }),
      'duplicate-bad-request': {
        does: 'Refuses duplicates with the error of a bad request.',
        transform: onDuplicate(() => errorResponse(400, 'bad_request')),
      },
    },
  },
  'USERS-083': {
    level: 'may',
    rule: 'A create request with a wrong key gets an error response.',
    statements: ['5.b2', '4.7.3'],
    reason:
      'Without a key check, anyone who knows the address can create users. A key is recommended, not required, so its absence is only reported.',
    observability: 'provoked',
    probes: ['users/silences'],
    check: unlessAbsent('create', checkWrongKey('create')),
    legal: {
      'open-taken': {
        does: 'Accepts every request that is not forbidden.',
        transform: acceptInstead(to('create', isOpen)),
      },
      'open-refused': {
        does: 'Refuses every request that is not required, in its own error format.',
        transform: respondInstead(to('create', isOpen), () => jsonResponse(403, { detail: 'no' })),
      },
      'unknown-keys-refused': {
        does: 'Refuses fields that the specification does not name.',
        transform: respondInstead(to('create', hasUnknownKeys), () =>
          errorResponse(400, 'bad_request'),
        ),
      },
    },
  },
};

/** Some field is not in the specification. */
function hasUnknownKeys({ json }: ProxyRequest): boolean {
  const hasOther = (value: unknown, keys: readonly string[]): boolean =>
    isObject(value) && Object.keys(value).some((key) => !keys.includes(key));
  if (!isObject(json)) return false;
  const metadata = ['scenario_id', 'persona', 'session_type', 'preferences', 'history'];
  return (
    hasOther(json, ['user_id', 'metadata', 'profile']) ||
    hasOther(json['metadata'], metadata) ||
    hasOther(json['profile'], ['name', 'email', 'tier', 'location'])
  );
}

/** Requests for which the specification defines no response; the report lists the observed behavior. */
export const silencesProbe = {
  id: 'users/silences',
  area: 'users',
  phase: 'refused',
  cost: cost(4, 0, 2),
  async run(context: SandboxContext): Promise<void> {
    await context.send(createDeletion('unknown user', 'open', createUserId(context)));
    if (context.users.isUnsupported) return;
    const open = (step: string, json: unknown, key?: 'wrong') =>
      context.send({
        endpoint: 'create',
        step,
        intent: 'open',
        body: { json },
        ...(key ? { key } : {}),
      });
    const answers = await Promise.all([
      open('wrong key', { user_id: createUserId(context) }, 'wrong'),
      open('non-ASCII letters', { user_id: `müller_${context.random.id(12)}` }),
      open('metadata a string', { user_id: createUserId(context), metadata: 'evening' }),
    ]);
    for (const exchange of answers) remember(context, exchange);
  },
} as const;
