import {
  USER_ID_LENGTH_MAX,
  resolvePointer,
  type UserCreateRequest,
} from '../../../src/contract/index.ts';
import type { UsersRequirementId } from './requirements.ts';
import { create, createDeletion, createUserId, fullUser } from './create.ts';
import { GENERATED_USERS, sweepUsers } from './generated/index.ts';
import type { OpenCreateStep, RefusedCreateStep } from './steps.ts';
import { cost, type Step } from '../../engine/probe.ts';
import type { SandboxContext, SandboxProbe } from '../sandbox-state.ts';
import {
  type Exchange,
  PREFLIGHT,
  isAccepted,
  isNotFound,
} from '../../engine/transcript/reading.ts';

type UsersProbe = SandboxProbe<UsersRequirementId>;

const { metadata, profile } = fullUser;

const preflight: UsersProbe = {
  id: PREFLIGHT,
  area: 'users',
  phase: 'preflight',
  // Chat and voice need a user to talk as.
  alsoFor: ['chat', 'voice'],
  exercises: ['USERS-001', 'USERS-020', 'USERS-021', 'USERS-022', 'USERS-023', 'USERS-080'],
  cost: cost(1, 0, 1),
  async run(context) {
    const id = createUserId(context);
    const exchange = await create(context, 'full', { user_id: id, metadata, profile });
    context.users.isUnsupported = exchange !== undefined && isNotFound(exchange);
    if (exchange && (isAccepted(exchange) || context.users.isUnsupported))
      context.users.chatAs = id;
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
  exercises: [
    'USERS-002',
    'USERS-003',
    'USERS-004',
    'USERS-007',
    'USERS-008',
    'USERS-030',
    'USERS-082',
  ],
  cost: cost(7 + GENERATED_USERS, 0, 5 + GENERATED_USERS),
  async run(context) {
    if (context.users.isUnsupported) return;
    const minimal = await create(context, 'minimal', { user_id: createUserId(context) });
    await create(context, 'with metadata', { user_id: createUserId(context), metadata });
    await create(context, 'with profile', { user_id: createUserId(context), profile });
    await deleteAndCreateAgain(context);
    if (minimal && isAccepted(minimal)) await sweepUsers(context);
  },
};

/** Deletes a user twice and creates it again. */
async function deleteAndCreateAgain(context: SandboxContext): Promise<void> {
  const request = { user_id: createUserId(context), metadata, profile };
  const created = await create(context, 'to be deleted', request);
  if (!created || !isAccepted(created)) return;
  const { existing } = context.users;
  const deleted = await context.send(createDeletion('delete', 'valid', request.user_id));
  if (deleted && isAccepted(deleted)) existing.delete(request.user_id);
  await context.send(createDeletion('deleted again', 'open', request.user_id));
  const again: Step<OpenCreateStep> = {
    endpoint: 'create',
    step: 'created again',
    intent: 'open',
    body: { json: request },
  };
  const exchange = await context.send(again);
  if (exchange && isAccepted(exchange)) existing.add(request.user_id);
}

/** Returns the bodies to refuse by step, each one edit away from the control request. */
function refusedBodies(
  request: UserCreateRequest,
): Record<RefusedCreateStep, NonNullable<Step['body']>> {
  const { user_id: id, ...rest } = request;
  const withId = (userId: unknown): { json: unknown } => ({ json: { ...rest, user_id: userId } });
  const half = id.slice(0, 12);
  return {
    'user_id missing': { json: rest },
    'user_id a number': withId(12345),
    'user_id null': withId(null),
    'user_id with a hyphen': withId(`${half}-${half}`),
    'user_id with a space': withId(`${half} ${half}`),
    'user_id with a dot': withId(`${half}.${half}`),
    'user_id with a slash': withId(`${half}/${half}`),
    'user_id with a line break': withId(`${id}\n`),
    'user_id of 65 characters': withId(id.padEnd(USER_ID_LENGTH_MAX + 1, '0')),
    'user_id empty': withId(''),
    'body not JSON': { text: JSON.stringify(request).slice(0, -1) },
    'body empty': { text: '' },
    'body an array': { json: [request] },
    duplicate: { json: request },
  };
}

/** Remembers a user that should not have been created, so that cleanup deletes it. */
function remember(context: SandboxContext, exchange: Exchange | undefined): void {
  const id =
    exchange && isAccepted(exchange) ? resolvePointer(exchange.json, '/user_id') : undefined;
  if (typeof id === 'string' && id !== '') context.users.wronglyAccepted.add(id);
}

const refusals: UsersProbe = {
  id: 'users/refusals',
  area: 'users',
  phase: 'refused',
  exercises: [
    'USERS-060',
    'USERS-061',
    'USERS-062',
    'USERS-063',
    'USERS-064',
    'USERS-065',
    'USERS-066',
    'USERS-070',
    'USERS-071',
    'USERS-072',
    'USERS-075',
  ],
  cost: cost(15, 0, 1),
  async run(context) {
    if (context.users.isUnsupported) return;
    const request = { user_id: createUserId(context), metadata, profile };
    const control = await create(context, 'control', request);
    if (!control) return;
    await Promise.all(
      Object.entries(refusedBodies(request)).map(async ([step, body]) => {
        const sent: Step = { endpoint: 'create', step, intent: 'refuse', control, body };
        const exchange = await context.send(sent);
        if (step !== 'duplicate') remember(context, exchange);
      }),
    );
  },
};

/** Requests for which the specification defines no response; the report lists the observed behavior. */
const silences: UsersProbe = {
  id: 'users/silences',
  area: 'users',
  phase: 'refused',
  exercises: ['USERS-083', 'USERS-034'],
  cost: cost(4, 0, 2),
  async run(context) {
    await context.send(createDeletion('unknown user', 'open', createUserId(context)));
    if (context.users.isUnsupported) return;
    const open = (step: OpenCreateStep, json: unknown, key?: 'wrong'): Step<OpenCreateStep> => ({
      endpoint: 'create',
      step,
      intent: 'open',
      body: { json },
      ...(key ? { key } : {}),
    });
    const answers = await Promise.all([
      context.send(open('wrong key', { user_id: createUserId(context) }, 'wrong')),
      context.send(open('non-ASCII letters', { user_id: `müller_${context.random.id(12)}` })),
      context.send(
        open('metadata a string', { user_id: createUserId(context), metadata: 'evening' }),
      ),
    ]);
    for (const exchange of answers) remember(context, exchange);
  },
};

const after: UsersProbe = {
  id: 'users/after',
  area: 'users',
  phase: 'after',
  exercises: ['USERS-009'],
  cost: cost(1, 0, 1),
  async run(context) {
    if (context.users.isUnsupported) return;
    await create(context, 'after refusals', { user_id: createUserId(context), metadata, profile });
  },
};

/** Deletes every user that the run created. */
export const cleanup: UsersProbe = {
  id: 'users/cleanup',
  area: 'users',
  phase: 'cleanup',
  alsoFor: ['chat', 'voice'],
  cleansUp: true,
  exercises: ['USERS-030', 'USERS-031', 'USERS-032', 'USERS-033', 'USERS-081'],
  cost: (_prompts, users) => ({ requests: users, modelCalls: 0, users: 0, calls: 0 }),
  async run(context) {
    const { existing, wronglyAccepted } = context.users;
    await Promise.all([
      ...[...existing].map((id) => context.send(createDeletion('delete', 'valid', id))),
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
  cleanup,
];
