import {
  acceptance,
  acceptsInstead,
  changes,
  chain,
  edited,
  failure,
  instead,
  isAccepted,
  json,
  onAccepted,
  replaces,
  set,
  to,
} from '../../engine/mutants/combinators.ts';
import {
  variantsOf,
  type ProxyResponse,
  type TransformFactory,
  type Variant,
} from '../../engine/mutants/mutant.ts';
import { textAt, userOf, where } from '../../engine/mutants/requests.ts';
import { knowing, onDuplicate } from './mutants/requests.ts';

const variant = variantsOf('users', ['chat', 'users']);

const create = to('create');
const remove = to('delete');
const users: typeof create = (asked) => create(asked) || remove(asked);

const withStatus = (status: number): TransformFactory => replaces(users, { status }, isAccepted);

const absent = (status: number): TransformFactory =>
  instead(users, () => ({ status, headers: { 'content-type': 'text/plain' }, body: 'Not here' }));

const onUnknown = (answer: ProxyResponse | undefined): TransformFactory =>
  knowing((asked, isKnown, clock) =>
    asked.endpoint === 'delete' && !isKnown ? (answer ?? acceptance(asked, clock)) : undefined,
  );

const onDuplicates = (status: number): TransformFactory =>
  onDuplicate(() => failure(status, 'user_exists'));

const statuses: Variant[] = [
  variant('200', 'Creates and deletes with 200.', withStatus(200)),
  variant('202', 'Creates and deletes with 202.', withStatus(202)),
  variant('201-twice', 'Creates and deletes with 201.', withStatus(201)),
  variant('duplicate-400', 'Refuses duplicates with 400.', onDuplicates(400)),
  variant('duplicate-409', 'Refuses duplicates with 409.', onDuplicates(409)),
  variant('duplicate-422', 'Refuses duplicates with 422.', onDuplicates(422)),
  variant('unknown-200', 'Deletes unknown users as if they existed.', onUnknown(undefined)),
  variant('unknown-404', 'Knows no unknown users.', onUnknown(json(404, { detail: 'unknown' }))),
  variant('unknown-400', 'Refuses unknown users.', onUnknown(json(400, { detail: 'unknown' }))),
  variant('unknown-410', 'Says that unknown users are gone.', onUnknown(json(410, {}))),
];

const absences: Variant[] = [
  variant('absent-404', 'Has no /users: 404.', absent(404)),
  variant('absent-405', 'Has no /users: 405.', absent(405)),
  variant('absent-501', 'Has no /users: 501.', absent(501)),
  variant(
    'delete-absent-404',
    'Creates users, and has no way to delete them: 404.',
    instead(remove, () => json(404, { detail: 'Not Found' })),
  ),
  variant(
    'delete-absent-405',
    'Creates users, and has no way to delete them: 405.',
    instead(remove, () => json(405, { detail: 'Method Not Allowed' })),
  ),
];

const bodies: Variant[] = [
  variant(
    'bare',
    'Sends the required fields and nothing else.',
    changes(users, (answer, asked) =>
      edited(answer, asked, (body) => {
        const required = ['user_id', 'created_at', 'deleted_at', 'status'];
        for (const key of Object.keys(body)) {
          if (isAccepted(answer) && !required.includes(key)) Reflect.deleteProperty(body, key);
        }
      }),
    ),
  ),
  variant(
    'extra-fields',
    'Sends fields that nobody knows.',
    chain(
      onAccepted('create', set('/metadata', { any: null }), set('/id', 7)),
      onAccepted('delete', set('/already', false)),
    ),
  ),
  variant(
    'everything',
    'Sends every optional field.',
    onAccepted(
      'create',
      set('/session_id', 'session-1'),
      set('/profile_id', 'profile-1'),
      set('/capabilities', ['chat', 'voice']),
    ),
  ),
  variant('capabilities-empty', 'Can do nothing.', onAccepted('create', set('/capabilities', []))),
  variant('inactive', 'Creates inactive users.', onAccepted('create', set('/status', 'inactive'))),
  variant('pending', 'Creates pending users.', onAccepted('create', set('/status', 'pending'))),
];

const isWrongKey: typeof create = ({ headers }) =>
  headers['authorization'] === 'Bearer sandbox-kit-wrong-key';
const isBeyondAscii = where(
  'user_id',
  (id) => typeof id === 'string' && /[\u0080-\uffff]/.test(id),
);
const oddMetadata = where('metadata', (metadata) => typeof metadata === 'string');
const isOpen: typeof create = (asked) =>
  [isWrongKey, isBeyondAscii, oddMetadata].some((when) => when(asked));

/** Never gives an id twice, and says so in its own way. */
function neverAgain(): ReturnType<TransformFactory> {
  const deleted = new Set<string>();
  return async (asked, forward) => {
    const userId = textAt('user_id', asked) ?? '';
    if (asked.endpoint === 'create' && deleted.has(userId)) return failure(409, 'user_exists');
    const answer = await forward(asked);
    if (asked.endpoint === 'delete' && isAccepted(answer)) deleted.add(userOf(asked));
    return answer;
  };
}

const silences: Variant[] = [
  variant('open-taken', 'Takes all that is not forbidden.', acceptsInstead(to('create', isOpen))),
  variant(
    'open-refused',
    'Refuses in words of its own what is not asked for.',
    instead(to('create', isOpen), () => json(403, { detail: 'no' })),
  ),
  variant('deleted-stay-deleted', 'Creates no deleted user again.', neverAgain),
];

/** Legal variants of `POST /users` and `DELETE /users/{user_id}`. */
export const usersVariants: readonly Variant[] = [...statuses, ...absences, ...bodies, ...silences];
