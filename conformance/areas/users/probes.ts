/** What a run sends to `POST /users` and `DELETE /users/{user_id}`, in the order it is sent. */
import { resolvePointer, USER_ID_LENGTH_MAX } from '../../../src/contract/index.ts';
import { cost, type Step } from '../../engine/probe.ts';
import {
  type Exchange,
  isAccepted,
  isNotFound,
  PREFLIGHT,
} from '../../engine/transcript/reading.ts';
import type { SandboxContext, SandboxProbe } from '../sandbox-state.ts';
import { malformed } from './refusals.ts';
import {
  AT_ONCE,
  create,
  createCreation,
  createDeletion,
  createFullUser,
  createUserId,
  deleteUsers,
  DUPLICATE,
  FIRST_AGAIN,
  LEADING_ZERO,
  LONG_IDS,
  OTHER_CASE,
  SHORTER_ID,
} from './requests.ts';
import { GENERATED_USERS, sweepUsers } from './sweep.ts';

type UsersProbe = Omit<SandboxProbe, 'exercises'>;

/** Creates the user that the other requests name. */
const preflight: UsersProbe = {
  id: PREFLIGHT,
  area: 'users',
  phase: 'preflight',
  // Chat and voice need a user to talk as.
  alsoFor: ['chat', 'voice'],
  cost: cost(1, 0, 1),
  async run(context) {
    const userId = createUserId(context);
    const exchange = await create(context, 'full', createFullUser(userId));
    const { users } = context;
    users.isUnsupported = exchange !== undefined && isNotFound(exchange);
    if (exchange && (isAccepted(exchange) || users.isUnsupported)) users.chatAs = userId;
  },
};

/**
 * The optional fields in sequence, so that a sandbox that fails every nth time fails at the same
 * step in every run; then requests that combine everything that the specification allows.
 */
const forms: UsersProbe = {
  id: 'users/forms',
  area: 'users',
  phase: 'accepted',
  cost: cost(7 + 4 + GENERATED_USERS + 1, 0, 5 + 4 + GENERATED_USERS + 1),
  async run(context) {
    if (context.users.isUnsupported) return;
    const userId = createUserId(context);
    const minimal = await create(context, 'minimal', { user_id: userId });
    const { profile: _profile, ...withMetadata } = createFullUser(createUserId(context));
    await create(context, 'with metadata', withMetadata);
    const { metadata: _metadata, ...withProfile } = createFullUser(createUserId(context));
    await create(context, 'with profile', withProfile);
    await deleteAndCreateAgain(context);
    await createSimilar(context, userId);
    if (!minimal || !isAccepted(minimal)) return;
    await sweepUsers(context);
    await createWithLeadingZero(context);
  },
};

/** Deletes a user twice and creates it again. */
async function deleteAndCreateAgain(context: SandboxContext): Promise<void> {
  const request = createFullUser(createUserId(context));
  const created = await create(context, 'to be deleted', request);
  if (!created || !isAccepted(created)) return;
  const { existing } = context.users;
  await deleteUsers(context, [request.user_id]);
  await context.send(createDeletion('deleted again', 'open', request.user_id));
  const exchange = await context.send(createCreation('created again', 'open', request));
  if (exchange && isAccepted(exchange)) existing.add(request.user_id);
}

/** Creates users whose ids start like that of an existing one, or differ from it only in case. */
async function createSimilar(context: SandboxContext, id: string): Promise<void> {
  const [longer, common] = LONG_IDS;
  const longest = id.padEnd(USER_ID_LENGTH_MAX, '0');
  await create(context, longer, createFullUser(longest));
  // An underscore matches any character in SQL LIKE.
  await create(context, common, createFullUser(`${longest.slice(0, -2)}_0`));
  await create(context, SHORTER_ID, { user_id: id.slice(0, -1) });
  const otherCase = await context.send(
    createCreation(OTHER_CASE, 'open', { user_id: swapCase(id) }),
  );
  if (otherCase && isAccepted(otherCase)) context.users.existing.add(swapCase(id));
}

/** Creates a user whose id is the same number as that of an existing one. */
async function createWithLeadingZero(context: SandboxContext): Promise<void> {
  const id = [...context.users.existing].find((each) => DIGITS.test(each));
  if (id !== undefined) await create(context, LEADING_ZERO, { user_id: `0${id}` });
}

/** The generated id of only digits. A shorter one may be somebody else's. */
const DIGITS = /^\d{16}$/;

const swapCase = (id: string): string => id.replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** A race may show only now and then. */
const PAIRS = 3;

/**
 * Creates users twice at the same moment, one after another while few other requests are in flight, and
 * deletes the first one twice at the same moment.
 */
