import { brief, valueAt, type Endpoint } from '../../../src/contract/index.ts';
import type { usersRequirements } from './requirements.ts';
import {
  answered,
  errorPair,
  errorShape,
  errorStrings,
  isErrorAnswer,
  neverBroken,
  onceControl,
  oncePlain,
  refused,
  wrongKeyRefused,
} from '../../engine/checks/responses.ts';
import {
  notJudged,
  checkEach,
  noValidResponse,
  wrongOutcome,
  type Check,
} from '../../engine/checks/check.ts';
import { answersOf, shape } from '../../engine/checks/shape.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
  isNotFound,
} from '../../engine/transcript/reading.ts';

const statusOf = (one: Exchange): number => one.response?.status ?? 0;
const isUsers = (one: Exchange): boolean => one.endpoint === 'create' || one.endpoint === 'delete';

/** Whether a deleted id may be had again is open; that the request for it is answered is not. */
const isWellFormed = ({ intent, step }: Exchange): boolean =>
  intent === 'valid' || step === 'created again';

/** Whether a sandbox leaves an optional endpoint out: every valid request says so. */
export function isAbsent(endpoint: Endpoint, { exchanges }: Transcript): boolean {
  const valid = exchanges.filter((one) => one.endpoint === endpoint && one.intent === 'valid');
  return valid.length > 0 && valid.every(isNotFound);
}

function unlessAbsent(endpoint: 'create' | 'delete', check: Check): Check {
  const path = endpoint === 'create' ? 'POST /users' : 'DELETE /users/{user_id}';
  return {
    ...check,
    evidence: (transcript) => (isAbsent(endpoint, transcript) ? [] : check.evidence(transcript)),
    unjudged(transcript) {
      if (isAbsent(endpoint, transcript)) {
        return { verdict: 'not_applicable', reason: `${path} is optional, and absent here.` };
      }
      if (isAbsent('create', transcript)) {
        return { verdict: 'not_applicable', reason: 'Without POST /users there is no user.' };
      }
      return check.unjudged(transcript);
    },
  };
}

const created = answersOf('create');
const deleted = answersOf('delete');
const notCreated = noValidResponse('create');
const notDeleted = noValidResponse('delete');
const leftOut = notJudged('not_applicable', 'No answer carries it.');

const ownSteps = [
  'minimal',
  'with profile',
  'with metadata',
  'with a name',
  'with a persona',
  '64 characters',
  'capitals',
  'leading digit',
  'leading underscore',
  'after refusals',
];

/** Requests of some steps, judged where the plain one was taken. */
const step = (plain: string, ...names: string[]): Check =>
  unlessAbsent(
    'create',
    oncePlain(
      (one) => one.endpoint === 'create' && one.step === plain,
      created,
      answered('create', (name) => names.includes(name), notCreated),
    ),
  );

const createdField = (place: string, absent: Check['unjudged'], ...more: string[]): Check =>
  unlessAbsent(
    'create',
    shape({ message: 'UserCreated', answers: created, at: [place, ...more], absent }),
  );

const deletedField = (place: string): Check =>
  unlessAbsent(
    'delete',
    shape({ message: 'UserDeleted', answers: deleted, at: [place], absent: notDeleted }),
  );

const refuses = (...steps: string[]): Check =>
  unlessAbsent('create', refused('create', steps, 400, notCreated));

const isDuplicate = (one: Exchange): boolean =>
  one.endpoint === 'create' && one.step === 'duplicate' && statusOf(one) >= 400;
const errors = (one: Exchange): boolean => isUsers(one) && (isErrorAnswer(one) || isDuplicate(one));
const withStatus =
  (status: number) =>
  (one: Exchange): boolean =>
    isUsers(one) && isErrorAnswer(one) && statusOf(one) === status && !isDuplicate(one);
const neverSeen = (status: number): Check['unjudged'] =>
  notJudged('not_observed', `No request was answered with ${status}.`);
const noError = notJudged('not_observed', 'No error answer was seen.');

