import type { UsersRequirementId } from './requirements.ts';
import { readGenerated } from '../../engine/checks/generated.ts';
import { userProperties } from './generated/properties.ts';
import {
  GENERATED,
  isCreateStep,
  isDeleteStep,
  type RefusedCreateStep,
  refusedCreateSteps,
  type ValidCreateStep,
  validCreateSteps,
} from './steps.ts';
import {
  type Check,
  checkEach,
  explainNoValidResponse,
  outcomeFinding,
  unjudgedAs,
} from '../../engine/checks/check.ts';
import { malformedBodyHint, type RefusalHint } from '../../engine/checks/refusal-hints.ts';
import {
  checkAccepted,
  checkErrorCode,
  checkErrorShape,
  checkErrorStrings,
  checkNoServerError,
  checkRefused,
  checkWrongKey,
  isErrorResponse,
  requireControlAccepted,
  requirePlainAccepted,
} from '../../engine/checks/responses.ts';
import { requireSurvival } from '../../engine/checks/crashes.ts';
import { checkShape, isObjectFrom } from '../../engine/checks/shape.ts';
import { isConclusive } from '../../engine/transcript/repetitions.ts';
import {
  type Exchange,
  isAccepted,
  isNotFound,
  isRateLimited,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { type Endpoint, formatValue, resolvePointer } from '../../../src/contract/index.ts';

const typeHint = { accepted: "Check that `user_id` is a string, and don't convert other types." };
const charactersHint = {
  accepted: 'Match the whole id, not a part of it, against letters, digits, and underscores.',
};

/** Hints for create requests that the sandbox doesn't refuse as required, by step. */
export const createRefusalHints: Readonly<Record<RefusedCreateStep, RefusalHint>> = {
  'user_id missing': typeHint,
  'user_id a number': typeHint,
  'user_id null': typeHint,
  'user_id with a hyphen': charactersHint,
  'user_id with a space': charactersHint,
  'user_id with a dot': charactersHint,
  'user_id with a slash': charactersHint,
  'user_id with a line break': {
    accepted: 'Match the whole id: in many languages, $ also matches before a final line break.',
  },
  'user_id of 65 characters': { accepted: 'Check that the id has at most 64 characters.' },
  'user_id empty': { accepted: 'Check that the id has at least one character.' },
  'body not JSON': malformedBodyHint,
  'body empty': malformedBodyHint,
  'body an array': malformedBodyHint,
  duplicate: {
    accepted:
      'Look up the id before you create the user; if it exists, respond with 409 and the code user_exists.',
    crashed: 'Catch the conflict of ids and respond with 409 and the code user_exists.',
  },
};

const statusOf = (exchange: Exchange): number => exchange.response?.status ?? 0;
const isUsers = (exchange: Exchange): boolean =>
  exchange.endpoint === 'create' || exchange.endpoint === 'delete';

/** Recreating a deleted user may succeed or fail, but the request must get a response. */
const isWellFormed = (exchange: Exchange): boolean =>
  exchange.intent === 'valid' || isCreateStep('created again')(exchange);

/** Whether an optional endpoint is missing: every valid request gets a 404, 405, or 501. */
export function isAbsent(endpoint: Endpoint, transcript: Transcript): boolean {
  const valid = transcript.exchanges.filter(
    (exchange) =>
      exchange.endpoint === endpoint &&
      exchange.intent === 'valid' &&
      isConclusive(exchange, transcript),
  );
  return valid.length > 0 && valid.every(isNotFound);
}

/** Makes a check not applicable if the sandbox doesn't implement the endpoint. */
function unlessAbsent(endpoint: 'create' | 'delete', check: Check): Check {
  const path = endpoint === 'create' ? 'POST /users' : 'DELETE /users/{user_id}';
  return {
    ...check,
    evidence: (transcript) => (isAbsent(endpoint, transcript) ? [] : check.evidence(transcript)),
    unjudged(transcript) {
      if (isAbsent(endpoint, transcript)) {
        return {
          verdict: 'not_applicable',
          reason: `The sandbox doesn't implement ${path}, which is optional.`,
        };
      }
      if (isAbsent('create', transcript)) {
        return {
          verdict: 'not_applicable',
          reason: "The sandbox doesn't implement POST /users, so there are no users.",
        };
      }
      return check.unjudged(transcript);
    },
  };
}

const isCreateResponse = isObjectFrom('create');
const isDeleteResponse = isObjectFrom('delete');
const notCreated = explainNoValidResponse('create');
const notDeleted = explainNoValidResponse('delete');
const noCreatedId: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(isCreateResponse)
    ? { verdict: 'blocked', reason: 'No create response has `user_id`, a string.' }
    : notCreated(transcript);
const noResponseHasField = unjudgedAs('not_applicable', 'No create response has this field.');
const noErrorResponse = unjudgedAs('not_observed', 'No request about users got an error response.');
const noResponseWith = (status: number): Check['unjudged'] =>
  unjudgedAs('not_observed', `No request about users got a ${status} response.`);

const isValidStep = (step: string): step is ValidCreateStep =>
  Object.hasOwn(validCreateSteps, step);

/** Returns the requirement that the valid create request of a step must meet. */
const requirementOf = (step: string): UsersRequirementId | undefined => {
  if (step === GENERATED) return undefined;
  // USERS-001 also covers steps of recordings that these probes didn't make.
  return isValidStep(step) ? validCreateSteps[step] : 'USERS-001';
};

const generated = readGenerated('create', userProperties);

/** Requires the valid create requests of a requirement to succeed. */
const succeeds = (id: UsersRequirementId): Check =>
  unlessAbsent(
    'create',
    checkAccepted('create', (step) => requirementOf(step) === id, notCreated),
  );

/** Requires the valid create requests of a requirement to succeed, if the baseline succeeds. */
const succeedsLikeBaseline = (id: UsersRequirementId, baseline: ValidCreateStep): Check =>
  unlessAbsent(
    'create',
    requirePlainAccepted(
      (plain, { properties }) => isCreateStep(properties ? 'full' : baseline)(plain),
      isCreateResponse,
      generated.include(
        id,
        checkAccepted('create', (step) => requirementOf(step) === id, notCreated),
      ),
    ),
  );

/** Requires this status (undefined: any 4xx) for the create requests that a requirement forbids. */
const refuses = (id: UsersRequirementId, status: number | undefined): Check => {
  const steps = Object.entries(refusedCreateSteps).filter(([, requirement]) => requirement === id);
  return unlessAbsent(
    'create',
    checkRefused(
      'create',
      steps.map(([step]) => step),
      status,
      notCreated,
      createRefusalHints,
    ),
  );
};

/** The fields at some places of a create response match the schema. */
const createdField = (unjudged: Check['unjudged'], ...places: string[]): Check =>
  unlessAbsent(
    'create',
    checkShape({ message: 'UserCreated', filter: isCreateResponse, places, unjudged }),
  );

/** The field at a place of a delete response matches the schema. */
const deletedField = (place: string): Check =>
  unlessAbsent(
    'delete',
    checkShape({
      message: 'UserDeleted',
      filter: isDeleteResponse,
      places: [place],
      unjudged: notDeleted,
    }),
  );

const isRefusedDuplicate = (exchange: Exchange): boolean =>
  isCreateStep('duplicate')(exchange) && statusOf(exchange) >= 400 && !isRateLimited(exchange);
const isError = (exchange: Exchange): boolean =>
  isUsers(exchange) && (isErrorResponse(exchange) || isRefusedDuplicate(exchange));
const isErrorWith =
  (status: number) =>
  (exchange: Exchange): boolean =>
    isUsers(exchange) &&
    isErrorResponse(exchange) &&
    statusOf(exchange) === status &&
    !isRefusedDuplicate(exchange);

/** The checks for `POST /users` and `DELETE /users/{user_id}`, by requirement. */
export const usersChecks = {
  'USERS-001': succeeds('USERS-001'),
  'USERS-002': succeeds('USERS-002'),
  'USERS-003': succeedsLikeBaseline('USERS-003', 'minimal'),
  'USERS-004': succeedsLikeBaseline('USERS-004', 'minimal'),
  'USERS-007': succeedsLikeBaseline('USERS-007', 'minimal'),
  'USERS-008': succeedsLikeBaseline('USERS-008', 'minimal'),
  'USERS-009': requireSurvival('create', succeedsLikeBaseline('USERS-009', 'full')),
  'USERS-010': unlessAbsent('create', checkNoServerError(isUsers, notCreated, isWellFormed)),
  'USERS-020': createdField(notCreated, '/user_id'),
  'USERS-021': unlessAbsent('create', checkUserId(hasCreatedId, sentUserId, noCreatedId)),
  'USERS-022': createdField(notCreated, '/created_at'),
  'USERS-023': createdField(notCreated, '/status'),
  'USERS-024': createdField(noResponseHasField, '/session_id'),
  'USERS-025': createdField(noResponseHasField, '/profile_id'),
  'USERS-026': createdField(noResponseHasField, '/capabilities', '/capabilities/*'),
  'USERS-030': unlessAbsent(
    'delete',
    checkAccepted('delete', () => true, notDeleted, isFirstDeletion),
  ),
  'USERS-031': unlessAbsent('delete', checkUserId(isDeleteResponse, pathUserId, notDeleted)),
  'USERS-032': deletedField('/deleted_at'),
  'USERS-033': deletedField('/status'),
  'USERS-034': unlessAbsent('delete', checkUnknownUser()),
  'USERS-060': refuses('USERS-060', 400),
  'USERS-061': refuses('USERS-061', 400),
  'USERS-062': refuses('USERS-062', 400),
  'USERS-063': refuses('USERS-063', 400),
  'USERS-064': refuses('USERS-064', 400),
  'USERS-065': refuses('USERS-065', 400),
  'USERS-066': refuses('USERS-066', undefined),
  'USERS-070': unlessAbsent('create', checkErrorShape(isError, noErrorResponse)),
  'USERS-071': unlessAbsent('create', checkErrorStrings(isError, noErrorResponse)),
  'USERS-072': unlessAbsent(
    'create',
    checkErrorCode('bad_request', isErrorWith(400), noResponseWith(400)),
  ),
  'USERS-073': checkErrorCode('rate_limit_exceeded', isErrorWith(429), noResponseWith(429)),
  'USERS-074': checkErrorCode('server_error', isErrorWith(500), noResponseWith(500)),
  'USERS-075': unlessAbsent(
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
  'USERS-080': reportStatus('create'),
  'USERS-081': reportStatus('delete'),
  'USERS-082': checkLeftoverUsers(),
  'USERS-083': unlessAbsent('create', checkWrongKey('create')),
} satisfies Record<UsersRequirementId, Check>;

/** `user_id` of each response equals the id that the request names. */
function checkUserId(
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

function hasCreatedId(exchange: Exchange): boolean {
  return (
    isCreateResponse(exchange) && typeof resolvePointer(exchange.json, '/user_id') === 'string'
  );
}

function sentUserId({ sent }: Exchange): unknown {
  return resolvePointer(sent, '/user_id');
}

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
      (statusOf(exchange) >= 500 && !isNotFound(exchange)) || !exchange.response
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

/** Reports the success status of an endpoint, which the specification leaves open. */
function reportStatus(endpoint: 'create' | 'delete'): Check {
  return unlessAbsent(endpoint, {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (exchange) =>
          exchange.endpoint === endpoint && exchange.intent === 'valid' && isAccepted(exchange),
      ),
    judge(evidence) {
      const [first] = evidence;
      if (!first) return [];
      const statuses = new Set(evidence.map(statusOf));
      return [
        {
          exchange: first.id,
          pointer: '',
          expected: 'any 2xx status',
          received: [...statuses].join(', '),
        },
      ];
    },
    unjudged: endpoint === 'create' ? notCreated : notDeleted,
  });
}

/** Reports the users that the check created and didn't delete. */
function checkLeftoverUsers(): Check {
  const isCreated = (exchange: Exchange): boolean =>
    exchange.endpoint === 'create' && isAccepted(exchange);
  return {
    evidence: ({ exchanges }) => exchanges.filter(isCreated),
    judge(evidence, { exchanges }) {
      const isDeleted = (exchange: Exchange): boolean =>
        exchanges.some(
          (other) =>
            other.endpoint === 'delete' &&
            isAccepted(other) &&
            other.id > exchange.id &&
            pathUserId(other) === sentUserId(exchange),
        );
      const [first, ...more] = evidence.filter((exchange) => !isDeleted(exchange));
      if (!first) return [];
      const others = more.length === 0 ? '' : ` and ${more.length} more`;
      const received = `${formatValue(sentUserId(first))}${others} not deleted`;
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