const atOnce: UsersProbe = {
  id: 'users/at-once',
  area: 'users',
  phase: 'after',
  cost: cost(2 * PAIRS + 2, 0, PAIRS),
  async run(context) {
    if (context.users.isUnsupported) return;
    const { existing } = context.users;
    const sendTwice = (step: Step): Promise<(Exchange | undefined)[]> =>
      Promise.all([1, 2].map(() => context.send({ ...step, order: 'together', atOnce: 2 })));
    const isAnyAccepted = (exchanges: readonly (Exchange | undefined)[]): boolean =>
      exchanges.some((exchange) => exchange && isAccepted(exchange));
    for (let pair = 1; pair <= PAIRS; pair++) {
      const request = createFullUser(createUserId(context));
      const { user_id: userId } = request;
      const created = await sendTwice(createCreation(AT_ONCE, 'open', request));
      if (!isAnyAccepted(created)) return;
      existing.add(userId);
      if (pair > 1) continue;
      const deleted = await sendTwice(createDeletion(AT_ONCE, 'open', userId));
      if (isAnyAccepted(deleted)) existing.delete(userId);
    }
  },
};

/** The length of the random end of an id, which is a valid id by itself. */
const ID_END_LENGTH = 12;

/**
 * Sends a request that succeeds and deletes an unknown user, then sends the request with one edit at a
 * time, and the same again.
 */
const refusals: UsersProbe = {
  id: 'users/refusals',
  area: 'users',
  phase: 'refused',
  cost: cost(Object.keys(malformed.edits).length + 3, 0, 1),
  async run(context) {
    const request = createFullUser(createUserId(context));
    // A deletion that compares only a part of ids also deletes the user of the control request.
    const deletion = createDeletion('unknown user', 'open', request.user_id.slice(-ID_END_LENGTH));
    if (context.users.isUnsupported) {
      await context.send(deletion);
      return;
    }
    const control = await create(context, 'control', request);
    await context.send(deletion);
    if (!control) return;
    await Promise.all([
      ...Object.entries(malformed.edits).map(async ([step, { edit }]) => {
        const body = edit(request);
        const sent = { endpoint: 'create', step, intent: 'refuse', control, body } as const;
        remember(context, await context.send(sent));
      }),
      context.send(createCreation(DUPLICATE, 'refuse', request, { control })),
    ]);
  },
};

/** Remembers a user that should not have been created, so that cleanup deletes it. */
function remember(context: SandboxContext, exchange: Exchange | undefined): void {
  const id =
    exchange && isAccepted(exchange) ? resolvePointer(exchange.json, '/user_id') : undefined;
  if (typeof id === 'string' && id !== '') context.users.wronglyAccepted.add(id);
}

/** Requests whose response the specification leaves open; the report lists what was observed. */
const silences: UsersProbe = {
  id: 'users/silences',
  area: 'users',
  phase: 'refused',
  cost: cost(3, 0, 2),
  async run(context) {
    if (context.users.isUnsupported) return;
    const answers = await Promise.all(
      [
        createCreation('wrong key', 'open', { user_id: createUserId(context) }, { key: 'wrong' }),
        createCreation('non-ASCII letters', 'open', {
          user_id: `müller_${context.random.id(12)}`,
        }),
        createCreation('metadata a string', 'open', {
          user_id: createUserId(context),
          metadata: 'evening',
        }),
      ].map((step) => context.send(step)),
    );
    for (const exchange of answers) remember(context, exchange);
  },
};

const after: UsersProbe = {
  id: 'users/after',
  area: 'users',
  phase: 'after',
  cost: cost(2, 0, 1),
  async run(context) {
    if (context.users.isUnsupported) return;
    const control = await create(context, 'after refusals', createFullUser(createUserId(context)));
    const { chatAs: first } = context.users;
    if (!control || first === undefined) return;
    // A sandbox may remember only the newest users.
    await context.send(createCreation(FIRST_AGAIN, 'refuse', createFullUser(first), { control }));
  },
};

/** Deletes every user that the run created. */
const cleanup: UsersProbe = {
  id: 'users/cleanup',
  area: 'users',
  phase: 'cleanup',
  alsoFor: ['chat', 'voice'],
  cleansUp: true,
  cost: (_prompts, users) => ({
    requests: users,
    modelCalls: 0,
    users: 0,
    calls: 0,
  }),
  async run(context) {
    const { existing, wronglyAccepted } = context.users;
    await Promise.all([
      deleteUsers(context, existing),
      ...[...wronglyAccepted]
        .filter((id) => !existing.has(id))
        .map((id) => context.send(createDeletion('stray', 'open', id))),
    ]);
  },
};

/** The probes of `POST /users` and `DELETE /users/{user_id}`. */
export const usersProbes: readonly UsersProbe[] = [
  preflight,
  forms,
  refusals,
  silences,
  after,
  atOnce,
  cleanup,
];
