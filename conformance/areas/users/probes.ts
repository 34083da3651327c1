import { userIdLengthMax, valueAt, type UserCreateRequest } from '../../../src/contract/index.ts';
import type { Step, World } from '../../engine/probe-context.ts';
import { cost, type Scenario } from '../../engine/probe.ts';
import {
  type Exchange,
  PREFLIGHT,
  accepted,
  errorOf,
  saysAbsent,
} from '../../engine/transcript/reading.ts';

const metadata = {
  scenario_id: 'late-parcel',
  persona: 'friendly',
  session_type: 'support',
  preferences: { language: 'en', newsletter: false },
  history: { orders: ['A-1001'] },
};
const profile = {
  name: 'Ada Example',
  email: 'ada@example.com',
  tier: 'gold',
  location: 'Zurich',
};

const newId = ({ chance }: World): string => `sim_user_${chance.id(12)}`;

/** Creates a user that must be accepted; one left over from an earlier run is deleted first. */
async function create(
  world: World,
  step: string,
  request: UserCreateRequest,
): Promise<Exchange | undefined> {
  const sent: Step = { endpoint: 'create', step, intent: 'valid', body: { json: request } };
  let answer = await world.send(sent);
  if (answer && errorOf(answer)?.code === 'user_exists') {
    await world.send(deletion('left over', 'open', request.user_id));
    answer = await world.send(sent);
  }
  if (answer && accepted(answer)) world.people.existing.add(request.user_id);
  return answer;
}

function deletion(step: string, intent: Step['intent'], userId: string): Step {
  return { endpoint: 'delete', step, intent, userId };
}

const probe: Scenario = {
  id: PREFLIGHT,
  area: 'users',
  phase: 'preflight',
  exercises: ['USERS-001', 'USERS-020', 'USERS-021', 'USERS-022', 'USERS-023', 'USERS-080'],
  cost: cost(1, 0, 1),
  async drive(world) {
    const id = newId(world);
    const answer = await create(world, 'full', { user_id: id, metadata, profile });
    world.people.absent = answer !== undefined && saysAbsent(answer);
    if (answer && (accepted(answer) || world.people.absent)) world.people.chatAs = id;
  },
};

/**
 * The forms of a creation one after another, so that a sandbox that fails now and then does so in
 * the same place in every run; then the odd ids all at once, where users could be mixed up.
 */
const forms: Scenario = {
  id: 'users/forms',
  area: 'users',
  phase: 'accepted',
  exercises: [
    ...(['USERS-002', 'USERS-003', 'USERS-004', 'USERS-007', 'USERS-008'] as const),
    ...(['USERS-030', 'USERS-082'] as const),
  ],
  cost: cost(13, 0, 11),
  async drive(world) {
    if (world.people.absent) return;
    await create(world, 'minimal', { user_id: newId(world) });
    await create(world, 'with metadata', { user_id: newId(world), metadata });
    await create(world, 'with profile', { user_id: newId(world), profile });
    await deleteAndCreateAgain(world);
    await Promise.all([
      create(world, '64 characters', { user_id: newId(world).padEnd(userIdLengthMax, '0') }),
      create(world, 'capitals', { user_id: `A1_${world.chance.id(12).toUpperCase()}` }),
      create(world, 'leading digit', { user_id: `7${newId(world)}` }),
      create(world, 'leading underscore', { user_id: `_${newId(world)}` }),
      create(world, 'with a name', {
        user_id: newId(world),
        profile: { name: 'Bo', tier: 'wholesale' },
      }),
      create(world, 'with a persona', { user_id: newId(world), metadata: { persona: 'calm' } }),
    ]);
  },
};

/** What deleting means: again, and what becomes of the id. */
async function deleteAndCreateAgain(world: World): Promise<void> {
  const request = { user_id: newId(world), metadata, profile };
  const created = await create(world, 'to be deleted', request);
  if (!created || !accepted(created)) return;
  const { existing } = world.people;
  const deleted = await world.send(deletion('delete', 'valid', request.user_id));
  if (deleted && accepted(deleted)) existing.delete(request.user_id);
  await world.send(deletion('deleted again', 'open', request.user_id));
  const answer = await world.send({
    endpoint: 'create',
    step: 'created again',
    intent: 'open',
    body: { json: request },
  });
  if (answer && accepted(answer)) existing.add(request.user_id);
}