/** The checks of `POST /users` and `DELETE /users/{user_id}`, one for each requirement. */
export const usersChecks = {
  'USERS-001': unlessAbsent(
    'create',
    answered('create', (name) => !ownSteps.includes(name), notCreated),
  ),
  'USERS-002': unlessAbsent(
    'create',
    answered('create', (name) => name === 'minimal', notCreated),
  ),
  'USERS-003': step('minimal', 'with profile', 'with a name'),
  'USERS-004': step('minimal', 'with metadata', 'with a persona'),
  'USERS-007': step('minimal', '64 characters'),
  'USERS-008': step('minimal', 'capitals', 'leading digit', 'leading underscore'),
  'USERS-009': step('full', 'after refusals'),
  'USERS-010': unlessAbsent('create', neverBroken(isUsers, notCreated, isWellFormed)),
  'USERS-020': createdField('/user_id', notCreated),
  'USERS-021': unlessAbsent('create', echoes()),
  'USERS-022': createdField('/created_at', notCreated),
  'USERS-023': createdField('/status', notCreated),
  'USERS-024': createdField('/session_id', leftOut),
  'USERS-025': createdField('/profile_id', leftOut),
  'USERS-026': createdField('/capabilities', leftOut, '/capabilities/*'),
  'USERS-030': unlessAbsent(
    'delete',
    answered('delete', () => true, notDeleted),
  ),
  'USERS-031': unlessAbsent('delete', deletesTheRightOne()),
  'USERS-032': deletedField('/deleted_at'),
  'USERS-033': deletedField('/status'),
  'USERS-034': unlessAbsent('delete', survivesUnknown()),
  'USERS-060': refuses('user_id missing'),
  'USERS-061': refuses('user_id a number', 'user_id null'),
  'USERS-062': refuses(
    'user_id with a hyphen',
    'user_id with a space',
    'user_id with a dot',
    'user_id with a slash',
    'user_id with a line break',
  ),
  'USERS-063': refuses('user_id of 65 characters'),
  'USERS-064': refuses('user_id empty'),
  'USERS-065': refuses('body not JSON', 'body empty', 'body an array'),
  'USERS-066': unlessAbsent('create', refused('create', ['duplicate'], undefined, notCreated)),
  'USERS-070': unlessAbsent('create', errorShape(errors, noError)),
  'USERS-071': unlessAbsent('create', errorStrings(errors, noError)),
  'USERS-072': unlessAbsent('create', errorPair('bad_request', withStatus(400), neverSeen(400))),
  'USERS-073': errorPair('rate_limit_exceeded', withStatus(429), neverSeen(429)),
  'USERS-074': errorPair('server_error', withStatus(500), neverSeen(500)),
  'USERS-075': unlessAbsent(
    'create',
    onceControl(
      errorPair(
        'user_exists',
        isDuplicate,
        notJudged('blocked', 'The duplicate was not refused.'),
        'judge what has no error object',
      ),
    ),
  ),
  'USERS-080': recorded('create'),
  'USERS-081': recorded('delete'),
  'USERS-082': leftBehind(),
  'USERS-083': unlessAbsent('create', wrongKeyRefused('create')),
} satisfies Record<keyof typeof usersRequirements, Check>;

function echoes(): Check {
  return checkEach(
    (one) =>
      created(one) && one.intent === 'valid' && typeof valueAt(one.json, '/user_id') === 'string',
    (one) => {
      const wanted = valueAt(one.sent, '/user_id');
      const got = valueAt(one.json, '/user_id');
      return got === wanted
        ? []
        : [
            {
              exchange: one.id,
              pointer: '/user_id',
              expected: brief(wanted),
              received: brief(got),
            },
          ];
    },
    notCreated,
  );
}

function deletesTheRightOne(): Check {
  return checkEach(
    (one) => deleted(one) && one.intent === 'valid',
    (one) => {
      const wanted = userOf(one.request.path);
      const got = valueAt(one.json, '/user_id');
      return got === wanted
        ? []
        : [
            {
              exchange: one.id,
              pointer: '/user_id',
              expected: brief(wanted),
              received: brief(got),
            },
          ];
    },
    notDeleted,
  );
}

/** The user id in a path; as it stands there, where a recording has a path that no request has. */
function userOf(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

function survivesUnknown(): Check {
  return checkEach(
    (one) => one.endpoint === 'delete' && one.step === 'unknown user',
    (one) =>
      (statusOf(one) >= 500 && !isNotFound(one)) || !one.response
        ? [wrongOutcome(one, 'any answer but a server error', 'Answer an unknown id with 404.')]
        : [],
    notDeleted,
  );
}

/** Statuses that the specification leaves open: what came is the finding, and a note. */
function recorded(endpoint: 'create' | 'delete'): Check {
  return unlessAbsent(endpoint, {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (one) => one.endpoint === endpoint && one.intent === 'valid' && isAccepted(one),
      ),
    judge: ([first], { exchanges }) => {
      if (!first) return [];
      const seen = new Set(
        exchanges
          .filter((one) => one.endpoint === endpoint && one.intent === 'valid' && isAccepted(one))
          .map(statusOf),
      );
      return [
        {
          exchange: first.id,
          pointer: '',
          expected: 'any 2xx',
          received: [...seen].join(', '),
        },
      ];
    },
    unjudged: endpoint === 'create' ? notCreated : notDeleted,
  });
}

/** Users that the kit created and that are still there. */
function leftBehind(): Check {
  const isCreated = (one: Exchange): boolean => one.endpoint === 'create' && isAccepted(one);
  const idOf = (one: Exchange): unknown => valueAt(one.sent, '/user_id');
  return {
    evidence: ({ exchanges }) => exchanges.filter(isCreated),
    judge(evidence, { exchanges }) {
      const isDeleted = (one: Exchange): boolean =>
        exchanges.some(
          (other) =>
            other.endpoint === 'delete' &&
            isAccepted(other) &&
            other.id > one.id &&
            userOf(other.request.path) === idOf(one),
        );
      const [first, ...more] = evidence.filter((one) => !isDeleted(one));
      if (!first) return [];
      const others = more.length === 0 ? '' : ` and ${more.length} more`;
      const received = `${brief(idOf(first))}${others} left behind`;
      return [{ exchange: first.id, pointer: '', expected: 'deleted at the end', received }];
    },
    unjudged: notJudged('not_applicable', 'No user was created.'),
  };
}
