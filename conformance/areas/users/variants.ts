import {
  createAcceptedResponse,
  acceptInstead,
  changeResponse,
  chain,
  editBody,
  errorResponse,
  respondInstead,
  isAccepted,
  jsonResponse,
  editAccepted,
  replaceParts,
  set,
  to,
} from '../../engine/mutants/combinators.ts';
import {
  createVariantFactory,
  type ProxyRequest,
  type ProxyResponse,
  type TransformFactory,
  type Variant,
} from '../../engine/mutants/mutant.ts';
import { hasWrongKey, stringAt, userIdOf, where } from '../../engine/mutants/requests.ts';
import { isObject } from '../../../src/platform/json.ts';
import { withKnownUsers, onDuplicate } from './mutants/requests.ts';

const variant = createVariantFactory('users', ['chat', 'users']);

const create = to('create');
const remove = to('delete');
const users: typeof create = (request) => create(request) || remove(request);

const withStatus = (status: number): TransformFactory =>
  replaceParts(users, { status }, isAccepted);

const absent = (status: number): TransformFactory =>
  respondInstead(users, () => ({
    status,
    headers: { 'content-type': 'text/plain' },
    body: 'Not here',
  }));

const onUnknown = (response: ProxyResponse | undefined): TransformFactory =>
  withKnownUsers((request, isKnown, clock) =>
    request.endpoint === 'delete' && !isKnown
      ? (response ?? createAcceptedResponse(request, clock))
      : undefined,
  );

const onDuplicates = (status: number): TransformFactory =>
  onDuplicate(() => errorResponse(status, 'user_exists'));

const statuses: Variant[] = [
  variant('200', 'Responds to creations and deletions with 200.', withStatus(200)),
  variant('202', 'Responds to creations and deletions with 202.', withStatus(202)),
  variant('201-twice', 'Responds to creations and deletions with 201.', withStatus(201)),
  variant('duplicate-400', 'Refuses duplicates with 400.', onDuplicates(400)),
  variant('duplicate-409', 'Refuses duplicates with 409.', onDuplicates(409)),
  variant('duplicate-limited', 'Sends a 429 to the first duplicate.', () => {
    let isLimited = false;
    return withKnownUsers((request, isKnown) => {
      if (request.endpoint !== 'create' || !isKnown || isLimited) return undefined;
      isLimited = true;
      const { status, headers, body } = errorResponse(429, 'rate_limit_exceeded');
      return { status, headers: { ...headers, 'retry-after': '0' }, body };
    })();
  }),
  variant('duplicate-422', 'Refuses duplicates with 422.', onDuplicates(422)),
  variant(
    'unknown-200',
    'Responds to the deletion of an unknown user as if it existed.',
    onUnknown(undefined),
  ),
  variant(
    'unknown-404',
    'Responds to the deletion of an unknown user with 404.',
    onUnknown(jsonResponse(404, { detail: 'unknown' })),
  ),
  variant(
    'unknown-400',
    'Responds to the deletion of an unknown user with 400.',
    onUnknown(jsonResponse(400, { detail: 'unknown' })),
  ),
  variant(
    'unknown-410',
    'Responds to the deletion of an unknown user with 410.',
    onUnknown(jsonResponse(410, {})),
  ),
];

const absences: Variant[] = [
  variant('absent-404', 'Has no `/users` and responds with 404.', absent(404)),
  variant('absent-405', 'Has no `/users` and responds with 405.', absent(405)),
  variant('absent-501', 'Has no `/users` and responds with 501.', absent(501)),
  variant(
    'delete-absent-404',
    'Creates users but responds to deletions with 404.',
    respondInstead(remove, () => jsonResponse(404, { detail: 'Not Found' })),
  ),
  variant(
    'delete-absent-405',
    'Creates users but responds to deletions with 405.',
    respondInstead(remove, () => jsonResponse(405, { detail: 'Method Not Allowed' })),
  ),
];

const bodies: Variant[] = [
  variant(
    'bare',
    'Sends only the required fields.',
    changeResponse(users, (response, request) =>
      editBody(response, request, (body) => {
        const required = ['user_id', 'created_at', 'deleted_at', 'status'];
        for (const key of Object.keys(body)) {
          if (isAccepted(response) && !required.includes(key)) Reflect.deleteProperty(body, key);
        }
      }),
    ),
  ),
  variant(
    'extra-fields',
    'Sends unknown fields.',
    chain(
      editAccepted('create', set('/metadata', { any: null }), set('/id', 7)),
      editAccepted('delete', set('/already', false)),
    ),
  ),
  variant(
    'everything',
    'Sends every optional field.',
    editAccepted(
      'create',
      set('/session_id', 'session-1'),
      set('/profile_id', 'profile-1'),
      set('/capabilities', ['chat', 'voice']),
    ),
  ),
  variant(
    'capabilities-empty',
    'Sends an empty `capabilities`.',
    editAccepted('create', set('/capabilities', [])),
  ),
  variant(
    'inactive',
    'Creates inactive users.',
    editAccepted('create', set('/status', 'inactive')),
  ),
  variant('pending', 'Creates pending users.', editAccepted('create', set('/status', 'pending'))),
];

const isBeyondAscii = where(
  'user_id',
  (id) => typeof id === 'string' && /[\u0080-\uffff]/.test(id),
);
const oddMetadata = where('metadata', (metadata) => typeof metadata === 'string');
const isOpen: typeof create = (request) =>
  [hasWrongKey, isBeyondAscii, oddMetadata].some((when) => when(request));

/** Refuses to create a deleted user again. */
function refuseDeletedUsers(): ReturnType<TransformFactory> {
  const deleted = new Set<string>();
  return async (request, forward) => {
    const userId = stringAt('user_id', request) ?? '';
    if (request.endpoint === 'create' && deleted.has(userId))
      return errorResponse(409, 'user_exists');
    const response = await forward(request);
    if (request.endpoint === 'delete' && isAccepted(response)) deleted.add(userIdOf(request));
    return response;
  };
}

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

const silences: Variant[] = [
  variant(
    'open-taken',
    'Accepts every request that is not forbidden.',
    acceptInstead(to('create', isOpen)),
  ),
  variant(
    'open-refused',
    'Refuses every request that is not required, in its own error format.',
    respondInstead(to('create', isOpen), () => jsonResponse(403, { detail: 'no' })),
  ),
  variant(
    'unknown-keys-refused',
    'Refuses fields that the specification does not name.',
    respondInstead(to('create', hasUnknownKeys), () => errorResponse(400, 'bad_request')),
  ),
  variant('deleted-stay-deleted', 'Refuses to create a deleted user again.', refuseDeletedUsers),
];

/** Legal variants of `POST /users` and `DELETE /users/{user_id}`. */
export const usersVariants: readonly Variant[] = [...statuses, ...absences, ...bodies, ...silences];