/** Each edit of the control request, by the name of its step. */
function editsOf(request: UserCreateRequest): Record<string, NonNullable<Step['body']>> {
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
    'user_id of 65 characters': withId(id.padEnd(userIdLengthMax + 1, '0')),
    'user_id empty': withId(''),
    'body not JSON': { text: JSON.stringify(request).slice(0, -1) },
    'body empty': { text: '' },
    'body an array': { json: [request] },
    duplicate: { json: request },
  };
}

/** Remembers a user that should not have come to be, to delete it all the same. */
function remember(world: World, answer: Exchange | undefined): void {
  const id = answer && accepted(answer) ? valueAt(answer.json, '/user_id') : undefined;
  if (typeof id === 'string' && id !== '') world.people.strays.add(id);
}

const refusals: Scenario = {
  id: 'users/refusals',
  area: 'users',
  phase: 'refused',
  exercises: [
    ...(['USERS-060', 'USERS-061', 'USERS-062', 'USERS-063', 'USERS-064', 'USERS-065'] as const),
    ...(['USERS-066', 'USERS-070', 'USERS-071', 'USERS-072', 'USERS-075'] as const),
  ],
  cost: cost(15, 0, 1),
  async drive(world) {
    if (world.people.absent) return;
    const request = { user_id: newId(world), metadata, profile };
    const control = await create(world, 'control', request);
    if (!control) return;
    await Promise.all(
      Object.entries(editsOf(request)).map(async ([step, body]) => {
        const sent: Step = { endpoint: 'create', step, intent: 'refuse', control, body };
        const answer = await world.send(sent);
        if (step !== 'duplicate') remember(world, answer);
      }),
    );
  },
};

/** Requests about which the specification is silent: their answers make the dialect. */
const silences: Scenario = {
  id: 'users/silences',
  area: 'users',
  phase: 'refused',
  exercises: ['USERS-083', 'USERS-034'],
  cost: cost(4, 0, 2),
  async drive(world) {
    await world.send(deletion('unknown user', 'open', newId(world)));
    if (world.people.absent) return;
    const open = (step: string, json: unknown, key?: 'wrong'): Step => ({
      endpoint: 'create',
      step,
      intent: 'open',
      body: { json },
      ...(key ? { key } : {}),
    });
    const answers = await Promise.all([
      world.send(open('wrong key', { user_id: newId(world) }, 'wrong')),
      world.send(open('letters beyond ASCII', { user_id: `müller_${world.chance.id(12)}` })),
      world.send(open('metadata a string', { user_id: newId(world), metadata: 'evening' })),
    ]);
    for (const answer of answers) remember(world, answer);
  },
};

const after: Scenario = {
  id: 'users/after',
  area: 'users',
  phase: 'after',
  exercises: ['USERS-009'],
  cost: cost(1, 0, 1),
  async drive(world) {
    if (world.people.absent) return;
    await create(world, 'after refusals', { user_id: newId(world), metadata, profile });
  },
};

/** Deletes whatever the run created. */
export const cleanup: Scenario = {
  id: 'users/cleanup',
  area: 'users',
  phase: 'cleanup',
  exercises: ['USERS-030', 'USERS-031', 'USERS-032', 'USERS-033', 'USERS-081'],
  cost: cost(16),
  async drive(world) {
    const { existing, strays } = world.people;
    await Promise.all([
      ...[...existing].map((id) => world.send(deletion('delete', 'valid', id))),
      ...[...strays]
        .filter((id) => !existing.has(id))
        .map((id) => world.send(deletion('stray', 'open', id))),
    ]);
  },
};

/** The scenarios of `POST /users` and `DELETE /users/{user_id}`. */
export const usersScenarios: readonly Scenario[] = [
  probe,
  forms,
  refusals,
  silences,
  after,
  cleanup,
];
