import type { UserCreateRequest } from '../../../src/contract/index.ts';
import { type Step, stepsOf } from '../../engine/probe.ts';
import {
  errorOf,
  isAccepted,
  isInterrupted,
  type Exchange,
} from '../../engine/transcript/reading.ts';
import type { SandboxContext } from '../sandbox-state.ts';

/** Creates a predicate for the create requests of some steps: `isCreateStep('full')(exchange)`. */
export const isCreateStep = stepsOf('create');

/** Creates a predicate for the delete requests of some steps. */
export const isDeleteStep = stepsOf('delete');

/** Whether a request creates or deletes a user. */
export const isAboutUsers = ({ endpoint }: { endpoint: unknown }): boolean =>
  endpoint === 'create' || endpoint === 'delete';

/** Returns a new user id in the shape that the service generates (spec 2.9). */
export const createUserId = ({ random }: SandboxContext): string => `sim_user_${random.id(12)}`;

/** A create request with every optional field, except the id. */
export const fullUser = {
  metadata: {
    scenario_id: 'late-parcel',
    persona: 'friendly',
    session_type: 'support',
    preferences: { language: 'en', newsletter: false },
    history: { orders: ['A-1001'] },
  },
  profile: {
    name: 'Ada Example',
    email: 'ada@example.com',
    tier: 'gold',
    location: 'Zurich',
  },
};

/** Creates a user; if it exists from an earlier run, deletes it first. The request must succeed. */
export async function create(
  context: SandboxContext,
  step: string,
  request: UserCreateRequest,
  properties?: readonly string[],
): Promise<Exchange | undefined> {
  const sent: Step = {
    endpoint: 'create',
    step,
    intent: 'valid',
    ...(properties && { properties }),
    body: { json: request },
  };
  let exchange = await context.send(sent);
  if (exchange && errorOf(exchange)?.code === 'user_exists') {
    await context.send(createDeletion('left over', 'open', request.user_id));
    exchange = await context.send(sent);
  }
  if (exchange && isAccepted(exchange)) context.users.existing.add(request.user_id);
  // The sandbox may have created the user.
  if (exchange && isInterrupted(exchange)) context.users.wronglyAccepted.add(request.user_id);
  return exchange;
}

/** Returns a step that deletes a user. */
export function createDeletion(step: string, intent: Step['intent'], userId: string): Step {
  return { endpoint: 'delete', step, intent, userId };
}

/**
 * Creates a user for one session, so that memory per user can't carry text into another session.
 * Returns the user of the run if the sandbox doesn't create this one, and undefined without users.
 */
export async function createSessionUser(context: SandboxContext): Promise<string | undefined> {
  const { users } = context;
  const id = createUserId(context);
  if (users.isUnsupported) return id;
  if (users.chatAs === undefined) return undefined;
  const exchange = await create(context, 'for a session', { user_id: id });
  return exchange && isAccepted(exchange) ? id : users.chatAs;
}
